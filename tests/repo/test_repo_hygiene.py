"""What must not be in the repository."""

import re
from pathlib import Path

import pytest

from tests.repo.tree import ROOMS, files, read

MAX_LINES = 400
THIS = Path("tests/repo") / Path(__file__).name
MACHINE = re.compile(r"(?<![\w.$}])/(?:root/\.|work/|Users/|home/\w+/|opt/(?:wheels|pypi))")
REGISTRIES = re.compile(
    r"pypi\.org|pythonhosted|index-url|find-links|trusted-host|npmjs|artifactory|nexus/repository",
    re.IGNORECASE,
)
LOCKS = ("requirements.lock", "requirements-dev.lock")


def texts() -> list[tuple[Path, str]]:
    found = []
    for path in files():
        if path == THIS:
            continue
        try:
            found.append((path, read(path)))
        except UnicodeDecodeError:
            assert path.suffix in (".png", ".bin"), f"{path} is not text"
    return found


def test_no_file_of_a_room_is_long() -> None:
    long = [
        f"{path}: {lines}"
        for path, text in texts()
        if path.parts[0] in ROOMS and (lines := text.count("\n")) > MAX_LINES
    ]
    assert long == []


def test_no_file_names_a_machine_or_a_registry() -> None:
    faults = [
        f"{path}: {found.group()}"
        for path, text in texts()
        for found in [MACHINE.search(text), None if path.name == "Makefile" else REGISTRIES.search(text)]
        if found
    ]
    assert faults == []


def test_no_secret_and_no_data_is_committed() -> None:
    assert [
        path for path in files() if path.name == ".env" or path.suffix in (".db", ".log", ".pem", ".key")
    ] == []


@pytest.mark.parametrize("lock", LOCKS)
def test_every_locked_package_has_a_version_and_hashes(lock: str) -> None:
    entries = re.findall(r"^[a-z0-9].*\n(?:[ ].*\n)*", read(lock), re.MULTILINE)
    assert len(entries) > 50
    for entry in entries:
        assert re.match(r"[a-z0-9._-]+(?:\[[a-z,]+\])?==\S+", entry), entry
        assert "--hash=sha256:" in entry, entry


@pytest.mark.parametrize("lock", LOCKS)
def test_lock_files_name_no_index(lock: str) -> None:
    assert not re.search(r"^-|https?://|file:", read(lock), re.MULTILINE)


def test_both_locks_agree() -> None:
    run, dev = (
        dict(re.findall(r"^([a-z0-9._-]+)(?:\[[a-z,]+\])?==(\S+)", read(lock), re.MULTILINE))
        for lock in LOCKS
    )
    assert run.items() <= dev.items()
