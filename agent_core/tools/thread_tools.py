"""The tools that every agent has for the files of its thread."""

from langchain_core.tools import BaseTool

from agent_core.tools.files import read_file, str_replace, write_file
from agent_core.tools.present import present_files
from agent_core.tools.search import glob, grep, ls


def file_tools() -> list[BaseTool]:
    """Give the file tools, in the order the model sees them."""
    return [ls, glob, grep, read_file, write_file, str_replace, present_files]
