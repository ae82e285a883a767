"""Folders of skills made of text."""

from pathlib import Path

BODY = "Work carefully."


def write_skill(
    root: Path,
    name: str,
    description: str = "For tests.",
    *,
    source: str = "custom",
    head: str = "",
    body: str = BODY,
) -> Path:
    """Write a skill and give its SKILL.md; ``head`` is put below name and description."""
    return write_text(
        root, name, f"---\nname: {name}\ndescription: {description}\n{head}---\n\n{body}\n", source=source
    )


def write_text(root: Path, name: str, text: str, *, source: str = "custom") -> Path:
    """Write a SKILL.md as it is."""
    file = root / source / name / "SKILL.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file
