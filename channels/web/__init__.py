"""The web channel: a chat page and the API that it and the console use."""
