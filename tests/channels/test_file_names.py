"""File names from strangers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.file_names import MAX_NAME_BYTES, safe_name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("report.pdf", "report.pdf"),
        ("Übersicht 2026.xlsx", "Übersicht 2026.xlsx"),
        ("报告.md", "报告.md"),
        ("../../etc/passwd", "passwd"),
        ("C:\\temp\\a.txt", "a.txt"),
        (".bashrc", "bashrc"),
        ("a\x00b\n.txt", "a_b_.txt"),
        ("what?.txt", "what_.txt"),
        ("\u202egpj.exe", "_gpj.exe"),
        ("", "file"),
        ("..", "file"),
        ("/", "file"),
    ],
)
def test_names_stay_readable_and_become_safe(name, expected) -> None:
    assert safe_name(name) == expected


@given(st.text(max_size=400))
def test_no_name_leaves_its_folder_or_is_too_long(name) -> None:
    safe = safe_name(name)
    assert safe
    assert "/" not in safe
    assert "\\" not in safe
    assert not safe.startswith(".")
    assert len(safe.encode()) <= MAX_NAME_BYTES
