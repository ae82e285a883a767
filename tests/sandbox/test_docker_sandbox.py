"""Commands in a container of their thread."""

import asyncio
import json
from pathlib import Path

import pytest

from agent_core.paths import ThreadFiles
from agent_core.sandbox.docker import DockerSandboxProvider
from agent_core.sandbox.docker_sandbox import DockerSandbox
from agent_core.tools.bash import make_bash
from tests.agent_core.harness import bench
from tests.emulators.openai import Call, OpenAIEmulator, Reply, sequence
from tests.sandbox.beacon import Beacon
from tests.sandbox.conftest import ProviderMaker, sh, thread_files

pytestmark = pytest.mark.docker

BASE = "/mnt/user-data"


async def test_output_and_exit_code_are_given(box: DockerSandbox) -> None:
    result = await box.run("echo out; echo err >&2; exit 3", timeout=60, output_limit=1_000)
    assert (result.output, result.exit_code, result.notice) == ("out\nerr\n", 3, "")
    assert not result.timed_out


async def test_files_are_the_same_inside_and_outside(box: DockerSandbox, files: ThreadFiles) -> None:
    files.write(f"{BASE}/workspace/in.txt", "größe".encode())
    (files.root / "uploads/sent.txt").write_text("sent")
    command = (
        f"pwd; cat in.txt {BASE}/uploads/sent.txt /mnt/skills/public/SKILL.md; "
        f"mkdir -p new; echo out > new/out.txt; cp in.txt {BASE}/outputs/"
    )
    assert await sh(box, command) == f"{BASE}/workspace\ngrößesentWrite poems."
    assert files.read(f"{BASE}/workspace/new/out.txt", 10) == b"out\n"
    # What the commands made can be changed from outside, and the other way round.
    files.write(f"{BASE}/workspace/new/out.txt", b"changed\n")
    files.write(f"{BASE}/workspace/deep/er/a.txt", b"a")
    assert await sh(
        box, "cat new/out.txt; echo more >> new/out.txt; echo b > deep/er/b.txt; cat deep/er/*"
    ) == ("changed\nab\n")
    assert files.read(f"{BASE}/workspace/new/out.txt", 20) == b"changed\nmore\n"


async def test_two_threads_cannot_see_each_other(provider: DockerSandboxProvider, tmp_path: Path) -> None:
    one = await provider.acquire("one", thread_files(tmp_path, "one"))
    two = await provider.acquire("two", thread_files(tmp_path, "two"))
    assert one.id != two.id
    await sh(one, f"echo secret | tee a.txt {BASE}/outputs/a.txt /tmp/a.txt")
    assert await sh(two, f"ls -A . {BASE}/outputs /tmp; grep -rl secret /mnt /tmp; echo over") == (
        f".:\n\n{BASE}/outputs:\n\n/tmp:\nover\n"
    )
    beacon = Beacon(tmp_path / "home/threads/one/workspace/beacon")
    waiting = asyncio.create_task(
        one.run("exec 3>beacon; echo on >&3; sleep 1000", timeout=1_000, output_limit=100)
    )
    await beacon.lit()
    seen = await sh(two, "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c 'sleep 100[0]'; true")
    assert seen == "0\n"
    waiting.cancel()
    await asyncio.wait({waiting})


async def test_a_command_that_takes_too_long_is_killed_with_all_it_started(
    box: DockerSandbox, files: ThreadFiles
) -> None:
    await sh(box, "true")
    beacon = Beacon(files.root / "workspace/beacon")
    command = "exec 3>beacon; echo on >&3; (setsid sleep 1000 &); trap '' TERM; echo begun; sleep 1000"
    result = await box.run(command, timeout=3.0, output_limit=1_000)
    assert (result.output, result.exit_code, result.timed_out) == ("begun\n", None, True)
    await beacon.lit()
    await beacon.dark()


async def test_nothing_runs_on_after_a_command(box: DockerSandbox, files: ThreadFiles) -> None:
    await sh(box, "true")
    beacon = Beacon(files.root / "workspace/beacon")
    # It hides from its process group, its parent and its environment, and holds the output open.
    result = await box.run(
        "exec 3>beacon; echo on >&3; (env -i setsid sleep 1000 &); echo done", timeout=60, output_limit=100
    )
    assert (result.output, result.exit_code) == ("done\n", 0)
    await beacon.lit()
    await beacon.dark()


async def test_being_cancelled_kills_the_command(box: DockerSandbox, files: ThreadFiles) -> None:
    await sh(box, "true")
    beacon = Beacon(files.root / "workspace/beacon")
    command = "exec 3>beacon; echo on >&3; trap '' TERM INT HUP; sleep 1000"
    running = asyncio.create_task(box.run(command, timeout=1_000, output_limit=1_000))
    await beacon.lit()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await beacon.dark()


async def test_killing_one_command_leaves_others_of_the_thread(
    box: DockerSandbox, files: ThreadFiles
) -> None:
    await sh(box, "mkfifo go")
    beacon = Beacon(files.root / "workspace/beacon")
    first = asyncio.create_task(box.run("echo on > beacon; cat go", timeout=60, output_limit=100))
    await beacon.lit()
    late = await box.run("sleep 1000 & sleep 1000", timeout=0.5, output_limit=100)
    assert late.timed_out
    assert (
        await sh(box, "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c 'sleep 100[0]'; echo hello > go")
        == "0\n"
    )
    assert (await first).output == "hello\n"


async def test_a_command_that_closes_its_output_is_waited_for(box: DockerSandbox, files: ThreadFiles) -> None:
    await sh(box, "exec >&- 2>&-; sleep 0.2; touch late.txt")
    assert (files.root / "workspace/late.txt").exists()


async def test_the_begin_and_the_end_of_long_output_are_kept(box: DockerSandbox) -> None:
    result = await box.run("seq 1 100000", timeout=60, output_limit=1_000)
    assert result.output.startswith("1\n2\n3\n")
    assert result.output.endswith("\n99999\n100000\n")
    assert (result.exit_code, result.truncated) == (0, True)


async def test_commands_see_what_is_configured_and_no_secret_of_ours(
    make_provider: ProviderMaker, files: ThreadFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    box = await make_provider(environment={"REGION": "eu"}).acquire("one", files)
    names = dict(line.split("=", 1) for line in (await sh(box, "env")).splitlines())
    assert names.keys() - {"PATH", "PWD", "SHLVL", "_", "HOSTNAME", "HART_COMMAND"} == {
        "HOME",
        "LANG",
        "REGION",
    }


async def test_the_agent_works_in_it(provider: DockerSandboxProvider, tmp_path: Path) -> None:
    script = sequence(
        [
            Reply(calls=(Call("bash", {"command": "echo '1,2' > a.csv; python3 -c 'print(6 * 7)'; pwd"}),)),
            Reply(calls=(Call("read_file", {"path": f"{BASE}/workspace/a.csv"}),)),
            Reply(calls=(Call("bash", {"command": "sleep 1000", "timeout_seconds": 1}),)),
        ],
        then=lambda request: Reply(json.dumps(request.tool_results())),
    )
    async with (
        OpenAIEmulator(script) as emulator,
        bench(emulator, tmp_path / "home", tools=[make_bash(provider)]) as b,
    ):
        answer = json.loads((await b.answer("r1")).answer)
    assert answer == [
        f"42\n{BASE}/workspace",
        "1,2",
        "(no output)\n(killed after 1 s; give it more time, or do less at once)",
    ]
