"""``hart sandbox``: the containers that the agent's commands run in."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agent_core.paths import ThreadFiles
from agent_core.sandbox.sandbox import SandboxError
from bot.cli.environment import ConfigDirectory, Surroundings, surroundings
from bot.clock import new_id
from bot.config import SandboxKind
from bot.errors import OperatorError
from bot.sandboxes import docker_sandboxes, open_sandboxes

if TYPE_CHECKING:
    from agent_core.sandbox.docker import DockerSandboxProvider

app = typer.Typer(no_args_is_help=True, help="List, remove or try the containers that commands run in.")

CHECK_SECONDS = 60.0
_PROGRAMS = ("python3", "node", "git", "pandoc", "ffmpeg", "libreoffice")


@app.command("ps")
def list_containers(
    config: ConfigDirectory = Path(),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the containers of this home, whichever process made them."""
    found = asyncio.run(_list(surroundings(config)))
    if as_json:
        print(json.dumps(found, indent=2))
        return
    if not found:
        print("There are no containers.")
    for one in found:
        idle = "thread is gone" if one["idle_seconds"] is None else f"idle for {one['idle_seconds']:.0f} s"
        print(f"{one['name']}: conversation {one['thread_id']}, {_state(one)}, {idle}")


@app.command()
def reap(
    config: ConfigDirectory = Path(),
    everything: Annotated[
        bool, typer.Option("--all", help="Also those in use, with what runs there.")
    ] = False,
) -> None:
    """Remove the containers of this home that are idle."""
    removed = asyncio.run(_reap(surroundings(config), everything))
    for name in removed:
        print(f"Removed {name}")
    if not removed:
        print("There was nothing to remove.")


@app.command("test")
def try_out(config: ConfigDirectory = Path()) -> None:
    """Run a few commands as the agent would, and say what was found."""
    raise typer.Exit(0 if asyncio.run(_test(surroundings(config))) else 1)


def _state(one: dict[str, Any]) -> str:
    return "runs" if one["running"] else "has ended"


async def _list(around: Surroundings) -> list[dict[str, Any]]:
    async with _containers(around) as provider:
        return [asdict(one) for one in await provider.sandboxes()]


async def _reap(around: Surroundings, everything: bool) -> list[str]:
    async with _containers(around) as provider:
        return await provider.reap(everything=everything)


@asynccontextmanager
async def _containers(around: Surroundings) -> AsyncIterator["DockerSandboxProvider"]:
    sandbox = around.settings.config.sandbox
    if sandbox.provider is not SandboxKind.DOCKER:
        raise OperatorError("sandbox.provider in config.yaml is not docker, so there are no containers.")
    around.home.prepare()
    provider = docker_sandboxes(sandbox, around.home)
    try:
        yield provider
    except SandboxError as error:
        raise OperatorError(f"{error}.") from None
    finally:
        await provider.aclose()


async def _test(around: Surroundings) -> bool:
    sandbox = around.settings.config.sandbox
    if not sandbox.runs_commands:
        raise OperatorError("No commands can be run: config.yaml sets up no sandbox (docs/sandbox.md).")
    around.home.prepare()
    if sandbox.provider is SandboxKind.DOCKER:
        async with _containers(around) as provider:
            print(f"ok: {await provider.check()}")
    files = ThreadFiles(around.home.thread_files(f"sandbox-test-{new_id()[:8]}").root)
    try:
        async with open_sandboxes(sandbox, around.home) as box:
            assert box is not None
            found = await (await box.acquire(files.root.name, files)).run(
                _script(), timeout=CHECK_SECONDS, output_limit=5_000
            )
            written = await asyncio.to_thread(_written, files)
    except SandboxError as error:
        raise OperatorError(f"{error}.") from None
    finally:
        await asyncio.to_thread(shutil.rmtree, files.root, ignore_errors=True)
    told = dict(line.split("=", 1) for line in found.output.splitlines() if "=" in line)
    return _report(
        told, written=written, walls=sandbox.provider is SandboxKind.DOCKER, network=sandbox.network
    )


def _script() -> str:
    programs = " ".join(_PROGRAMS)
    return (
        "echo hello > /mnt/user-data/outputs/hello.txt; echo user=$(id -u); "
        "touch /hart-was-here 2>/dev/null && echo root=writable || echo root=read-only; "
        "rm -f /hart-was-here 2>/dev/null; echo network=$(ls /sys/class/net 2>/dev/null); "
        f'for one in {programs}; do command -v $one > /dev/null || missing+=" $one"; done; '
        "echo missing=${missing# }"
    )


def _written(files: ThreadFiles) -> bool:
    return (files.root / "outputs/hello.txt").is_file()


def _report(told: dict[str, str], *, written: bool, walls: bool, network: str) -> bool:
    """Print what was found; say whether all is as it should be."""
    checks = [("a command wrote a file that Hart sees", written)]
    if walls:
        checks += [
            (f"commands run as user {told.get('user', '?')}, not as root", told.get("user", "0") != "0"),
            ("the root cannot be written", told.get("root") == "read-only"),
        ]
        if network == "none":
            checks.append(("there is no network", told.get("network", "") in ("", "lo")))
    for words, fine in checks:
        print(f"{'ok' if fine else 'FAILED'}: {words}")
    if not walls:
        print("warning: commands run on this machine, as the user that Hart runs as")
    if missing := told.get("missing"):
        print(f"warning: not in it: {missing}")
    return all(fine for _, fine in checks)
