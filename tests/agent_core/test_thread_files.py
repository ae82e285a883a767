"""The model's files stay inside the thread's directory."""

import errno
import os
import shutil
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.paths import NoSuchFileError, PathRefusedError, ThreadFiles, virtual_path
from agent_core.tools.errors import FileToolError
from agent_core.tools.files import _excerpt, _read, _replace, _write
from agent_core.tools.present import _present

BASE = "/mnt/user-data"


@pytest.fixture
def files(tmp_path: Path) -> ThreadFiles:
    (tmp_path / "skills/public/poem").mkdir(parents=True)
    (tmp_path / "skills/public/poem/SKILL.md").write_text("Write poems.")
    files = ThreadFiles(tmp_path / "thread", tmp_path / "skills")
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
        "/mnt",
        "/mnt/skillset/a",
        f"{BASE}-2/outputs/a",
        f"{BASE}/other/a",
        f"{BASE}/outputs/../../../secret.txt",
        f"{BASE}/../x",
        "/mnt/skills/../secret.txt",
        f"{BASE}/outputs/a\x00b",
        f"{BASE}/outputs/a\nb",
        f"{BASE}/outputs/" + "a" * 256,
        f"{BASE}/outputs/" + "a/" * 600,
        f"{BASE}/outputs/\ud800",
        f"{BASE}//outputs/../secret",
    ],
)
def test_paths_that_lead_elsewhere_are_refused(virtual: str) -> None:
    with pytest.raises(PathRefusedError):
        virtual_path(virtual)


@given(st.text(max_size=80), st.sampled_from(["", f"{BASE}/", f"{BASE}/outputs/", "/mnt/skills/"]))
def test_no_text_leads_out_of_the_virtual_folders(text: str, prefix: str) -> None:
    try:
        path = virtual_path(prefix + text)
    except PathRefusedError:
        return
    assert str(path).startswith((BASE, "/mnt/skills"))
    assert not {"..", "", "/"}.intersection(path.parts)
    assert virtual_path(str(path)) == path


def test_symbolic_links_are_not_followed(files: ThreadFiles, tmp_path: Path) -> None:
    (files.root / "outputs/link.txt").symlink_to(tmp_path / "secret.txt")
    (files.root / "outputs/dir").symlink_to(tmp_path)
    (files.root / "outputs/gone").symlink_to(tmp_path / "new.txt")
    for virtual in (f"{BASE}/outputs/link.txt", f"{BASE}/outputs/dir/secret.txt", f"{BASE}/outputs/gone"):
        with pytest.raises(FileToolError, match="symbolic"):
            _read(files, virtual, 1, 10)
        with pytest.raises(FileToolError, match="symbolic"):
            _write(files, virtual, "overwritten", False)
        with pytest.raises(FileToolError, match="symbolic"):
            _write(files, virtual, "added", True)
        with pytest.raises(FileToolError, match="symbolic"):
            _replace(files, virtual, "secret", "x", False)
        with pytest.raises(FileToolError, match="symbolic"):
            _present(files, [virtual])
    with pytest.raises(PathRefusedError, match="symbolic"):
        files.entries(f"{BASE}/outputs/dir")
    with pytest.raises(PathRefusedError, match="symbolic"):
        list(files.walk(f"{BASE}/outputs/dir", 100))
    assert list(files.walk(f"{BASE}/outputs", 100)) == []
    assert (tmp_path / "secret.txt").read_text() == "secret"
    assert not (tmp_path / "new.txt").exists()


