"""What tools raise for the model to read."""

from langchain_core.tools import ToolException


class FileToolError(ToolException):
    """A file tool could not do what was asked; words for the model, without real paths."""
