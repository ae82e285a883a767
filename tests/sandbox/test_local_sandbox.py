"""Commands on this machine, where the operator allows them."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_core.paths import ThreadFiles
from agent_core.sandbox.local import LocalSandbox, LocalSandboxProvider
from agent_core.sandbox.sandbox import SandboxUnavailableError
from tests.sandbox.beacon import Beacon

BASE = "/mnt/user-data"


@pytest.fixture
def files(tmp_path: Path) -> ThreadFiles:
    (tmp_path / "skills").mkdir()
    files = ThreadFiles(tmp_path / "thread", tmp_path / "skills")
    files.ensure()
    return files


@pytest.fixture
async def sandbox(files: ThreadFiles) -> AsyncIterator[LocalSandbox]:
    provider = LocalSandboxProvider(allow_host_bash=True)
    yield await provider.acquire("thread", files)
    await provider.aclose()


async def test_nothing_runs_unless_it_is_allowed(files: ThreadFiles) -> None:
    with pytest.raises(SandboxUnavailableError, match="allow_host_bash"):
        await LocalSandboxProvider().acquire("thread", files)


async def test_output_and_exit_code_are_given(sandbox: LocalSandbox) -> None:
    result = await sandbox.run("echo out; echo err >&2; exit 3", timeout=60, output_limit=1_000)
    assert (result.output, result.exit_code) == ("out\nerr\n", 3)
    assert not result.timed_out
    assert not result.truncated


async def test_paths_are_virtual_on_both_sides(sandbox: LocalSandbox, files: ThreadFiles) -> None:
    command = (
        f"pwd; echo hi > {BASE}/outputs/a.txt; ls -d {BASE}/outputs/*; realpath .; "
        f"cat {BASE}/uploads/nothing; ls -d /mnt/skills"
    )
    result = await sandbox.run(command, timeout=60, output_limit=10_000)
    assert (files.root / "outputs/a.txt").read_text() == "hi\n"
    lines = result.output.splitlines()
    assert lines[:3] == [f"{BASE}/workspace", f"{BASE}/outputs/a.txt", f"{BASE}/workspace"]
    assert lines[-1] == "/mnt/skills"
    assert str(files.root.parent) not in result.output


async def test_a_command_sees_no_secret_of_ours(
    sandbox: LocalSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    result = await sandbox.run("env", timeout=60, output_limit=10_000)
    names = {line.partition("=")[0] for line in result.output.splitlines()}
    assert names <= {"PATH", "LANG", "LC_ALL", "TZ", "HOME", "HART_COMMAND", "PWD", "SHLVL", "_"}


async def test_a_command_that_takes_too_long_is_killed_with_all_it_started(
    sandbox: LocalSandbox, files: ThreadFiles
) -> None:
    beacon = Beacon(files.root / "workspace/beacon")
    command = "exec 3>beacon; echo on >&3; (setsid sleep 1000 &) ; sleep 1000 & echo begun; wait"
    result = await sandbox.run(command, timeout=3.0, output_limit=1_000)
    assert (result.output, result.exit_code, result.timed_out) == ("begun\n", None, True)
    await beacon.lit()
    await beacon.dark()


async def test_nothing_runs_on_after_a_command(sandbox: LocalSandbox, files: ThreadFiles) -> None:
    beacon = Beacon(files.root / "workspace/beacon")
    command = "exec 3>beacon; echo on >&3; setsid nohup sleep 1000 & exit 0"
    result = await sandbox.run(command, timeout=60, output_limit=1_000)
    assert result.exit_code == 0
    await beacon.lit()
    await beacon.dark()


async def test_being_cancelled_kills_the_command(sandbox: LocalSandbox, files: ThreadFiles) -> None:
    beacon = Beacon(files.root / "workspace/beacon")
    command = "exec 3>beacon; echo on >&3; trap '' TERM INT HUP; sleep 1000"
    running = asyncio.create_task(sandbox.run(command, timeout=1_000, output_limit=1_000))
    await beacon.lit()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await beacon.dark()


async def test_a_flood_of_output_is_cut_and_ended(sandbox: LocalSandbox) -> None:
    result = await sandbox.run("yes", timeout=60, output_limit=1_000)
    assert len(result.output) < 1_200
    assert result.truncated
    assert result.exit_code is None
    assert "too much output" in result.notice


async def test_the_begin_and_the_end_of_long_output_are_kept(sandbox: LocalSandbox) -> None:
    result = await sandbox.run("seq 1 100000", timeout=60, output_limit=1_000)
    assert result.output.startswith("1\n2\n3\n")
    assert result.output.endswith("\n99999\n100000\n")
    assert "the middle is left out" in result.output
    assert (result.exit_code, result.truncated) == (0, True)


async def test_commands_of_a_thread_run_side_by_side(sandbox: LocalSandbox, files: ThreadFiles) -> None:
    first = asyncio.create_task(sandbox.run("mkfifo p; cat p", timeout=60, output_limit=100))
    second = asyncio.create_task(
        sandbox.run("until [ -p p ]; do :; done; echo hello > p", timeout=60, output_limit=100)
    )
    assert (await first).output == "hello\n"
    assert (await second).exit_code == 0
