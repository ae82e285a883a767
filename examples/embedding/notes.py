"""The agent inside a program of your own: asks, streams, and takes a file it made.

Run it from the root of the repository: ``python examples/embedding/notes.py``. Without ``OPENAI_API_KEY``
it uses the stand-in that needs no server.
"""

import os

from agent_core import HartClient
from agent_core.events import RunEnded, TextDelta, ToolStarted

OFFLINE = {"name": "offline", "use": "agent_core.models.offline:OfflineChatModel"}
OPENAI = {
    "name": "main",
    "use": "langchain_openai:ChatOpenAI",
    "model": os.environ.get("OPENAI_MODEL", "gpt-4.1-mini"),
    "base_url": os.environ.get("OPENAI_BASE_URL"),
}


def main() -> None:
    """Ask for a file, show what happens meanwhile, and print the file."""
    model = OPENAI if os.environ.get("OPENAI_API_KEY") else OFFLINE
    with HartClient([model]) as hart:
        for event in hart.stream("Write a file notes.md with buy milk, call Ada"):
            match event:
                case ToolStarted(label=label):
                    print(f"[{label}]")
                case TextDelta(text=text):
                    print(text, end="")
                case RunEnded(files=files):
                    print()
                    for file in files:
                        print(f"--- {file.name}")
                        print(hart.read_file(file.path).decode())
        print(hart.chat("What did I ask before?").text)


if __name__ == "__main__":
    main()
