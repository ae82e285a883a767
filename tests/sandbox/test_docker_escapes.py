"""What a hostile command tries, and that it gets nowhere."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_core.paths import PathRefusedError, ThreadFiles
from agent_core.sandbox.docker import DockerSandboxProvider
from agent_core.sandbox.docker_sandbox import DockerSandbox
from agent_core.tools.errors import FileToolError
from agent_core.tools.present import _present
from tests.sandbox.conftest import ProviderMaker, sh, thread_files

pytestmark = pytest.mark.docker

BASE = "/mnt/user-data"


async def test_it_is_nobody_without_rights(box: DockerSandbox) -> None:
    told = await sh(box, "id -u; grep -E '^(Cap(Prm|Eff|Bnd|Amb)|NoNewPrivs)' /proc/self/status")
    user, *rights = told.splitlines()
    assert user != "0"
    assert dict(line.split(":\t") for line in rights) == {
        "CapPrm": "0000000000000000",
        "CapEff": "0000000000000000",
        "CapBnd": "0000000000000000",
        "CapAmb": "0000000000000000",
        "NoNewPrivs": "1",
    }


@pytest.mark.parametrize(
    "command",
    [
        "mount -t tmpfs none /mnt",
        "mount -o remount,rw /",
        "unshare -rm true",
        "mknod /tmp/disk b 8 0",
        "chroot / true",
        "su -c true",
        "nsenter -t 1 -m true",
        "touch /etc/x",
        "touch /x",
        "touch /mnt/user-data/x",
        "touch /mnt/user-data/uploads/x",
        "rm /mnt/user-data/uploads/sent.txt",
        "touch /mnt/skills/x",
        "echo evil > /mnt/skills/public/SKILL.md",
        "echo 1 > /proc/sys/kernel/panic",
        "echo b > /proc/sysrq-trigger",
        "cat /proc/kcore",
        "cat /dev/mem",
        "cat /etc/shadow",
        "ls /proc/1/root/root",
        "dmesg",
        "kill -9 1 && ! kill -0 1",
        "test -S /var/run/docker.sock || test -S /run/docker.sock",
        "mv /mnt/user-data/outputs /mnt/user-data/other",
        "rmdir /mnt/user-data/workspace",
    ],
)
async def test_it_cannot_change_its_walls(box: DockerSandbox, files: ThreadFiles, command: str) -> None:
    (files.root / "uploads/sent.txt").write_text("sent")
    result = await box.run(command, timeout=60, output_limit=1_000)
    assert result.exit_code not in (None, 0), result
    assert (files.root / "uploads/sent.txt").read_text() == "sent"
    assert files.read("/mnt/skills/public/SKILL.md", 100) == b"Write poems."


async def test_no_folder_of_the_host_is_there(box: DockerSandbox, tmp_path: Path) -> None:
    (tmp_path / "host.txt").write_text("of the host")
    assert await sh(box, f"ls {tmp_path}; ls /mnt {BASE}") == (
        f"ls: cannot access '{tmp_path}': No such file or directory\n"
        f"/mnt:\nskills\nuser-data\n\n{BASE}:\noutputs\nuploads\nworkspace\n"
    )
    assert "of the host" not in await sh(
        box, "grep -rs 'of the host' / --exclude-dir=proc --exclude-dir=sys; true"
    )


async def test_a_link_out_of_outputs_leads_nowhere(
    box: DockerSandbox, files: ThreadFiles, tmp_path: Path
) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    await sh(
        box,
        f"cd {BASE}/outputs; ln -s {tmp_path}/secret.txt a.txt; ln -s {tmp_path} folder; ln -s / root; "
        "ln -s ../../../../secret.txt up.txt; ln a.txt hard.txt; mkfifo pipe",
    )
    for name in ("a.txt", "folder/secret.txt", "root/etc/passwd", "up.txt", "hard.txt", "pipe"):
        with pytest.raises(FileToolError):
            _present(files, [f"{BASE}/outputs/{name}"])
        with pytest.raises(PathRefusedError):
            files.read(f"{BASE}/outputs/{name}", 100)
        with pytest.raises(PathRefusedError):
            files.write(f"{BASE}/outputs/{name}", b"overwritten")
    assert (tmp_path / "secret.txt").read_text() == "secret"


@contextlib.asynccontextmanager
async def _listening() -> AsyncIterator[int]:
    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello\n")
        writer.close()

    server = await asyncio.start_server(greet, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def test_there_is_no_network_unless_one_is_configured(
    make_provider: ProviderMaker, files: ThreadFiles, tmp_path: Path
) -> None:
    async with _listening() as port:
        command = f"ls /sys/class/net; read -r line < /dev/tcp/127.0.0.1/{port} && echo $line"
        alone = await make_provider().acquire("one", files)
        told = await sh(alone, command)
        assert told.splitlines()[0] == "lo"
        assert "hello" not in told
        # The same command does get through where a network lets it.
        joined = await make_provider(network="host").acquire("two", thread_files(tmp_path, "two"))
        assert "hello" in await sh(joined, command)


async def test_a_fork_bomb_is_bounded_and_ended(box: DockerSandbox) -> None:
    result = await box.run("bomb() { bomb | bomb & }; bomb; sleep 1000", timeout=2, output_limit=1_000)
    assert result.timed_out
    assert await sh(box, "ls -d /proc/[0-9]* | wc -l") in ("4\n", "5\n")


async def test_a_hundred_daemons_are_buried(box: DockerSandbox) -> None:
    await sh(box, "for _ in {1..40}; do (setsid sleep 1000 &); (true &); done")
    assert (
        await sh(box, "cat /proc/[0-9]*/stat 2>/dev/null | grep -cE '\\) Z |sleep\\) . 1 .*1000'; true")
        == "0\n"
    )
    assert (
        await sh(box, "for _ in {1..40}; do (setsid sleep 1000 &) || echo full; done; echo fine") == "fine\n"
    )


async def test_a_file_of_ten_gigabytes_is_stopped(box: DockerSandbox, files: ThreadFiles) -> None:
    result = await box.run("dd if=/dev/zero of=big bs=1M count=10000", timeout=60, output_limit=1_000)
    assert result.exit_code not in (None, 0)
    assert (files.root / "workspace/big").stat().st_size <= 50 << 20


async def test_ten_gigabytes_in_many_files_are_stopped(box: DockerSandbox, files: ThreadFiles) -> None:
    command = "for i in {1..1000}; do head -c 10000000 /dev/zero > f$i; done"
    result = await box.run(command, timeout=120, output_limit=1_000)
    assert result.exit_code is None
    assert "may take 50 MB in all" in result.notice
    assert len(list((files.root / "workspace").iterdir())) < 1_000
    # What is there may be deleted, and no more may be added until it is.
    more = await box.run(
        "for i in {1..1000}; do head -c 10000000 /dev/zero > g$i; done", timeout=120, output_limit=100
    )
    assert more.exit_code is None
    assert await sh(box, "rm -f f* g*; ls") == ""


async def test_folders_without_end_are_stopped(box: DockerSandbox) -> None:
    result = await box.run("while mkdir d && cd d; do :; done; sleep 60", timeout=120, output_limit=1_000)
    assert result.exit_code is None
    assert "nested" in result.notice
    await sh(box, "rm -rf d")


async def test_files_in_memory_are_bounded(box: DockerSandbox) -> None:
    told = await sh(
        box, "head -c 100000000 /dev/zero > /tmp/big; stat -c %s /tmp/big; rm /tmp/big; echo alive"
    )
    assert "No space left" in told
    assert told.endswith("alive\n")


async def test_too_much_memory_ends_the_program_alone(box: DockerSandbox) -> None:
    result = await box.run(
        "python3 -c 'a = [b\"x\" * 10_000_000 for _ in range(100)]'; echo $?", timeout=60, output_limit=1_000
    )
    assert "137" in result.output
    assert await sh(box, "echo alive") == "alive\n"


async def test_a_gigabyte_of_output_is_cut_and_ended(box: DockerSandbox) -> None:
    result = await box.run(
        "head -c 1000000000 /dev/zero | tr '\\0' x; sleep 1000", timeout=120, output_limit=1_000
    )
    assert result.exit_code is None
    assert not result.timed_out
    assert result.truncated
    assert len(result.output) < 1_200
    assert "too much output" in result.notice
    assert await sh(box, "echo alive") == "alive\n"


async def test_a_pipe_in_the_place_of_a_file_holds_nobody_up(box: DockerSandbox, files: ThreadFiles) -> None:
    await sh(box, "mkfifo pipe; mkdir folder; ln -s /dev/zero zero")
    for path in ("pipe", "folder", "zero"):
        with pytest.raises(PathRefusedError):
            files.read(f"{BASE}/workspace/{path}", 100)


async def test_another_home_on_the_engine_is_left_alone(make_provider: ProviderMaker, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    ours: DockerSandboxProvider = make_provider()
    theirs = make_provider(home=tmp_path / "other")
    box = await theirs.acquire("one", ThreadFiles(tmp_path / "other/threads/one"))
    await sh(box, "touch /tmp/here")
    assert await ours.reap(everything=True) == []
    assert await ours.sandboxes() == []
    result = await box.run("ls /tmp", timeout=60, output_limit=100)
    assert (result.output, result.notice) == ("here\n", "")
