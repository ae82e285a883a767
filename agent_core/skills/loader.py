"""Reads the folders of skills. What cannot be used is told and never hides the rest."""

import os
from collections.abc import Iterator
from pathlib import Path

from agent_core import contained
from agent_core.contained import ContainedError, Entry, EntryKind
from agent_core.skills.frontmatter import SkillFormatError, read_frontmatter, valid_name
from agent_core.skills.skill import SKILL_FILE, Skill, SkillProblem, SkillSet, SkillSource
from agent_core.text import one_line

MAX_SKILL_BYTES = 64 * 1024
"""Bytes of a SKILL.md; what is longer belongs into files beside it."""

MAX_FOLDER_FILES = 1_000
MAX_FOLDER_BYTES = 100 * 1024 * 1024
MAX_SKILLS = 100
"""Skills of one source; each costs every request some tokens."""


class _UnusableError(Exception):
    """A skill cannot be used. Its text is the reason."""


def load_skills(root: Path | None) -> SkillSet:
    """Read ``public`` and ``custom`` below a folder. Blocks.

    A custom skill takes the place of the public one of its name.

    Args:
        root: The folder; it need not exist. None for no skills.
    """
    found: dict[str, Skill] = {}
    problems: list[SkillProblem] = []
    for source in SkillSource:
        for one in _of_source(root, source) if root is not None else ():
            if isinstance(one, Skill):
                found[one.name] = one
            else:
                problems.append(one)
    return SkillSet(tuple(found[name] for name in sorted(found)), tuple(problems))


def _of_source(root: Path, source: SkillSource) -> Iterator[Skill | SkillProblem]:
    try:
        entries = contained.entries(root, (source,))
    except FileNotFoundError:
        return
    except (ContainedError, OSError) as error:
        yield SkillProblem(source, _words(error))
        return
    count = 0
    for entry in entries:
        if entry.name.startswith("."):
            continue
        place = f"{source}/{one_line(entry.name.encode(errors='replace').decode(), 100)}"
        if entry.kind is EntryKind.FILE:
            if entry.name.lower() == SKILL_FILE.lower():
                yield SkillProblem(place, "expected in a folder that has the name of the skill")
            continue
        if entry.kind is EntryKind.DIRECTORY:
            count += 1
        if count > MAX_SKILLS:
            yield SkillProblem(
                source, f"holds more than {MAX_SKILLS} skills; those from {place} on are left out"
            )
            return
        yield _skill(root, source, entry, place)


def _skill(root: Path, source: SkillSource, entry: Entry, place: str) -> Skill | SkillProblem:
    name = entry.name if valid_name(entry.name) else None
    try:
        if entry.kind is not EntryKind.DIRECTORY:
            kind = "a symbolic link" if entry.kind is EntryKind.LINK else "not a folder"
            raise _UnusableError(f"is {kind}, expected the folder of a skill")
        folder = (source.value, entry.name)
        _check_folder(root, folder)
        text = _text(root, folder)
    except (_UnusableError, ContainedError, OSError) as error:
        return SkillProblem(place, _words(error), name)
    place = f"{place}/{SKILL_FILE}"
    try:
        head = read_frontmatter(text)
    except SkillFormatError as error:
        return SkillProblem(place, str(error), name, error.line)
    if head.name != entry.name:
        reason = f"name: found {head.name!r}, expected the name of its folder"
        return SkillProblem(place, reason, name)
    return Skill(head.name, head.description, source, head.license, head.allowed_tools, head.metadata)


def _check_folder(root: Path, folder: tuple[str, ...]) -> None:
    """Raises if the folder holds what is not read, or too much."""
    waiting = [folder]
    files = size = 0
    while waiting:
        here = waiting.pop()
        for entry in contained.entries(root, here, MAX_FOLDER_FILES + 1):
            shown = one_line("/".join((*here, entry.name)[2:]).encode(errors="replace").decode(), 100)
            files += 1
            size += entry.size
            if entry.kind is EntryKind.LINK:
                raise _UnusableError(f"{shown} is a symbolic link; copy what it leads to instead")
            if entry.kind is EntryKind.OTHER:
                raise _UnusableError(f"{shown} is neither a file nor a folder")
            if entry.kind is EntryKind.DIRECTORY:
                if len(here) > contained.MAX_DEPTH:
                    raise _UnusableError("its folders are nested too deeply")
                waiting.append((*here, entry.name))
        if files > MAX_FOLDER_FILES:
            raise _UnusableError(f"holds more than {MAX_FOLDER_FILES} files")
        if size > MAX_FOLDER_BYTES:
            raise _UnusableError(f"is larger than {MAX_FOLDER_BYTES >> 20} MiB")


def _text(root: Path, folder: tuple[str, ...]) -> str:
    try:
        with contained.open_file(root, (*folder, SKILL_FILE)) as file:
            data = file.read(MAX_SKILL_BYTES + 1)
    except FileNotFoundError:
        names = [entry.name for entry in contained.entries(root, folder)]
        other = next((name for name in names if name.lower() == SKILL_FILE.lower()), None)
        found = f"; {other} is not enough, small and large letters differ" if other else ""
        raise _UnusableError(f"holds no {SKILL_FILE}{found}") from None
    if len(data) > MAX_SKILL_BYTES:
        raise _UnusableError(
            f"{SKILL_FILE} is larger than {MAX_SKILL_BYTES >> 10} KiB; put parts of it into files beside it"
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _UnusableError(f"{SKILL_FILE} is not UTF-8 text; save it as UTF-8") from None


def _words(error: Exception) -> str:
    # The system's own text names real paths.
    if isinstance(error, OSError):
        return f"cannot be read: {os.strerror(error.errno or 0)}"
    return str(error)
