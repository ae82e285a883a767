"""Containers come when they are needed, go when nobody needs them, and are replaced when they are gone."""

import asyncio
import shutil
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from agent_core.paths import ThreadFiles
from agent_core.sandbox.docker import DockerSandboxProvider, system_clock
from agent_core.sandbox.docker_engine import DockerEngine
from agent_core.sandbox.docker_sandbox import ANEW, GONE, DockerSandbox
from agent_core.sandbox.sandbox import SandboxError, SandboxUnavailableError
from tests.clock import ManualClock
from tests.sandbox.beacon import Beacon
from tests.sandbox.conftest import IMAGE, ProviderMaker, sh, thread_files

pytestmark = pytest.mark.docker

MARK = "touch /tmp/mark"
SEE = "ls /tmp"


async def container_of(engine: DockerEngine, box: DockerSandbox) -> str:
    found = await engine.find(box.id)
    assert found is not None
    return found.id


async def test_nothing_is_made_until_a_command_runs(
    provider: DockerSandboxProvider, files: ThreadFiles
) -> None:
    box = await provider.acquire("one", files)
    assert provider.get(box.id) is box
    assert await provider.acquire("one", files) is box
    assert await provider.sandboxes() == []
    await sh(box, "true")
    assert [(one.name, one.thread_id, one.running) for one in await provider.sandboxes()] == [
        (box.id, "one", True)
    ]
    await provider.release(box.id)
    assert provider.get(box.id) is None
    assert await provider.sandboxes() == []


async def test_commands_at_once_share_one_container(box: DockerSandbox, docker_engine: DockerEngine) -> None:
    assert await asyncio.gather(*(sh(box, f"echo {number}") for number in range(5))) == [
        f"{number}\n" for number in range(5)
    ]
    assert await sh(box, "ls -d /proc/[0-9]* | wc -l") in ("4\n", "5\n")


async def test_one_killed_from_outside_is_replaced_and_the_agent_told(
    box: DockerSandbox, files: ThreadFiles, docker_engine: DockerEngine
) -> None:
    await sh(box, f"{MARK}; echo kept > a.txt")
    first = await container_of(docker_engine, box)
    await docker_engine.remove(first)
    result = await box.run(f"cat a.txt; {SEE}", timeout=60, output_limit=100)
    assert (result.output, result.exit_code, result.notice) == ("kept\n", 0, ANEW)
    assert await container_of(docker_engine, box) != first
    assert (await box.run("true", timeout=60, output_limit=100)).notice == ""


async def test_one_killed_while_a_command_runs_is_told_and_replaced(
    box: DockerSandbox, files: ThreadFiles, docker_engine: DockerEngine
) -> None:
    await sh(box, "true")
    beacon = Beacon(files.root / "workspace/beacon")
    running = asyncio.create_task(
        box.run("echo begun; echo on > beacon; sleep 1000", timeout=1_000, output_limit=100)
    )
    await beacon.lit()
    await docker_engine.remove(await container_of(docker_engine, box))
    result = await running
    assert (result.output, result.exit_code, result.notice) == ("begun\n", None, GONE)
    assert (await box.run("echo again", timeout=60, output_limit=100)).output == "again\n"


async def test_an_idle_one_is_removed_and_a_busy_one_is_not(
    make_provider: ProviderMaker, tmp_path: Path, docker_engine: DockerEngine
) -> None:
    clock = ManualClock()
    provider = make_provider(now=clock, idle_seconds=600)
    idle = await provider.acquire("idle", thread_files(tmp_path, "idle"))
    busy_files = thread_files(tmp_path, "busy")
    busy = await provider.acquire("busy", busy_files)
    await sh(idle, MARK)
    await sh(busy, "true")
    beacon = Beacon(busy_files.root / "workspace/beacon")
    running = asyncio.create_task(busy.run("echo on > beacon; sleep 1000", timeout=1_000, output_limit=100))
    await beacon.lit()
    clock.move(timedelta(seconds=599))
    assert await provider.reap() == []
    clock.move(timedelta(seconds=1))
    assert await provider.reap() == [idle.id]
    # A second process on the same home sees that it is in use.
    clock.move(timedelta(seconds=599))
    assert await make_provider(now=clock, idle_seconds=600).reap() == []
    running.cancel()
    result = await idle.run(SEE, timeout=60, output_limit=100)
    assert (result.output, result.notice) == ("", ANEW)


async def test_nothing_is_kept_of_a_thread_that_is_quiet_for_a_day(
    make_provider: ProviderMaker, files: ThreadFiles
) -> None:
    clock = ManualClock()
    provider = make_provider(now=clock)
    box = await provider.acquire("one", files)
    await sh(box, "true")
    clock.move(timedelta(hours=23))
    await provider.reap()
    assert provider.get(box.id) is box
    clock.move(timedelta(hours=1))
    await provider.reap()
    assert provider.get(box.id) is None


