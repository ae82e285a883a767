"""What stands around each model call and each tool call, one behaviour a file."""
