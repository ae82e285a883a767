"""Finding files and text in them."""

import asyncio
from pathlib import Path

import pytest

from agent_core.globs import Glob, GlobError
from agent_core.paths import ThreadFiles
from agent_core.tools.errors import FileToolError
from agent_core.tools.search import MAX_FOUND, Patience, _glob, _grep, _list, _searching

BASE = "/mnt/user-data"


@pytest.fixture
def files(tmp_path: Path) -> ThreadFiles:
    files = ThreadFiles(tmp_path / "thread", tmp_path / "skills")
    files.ensure()
    for name, text in {
        "workspace/a.py": "import os\n\tprint('Größe')\n",
        "workspace/src/b.py": "import sys\n",
        "workspace/src/deep/c.txt": "Import nothing",
        "workspace/node_modules/x/d.py": "import hidden\n",
        "outputs/report.md": "# import\n",
    }.items():
        (files.root / name).parent.mkdir(parents=True, exist_ok=True)
        (files.root / name).write_text(text)
    (files.root / "workspace/binary").write_bytes(b"import\x00")
    (files.root / "workspace/src/link.py").symlink_to("/etc/passwd")
    return files


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("*.py", "a.py", True),
        ("*.py", "src/a.py", True),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/deep/a.py", False),
        ("**/*.py", "a.py", True),
        ("**/*.py", "x/y/a.py", True),
        ("src/**", "src/x/y", True),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        ("[ab].py", "b.py", True),
        ("[!ab].py", "b.py", False),
        ("a[", "a[", True),
        ("a.py", "axpy", False),
        ("größe*", "größe.txt", True),
    ],
)
def test_patterns_mean_what_they_mean_in_a_shell(pattern: str, path: str, fits: bool) -> None:
    assert Glob(pattern).matches(path) is fits


def test_a_pattern_of_many_wildcards_comes_to_an_end() -> None:
    assert not Glob("*a" * 30 + "?b?").matches("a" * 250 + "b")
    assert not Glob("**/" * 30 + "x?").matches("a/" * 100 + "y")


def test_a_pattern_that_cannot_be_read_is_said() -> None:
    with pytest.raises(GlobError, match="cannot be read"):
        Glob("[z-a]")


def test_files_are_found_by_pattern(files: ThreadFiles) -> None:
    assert _glob(files, f"{BASE}/workspace", "**/*.py", Patience()).splitlines() == [
        f"{BASE}/workspace/a.py (28 bytes)",
        f"{BASE}/workspace/src/b.py (11 bytes)",
    ]
    assert f"{BASE}/outputs/report.md" in _glob(files, BASE, "*.md", Patience())
    assert _glob(files, BASE, "*.pdf", Patience()) == "No files fit."


def test_lines_are_found_in_text_files_alone(files: ThreadFiles) -> None:
    assert _grep(files, f"{BASE}/workspace", "import (os|sys)", "", False, Patience()).splitlines() == [
        f"{BASE}/workspace/a.py:1: import os",
        f"{BASE}/workspace/src/b.py:1: import sys",
    ]
    assert _grep(files, f"{BASE}/workspace/a.py", "größe", "", True, Patience()).endswith(
        ":2:     print('Größe')"
    )
    assert "c.txt" in _grep(files, BASE, "import", "*.txt", True, Patience())
    assert _grep(files, BASE, "root:", "", False, Patience()) == "No lines fit."
    with pytest.raises(FileToolError, match="cannot be read"):
        _grep(files, BASE, "(", "", False, Patience())


def test_a_search_that_finds_too_much_says_so(files: ThreadFiles) -> None:
    (files.root / "workspace/many.txt").write_text("x\n" * 1_000)
    found = _grep(files, BASE, "x", "many.txt", False, Patience()).splitlines()
    assert len(found) == MAX_FOUND + 1
    assert found[-1] == "(there is more; narrow the search)"


def test_a_hostile_expression_ends_in_time(files: ThreadFiles) -> None:
    (files.root / "workspace/evil.txt").write_text("a" * 5_000 + "!")
    with pytest.raises(FileToolError, match="too long"):
        _grep(files, BASE, r"(a|aa)+$", "evil.txt", False, Patience(0.2))


async def test_a_cancelled_search_ends(files: ThreadFiles) -> None:
    given: list[Patience] = []
    ended = asyncio.Event()
    begun = asyncio.Event()
    loop = asyncio.get_running_loop()

    def search(patience: Patience) -> None:
        given.append(patience)
        loop.call_soon_threadsafe(begun.set)
        patience.cancelled.wait()
        loop.call_soon_threadsafe(ended.set)

    task = asyncio.create_task(_searching(search))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await ended.wait()
    assert given[0].left == 0


def test_a_listing_shows_what_things_are_and_no_trick_names(files: ThreadFiles) -> None:
    (files.root / "workspace/src/two\nlines \x1b[31m").write_text("")
    shown = _list(files, f"{BASE}/workspace/src").splitlines()
    assert [line.split(maxsplit=3)[3] for line in shown] == [
        "b.py",
        "deep/",
        "link.py (symbolic link, not followed)",
        "two�lines �[31m",
    ]
    assert _list(files, BASE) == "uploads/\nworkspace/\noutputs/"
    assert _list(files, f"{BASE}/uploads") == f"{BASE}/uploads is empty"