async def test_one_whose_thread_is_gone_is_removed(
    provider: DockerSandboxProvider, box: DockerSandbox, files: ThreadFiles
) -> None:
    await sh(box, "true")
    await asyncio.to_thread(shutil.rmtree, files.root)
    assert await provider.reap() == [box.id]


async def test_a_shutdown_removes_what_was_used_last_here(
    make_provider: ProviderMaker, files: ThreadFiles, docker_engine: DockerEngine
) -> None:
    first, second = make_provider(), make_provider()
    mine = await first.acquire("one", files)
    await sh(mine, "true")
    await first.aclose()
    assert await second.sandboxes() == []
    third = make_provider()
    theirs = await third.acquire("one", files)
    await sh(theirs, MARK)
    # The same thread goes on in another process: its container is no longer the first one's to remove.
    assert await sh(await second.acquire("one", files), SEE) == "mark\n"
    await third.aclose()
    assert await sh(await second.acquire("one", files), SEE) == "mark\n"


async def test_after_kill_9_the_next_process_goes_on_with_it_and_ends_what_ran(
    make_provider: ProviderMaker, files: ThreadFiles, tmp_path: Path, docker_engine: DockerEngine
) -> None:
    beacon = Beacon(files.root / "workspace/beacon")
    dying = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.sandbox.hart_that_dies", IMAGE, str(tmp_path / "home")
    )
    await beacon.lit()
    dying.kill()
    await dying.wait()
    provider = make_provider(memory_mb=1024, processes=256, tmp_mb=256, disk_mb=2048)
    files = ThreadFiles(files.root)
    assert [one.running for one in await provider.sandboxes()] == [True]
    box = await provider.acquire("one", files)
    assert await sh(box, SEE) == "mark\n"
    await beacon.dark()


async def test_after_kill_9_the_next_process_removes_what_nobody_wants(
    make_provider: ProviderMaker, files: ThreadFiles, tmp_path: Path, docker_engine: DockerEngine
) -> None:
    beacon = Beacon(files.root / "workspace/beacon")
    dying = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.sandbox.hart_that_dies", IMAGE, str(tmp_path / "home")
    )
    await beacon.lit()
    dying.kill()
    await dying.wait()
    clock = ManualClock(system_clock() + timedelta(minutes=11))
    provider = make_provider(now=clock)
    await provider.start()
    # Its first round of housekeeping is at its start.
    await beacon.dark()
    await provider.reap()
    assert await provider.sandboxes() == []


async def test_other_settings_make_another_container(
    make_provider: ProviderMaker, files: ThreadFiles
) -> None:
    await sh(await make_provider().acquire("one", files), MARK)
    changed = await make_provider(memory_mb=128).acquire("one", files)
    assert await sh(changed, SEE) == ""


async def test_an_engine_that_is_down_is_said(
    make_provider: ProviderMaker, files: ThreadFiles, tmp_path: Path
) -> None:
    provider = make_provider(url=f"unix://{tmp_path}/nothing.sock")
    await provider.start()
    box = await provider.acquire("one", files)
    with pytest.raises(SandboxUnavailableError, match="engine does not answer") as caught:
        await box.run("true", timeout=60, output_limit=100)
    assert str(tmp_path) not in str(caught.value)
    with pytest.raises(SandboxUnavailableError):
        await provider.check()
    await provider.aclose()


async def test_an_image_that_is_missing_is_said(make_provider: ProviderMaker, files: ThreadFiles) -> None:
    box = await make_provider(image="hart-no-such-image:latest").acquire("one", files)
    with pytest.raises(SandboxUnavailableError, match="hart-no-such-image:latest is not there"):
        await box.run("true", timeout=60, output_limit=100)


async def test_a_network_that_does_not_exist_is_said_and_leaves_nothing(
    make_provider: ProviderMaker, files: ThreadFiles, caplog: pytest.LogCaptureFixture
) -> None:
    provider = make_provider(network="hart-no-such-network")
    box = await provider.acquire("one", files)
    with pytest.raises(SandboxError, match="log says why"):
        await box.run("true", timeout=60, output_limit=100)
    assert "hart-no-such-network" in caplog.text
    assert await provider.sandboxes() == []


async def test_a_home_seen_under_another_path_by_the_engine(
    make_provider: ProviderMaker, files: ThreadFiles, tmp_path: Path
) -> None:
    """As when this process runs in a container itself."""
    (tmp_path / "inside").symlink_to(tmp_path / "home")
    inside = ThreadFiles(tmp_path / "inside/threads/one", files.skills)
    provider = make_provider(home=tmp_path / "inside", home_on_host=tmp_path / "home")
    box = await provider.acquire("one", inside)
    assert await sh(box, "echo hi > a.txt; ls /mnt") == "user-data\n"
    assert (files.root / "workspace/a.txt").read_text() == "hi\n"
