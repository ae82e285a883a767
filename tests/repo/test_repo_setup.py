"""The files that run, set up and check the project."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bot.config import load
from bot.config.local import LocalChannel
from tests.repo.tree import ROOT, read


def test_the_checked_in_configuration_runs_with_nothing_set() -> None:
    settings = load(ROOT, {})
    on = [state.channel for state in settings.channels.enabled()]
    assert on == ["web", "console"]
    assert settings.config.server.host == "127.0.0.1"
    assert settings.config.server.token is None
    assert isinstance(settings.channels.channels.web, LocalChannel)
    assert [task.name for task in settings.config.tasks if task.enabled] == []


def test_the_ci_entry_can_be_run() -> None:
    entry = ROOT / ".ci" / "run"
    assert os.access(entry, os.X_OK)
    assert read(".ci/run").startswith("#!/usr/bin/env bash\n")
    subprocess.run(["bash", "-n", str(entry)], check=True)


def test_make_test_runs_every_check() -> None:
    listed = subprocess.run(
        ["make", "--dry-run", "--always-make", "test"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    for check in ("ruff format --check .", "ruff check .", "lint-imports", "mypy", "-m pytest"):
        assert check in listed


def test_make_without_a_target_only_helps() -> None:
    shown = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for target in ("help", "run", "test", "bench", "chaos", "clean"):
        assert f"\n{target} " in f"\n{shown}"


_SKIPPING = """
import pytest

def test_passes():
    pass

def test_skips():
    pytest.skip("no engine here")

@pytest.mark.xfail(reason="known")
def test_expected_failure():
    assert False
"""

_SKIPPED_WHOLE = """
import pytest

pytest.skip("no engine here", allow_module_level=True)
"""


@pytest.mark.parametrize(
    ("environ", "code", "words"),
    [({}, 0, "1 passed, 1 skipped, 1 xfailed"), ({"CI": "true"}, 1, "1 failed, 1 passed, 1 xfailed")],
)
def test_a_skipped_test_fails_in_ci_alone(
    tmp_path: Path, environ: dict[str, str], code: int, words: str
) -> None:
    done = _pytest(tmp_path, _SKIPPING, environ)
    assert done.returncode == code, done.stdout
    assert words in done.stdout


@pytest.mark.parametrize(("environ", "code"), [({}, 5), ({"CI": "true"}, 2)])
def test_a_skipped_file_fails_in_ci_alone(tmp_path: Path, environ: dict[str, str], code: int) -> None:
    done = _pytest(tmp_path, _SKIPPED_WHOLE, environ)
    assert done.returncode == code, done.stdout
    assert "no engine here" in done.stdout


def _pytest(folder: Path, content: str, environ: dict[str, str]) -> subprocess.CompletedProcess[str]:
    (folder / "test_it.py").write_text(content)
    (folder / "pytest.ini").write_text("[pytest]\n")
    kept = {
        name: value for name, value in os.environ.items() if name != "CI" and not name.startswith("PYTEST")
    }
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "tests.no_skips",
            "-p",
            "no:cacheprovider",
            "-rs",
            str(folder),
        ],
        cwd=ROOT,
        env=kept | environ | {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
