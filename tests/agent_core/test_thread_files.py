"""The model's files stay inside the thread's directory."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.paths import PathRefusedError, ThreadFiles
from agent_core.tools.files import FileToolError, _excerpt, _present, _read, _write

BASE = "/mnt/user-data"


@pytest.fixture
def files(tmp_path: Path) -> ThreadFiles:
    files = ThreadFiles(tmp_path / "thread")
    files.ensure()
    (tmp_path / "secret.txt").write_text("secret")
    return files


@pytest.mark.parametrize(
    "virtual",
    [
        "",
        "/",
        "/etc/passwd",
        "outputs/a",
        BASE,
        f"{BASE}/",
        f"{BASE}/other/a",
        f"{BASE}/outputs/../../../secret.txt",
        f"{BASE}/../x",
        f"{BASE}/outputs/a\x00b",
        f"{BASE}/outputs/a\nb",
        f"{BASE}/outputs/" + "a" * 256,
        f"{BASE}/outputs/" + "a/" * 600,
        f"{BASE}/outputs/\ud800",
        f"{BASE}//outputs/../secret",
    ],
)
def test_paths_that_lead_elsewhere_are_refused(files: ThreadFiles, virtual: str) -> None:
    with pytest.raises(PathRefusedError):
        files.real(virtual)


@given(st.text(max_size=80), st.sampled_from(["", f"{BASE}/", f"{BASE}/outputs/"]))
def test_no_text_leads_out_of_the_root(text: str, prefix: str) -> None:
    files = ThreadFiles(Path("/nowhere/thread"))
    refused = None
    try:
        real = files.real(prefix + text)
    except PathRefusedError as error:
        refused = str(error)
    if refused is None:
        assert real.is_relative_to("/nowhere/thread")
        assert ".." not in real.parts
    else:
        assert text.startswith("/nowhere") or "/nowhere" not in refused


def test_symbolic_links_are_not_followed(files: ThreadFiles, tmp_path: Path) -> None:
    (files.root / "outputs/link.txt").symlink_to(tmp_path / "secret.txt")
    (files.root / "outputs/dir").symlink_to(tmp_path)
    for virtual in (f"{BASE}/outputs/link.txt", f"{BASE}/outputs/dir/secret.txt"):
        with pytest.raises(FileToolError, match="symbolic"):
            _read(files, virtual, 1, 10)
        with pytest.raises(FileToolError, match="symbolic"):
            _write(files, virtual, "overwritten")
        with pytest.raises(FileToolError, match="symbolic"):
            _present(files, [virtual])
    assert (tmp_path / "secret.txt").read_text() == "secret"


def test_pipes_directories_and_binaries_are_not_read(files: ThreadFiles) -> None:
    os.mkfifo(files.root / "workspace/pipe")
    (files.root / "workspace/binary").write_bytes(b"\x00\x01")
    for name, said in (("pipe", "not a regular file"), ("binary", "not a text file"), ("", "is a directory")):
        with pytest.raises(FileToolError, match=said) as caught:
            _read(files, f"{BASE}/workspace/{name}", 1, 10)
        assert str(files.root) not in str(caught.value)


def test_only_outputs_can_be_presented(files: ThreadFiles) -> None:
    _write(files, f"{BASE}/workspace/draft.md", "draft")
    with pytest.raises(FileToolError, match="only files below"):
        _present(files, [f"{BASE}/workspace/draft.md"])
    with pytest.raises(FileToolError, match="no such file"):
        _present(files, [f"{BASE}/outputs/nothing.md"])


def test_writing_replaces_whole_files_and_leaves_nothing_beside_them(files: ThreadFiles) -> None:
    _write(files, f"{BASE}/outputs/a.txt", "one")
    _write(files, f"{BASE}/outputs/a.txt", "two")
    assert [path.name for path in (files.root / "outputs").iterdir()] == ["a.txt"]
    assert _read(files, f"{BASE}/outputs/a.txt", 1, 10) == "two"
    with pytest.raises(FileToolError, match="is a directory"):
        _write(files, f"{BASE}/outputs", "x")
    with pytest.raises(FileToolError, match="at most"):
        _write(files, f"{BASE}/outputs/big", "x" * 5_000_001)


def test_reading_is_capped_and_says_how_to_go_on() -> None:
    text = "\n".join(f"line {number}" for number in range(1, 101))
    assert _excerpt(text, 10, 2) == "line 10\nline 11\n(lines 10 to 11 of 100; go on with offset 12)"
    assert _excerpt(text, 100, 5) == "line 100"
    assert len(_excerpt("x" * 100_000, 1, 10)) < 3_000
    assert len(_excerpt("\n".join(["y" * 1_000] * 500), 1, 2_000)) < 32_000
    with pytest.raises(FileToolError, match="behind its end"):
        _excerpt("a", 2, 1)
    assert _excerpt("", 1, 1) == "(the file is empty)"