def test_a_folder_swapped_for_a_link_meanwhile_leads_nowhere_else(files: ThreadFiles, tmp_path: Path) -> None:
    """Another program swaps a folder and a link to outside as fast as it can, as one in a sandbox could."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/a.txt").write_text("secret")
    place, folder, link = (files.root / "workspace" / name for name in ("place", "folder", "link"))
    folder.mkdir()
    (folder / "a.txt").write_text("mine")
    link.symlink_to(tmp_path / "outside")
    folder.rename(place)
    stop = threading.Event()

    def put(source: Path) -> None:
        while True:
            try:
                source.rename(place)
            except OSError:
                # The writer has made the folder anew meanwhile.
                shutil.rmtree(place, ignore_errors=True)
            else:
                return

    def swap() -> None:
        while not stop.is_set():
            place.rename(folder)
            put(link)
            place.rename(link)
            put(folder)

    swapping = threading.Thread(target=swap)
    swapping.start()
    seen = set()
    try:
        for number in range(2_000):
            try:
                seen.add(files.read(f"{BASE}/workspace/place/a.txt", 100))
                files.write(f"{BASE}/workspace/place/b{number % 3}.txt", b"x")
            except PathRefusedError:
                seen.add(b"refused")
    finally:
        stop.set()
        swapping.join()
    assert seen == {b"mine", b"refused"}
    assert [path.name for path in (tmp_path / "outside").iterdir()] == ["a.txt"]


def test_pipes_directories_and_binaries_are_not_read(files: ThreadFiles) -> None:
    os.mkfifo(files.root / "workspace/pipe")
    (files.root / "workspace/binary").write_bytes(b"\x00\x01")
    for name, said in (("pipe", "not a regular file"), ("binary", "not a text file"), ("", "is a directory")):
        with pytest.raises(FileToolError, match=said) as caught:
            _read(files, f"{BASE}/workspace/{name}", 1, 10)
        assert str(files.root) not in str(caught.value)
    with pytest.raises(FileToolError, match="not a regular file"):
        _write(files, f"{BASE}/workspace/pipe", "x", False)


def test_no_error_tells_a_real_path(files: ThreadFiles) -> None:
    (files.root / "workspace/file").write_text("x")
    for act in (
        lambda: files.read(f"{BASE}/workspace/file/below", 10),
        lambda: files.write(f"{BASE}/workspace/file/below", b""),
        lambda: files.entries(f"{BASE}/workspace/file"),
        lambda: files.entries(f"{BASE}/workspace/nothing"),
        lambda: files.read("/mnt/skills/nothing", 10),
    ):
        with pytest.raises(PathRefusedError) as caught:
            act()
        assert str(files.root.parent) not in str(caught.value)


def test_what_goes_wrong_elsewhere_is_not_blamed_on_the_file(files: ThreadFiles) -> None:
    (files.root / "workspace/file").write_text("x")

    def copy_to_full_disk() -> None:
        with files.open(f"{BASE}/workspace/file"):
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        copy_to_full_disk()


def test_only_outputs_can_be_presented(files: ThreadFiles) -> None:
    _write(files, f"{BASE}/workspace/draft.md", "draft", False)
    with pytest.raises(FileToolError, match="only files below"):
        _present(files, [f"{BASE}/workspace/draft.md"])
    with pytest.raises(FileToolError, match="only files below"):
        _present(files, ["/mnt/skills/public/poem/SKILL.md"])
    with pytest.raises(FileToolError, match="no such file"):
        _present(files, [f"{BASE}/outputs/nothing.md"])


def test_uploads_and_skills_are_only_read(files: ThreadFiles) -> None:
    (files.root / "uploads/a.txt").write_text("sent")
    assert files.read(f"{BASE}/uploads/a.txt", 10) == b"sent"
    assert files.read("/mnt/skills/public/poem/SKILL.md", 100) == b"Write poems."
    for path in (f"{BASE}/uploads/a.txt", f"{BASE}/uploads/new", "/mnt/skills/public/poem/SKILL.md"):
        with pytest.raises(PathRefusedError, match="can only be read"):
            files.write(path, b"x")
    assert (files.root / "uploads/a.txt").read_text() == "sent"
    with pytest.raises(PathRefusedError, match="no skills"):
        ThreadFiles(files.root).read("/mnt/skills/public/poem/SKILL.md", 100)


def test_writing_replaces_whole_files_and_leaves_nothing_beside_them(files: ThreadFiles) -> None:
    _write(files, f"{BASE}/outputs/a.txt", "one", False)
    os.chmod(files.root / "outputs/a.txt", 0o755)
    _write(files, f"{BASE}/outputs/a.txt", "two", False)
    _write(files, f"{BASE}/outputs/a.txt", " three", True)
    assert [path.name for path in (files.root / "outputs").iterdir()] == ["a.txt"]
    assert _read(files, f"{BASE}/outputs/a.txt", 1, 10)[0] == "two three"
    assert (files.root / "outputs/a.txt").stat().st_mode & 0o777 == 0o755
    with pytest.raises(FileToolError, match="is a directory"):
        _write(files, f"{BASE}/outputs", "x", False)
    with pytest.raises(FileToolError, match="at most"):
        _write(files, f"{BASE}/outputs/big", "x" * 5_000_001, False)
    _write(files, f"{BASE}/outputs/new", "x", True)
    with pytest.raises(NoSuchFileError):
        files.read(f"{BASE}/outputs/big", 10)


def test_text_is_replaced_where_it_is_meant(files: ThreadFiles) -> None:
    path = f"{BASE}/workspace/a.txt"
    _write(files, path, "one\r\ntwo two\r\n", False)
    with pytest.raises(FileToolError, match="is there 2 times"):
        _replace(files, path, "two", "2", False)
    with pytest.raises(FileToolError, match="not in the file"):
        _replace(files, path, "three", "3", False)
    assert _replace(files, path, "two", "2", True)[0] == f"Replaced 2 places in {path}"
    assert _replace(files, path, "one", "1", False)[0] == f"Replaced 1 place in {path}"
    assert files.read(path, 100) == b"1\r\n2 2\r\n"
    (files.root / "workspace/latin.txt").write_bytes(b"caf\xe9 one")
    with pytest.raises(FileToolError, match="not UTF-8"):
        _replace(files, f"{BASE}/workspace/latin.txt", "one", "two", False)


def test_reading_is_capped_and_says_how_to_go_on() -> None:
    text = "\n".join(f"line {number}" for number in range(1, 101))
    assert _excerpt(text, 10, 2) == "line 10\nline 11\n(lines 10 to 11 of 100; go on with offset 12)"
    assert _excerpt(text, 100, 5) == "line 100"
    assert len(_excerpt("x" * 100_000, 1, 10)) < 3_000
    assert len(_excerpt("\n".join(["y" * 1_000] * 500), 1, 2_000)) < 32_000
    with pytest.raises(FileToolError, match="behind its end"):
        _excerpt("a", 2, 1)
    assert _excerpt("", 1, 1) == "(the file is empty)"
