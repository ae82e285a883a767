"""The repository's own files, as the tests about it see them."""

import re
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]

ROOMS = ("agent_core", "bot", "channels", "scheduler")


@cache
def files() -> tuple[Path, ...]:
    """Every file that is committed or about to be, relative to the root."""
    command = [
        "git",
        "-c",
        f"safe.directory={ROOT}",
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode()
    paths = {Path(name) for name in listed.split("\0") if name}
    return tuple(sorted(path for path in paths if (ROOT / path).is_file()))


def read(path: Path | str) -> str:
    """A file's text."""
    return (ROOT / path).read_text(encoding="utf-8")


def documents() -> list[Path]:
    """Every Markdown document for people."""
    return [path for path in files() if path.suffix == ".md" and path.parts[0] not in ("skills", "tests")]


def code_blocks(text: str) -> list[str]:
    """The contents of all fenced blocks of a document."""
    return re.findall(r"^```[a-z]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def code(text: str) -> str:
    """All that a document sets as code: fenced blocks and spans, one after the other."""
    without_blocks = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    return "\n".join([*code_blocks(text), *re.findall(r"`([^`\n]+)`", without_blocks)])
