"""What the local server offers besides the chats: health checks and tasks."""
