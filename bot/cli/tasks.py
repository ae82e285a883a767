"""``hart tasks``: scheduled tasks."""

import asyncio
import json
import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import httpx
import typer

from bot.cli.connect import connected, local_http
from bot.cli.environment import ConfigDirectory, Surroundings, surroundings
from bot.errors import OperatorError
from bot.store.states import DeliveryState, RunState
from channels.console.render import plain

app = typer.Typer(no_args_is_help=True, help="List scheduled tasks, or run one now.")

WAIT_SECONDS = 30


@app.command("list")
def list_tasks(
    config: ConfigDirectory = Path(),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the declared tasks and when they fire next."""
    found = asyncio.run(_list(surroundings(config)))
    if as_json:
        print(json.dumps(found, indent=2, ensure_ascii=False))
        return
    if not found:
        print("There are no tasks.")
    for task in found:
        print(f"{task['name']}: {task['schedule']}{'' if task['enabled'] else ' (off)'}")
        print(f"  posts to {', '.join(task['targets'])}; has fired {task['fired']} times")
        for fire in task["next_fires"]:
            print(f"  next: {datetime.fromisoformat(fire):%a %Y-%m-%d %H:%M %Z}")


@app.command("show")
def show_task(
    name: Annotated[str, typer.Argument(help="Name of the task.")],
    config: ConfigDirectory = Path(),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show the latest runs of a task: how each went, and whether people got its result."""
    found = asyncio.run(_runs(surroundings(config), name))
    if as_json:
        print(json.dumps(found, indent=2, ensure_ascii=False))
        return
    if not found:
        print("It has not run yet.")
    for run in found:
        when = datetime.fromisoformat(run["scheduled_for"])
        note = f" ({plain(run['note'])})" if run["note"] else ""
        print(f"{when:%Y-%m-%d %H:%M %Z}: {run['state']}{note}, delivery: {run['delivery']}")


@app.command("pause")
def pause_task(
    name: Annotated[str, typer.Argument(help="Name of the task.")], config: ConfigDirectory = Path()
) -> None:
    """Have a task fire no more until it is resumed."""
    asyncio.run(_post(surroundings(config), name, "pause"))


@app.command("resume")
def resume_task(
    name: Annotated[str, typer.Argument(help="Name of the task.")], config: ConfigDirectory = Path()
) -> None:
    """Have a task fire again. Nothing fires for the time before."""
    asyncio.run(_post(surroundings(config), name, "resume"))


@app.command("run")
def run_task(
    name: Annotated[str, typer.Argument(help="Name of the task.")],
    config: ConfigDirectory = Path(),
    timeout: Annotated[float, typer.Option(help="Seconds to wait for the result.")] = 1800.0,
) -> None:
    """Run a task now, wait for it, and show what it posted where. Its schedule stays as it is."""
    outcome = asyncio.run(_run(surroundings(config), name, timeout))
    print(plain(outcome["answer"]))
    for delivery in outcome["deliveries"]:
        what = delivery["file"] or "text"
        print(f"-> {delivery['channel']} {delivery['chat']}: {plain(what)} {delivery['state']}")
    delivered = all(one["state"] == DeliveryState.SENT for one in outcome["deliveries"])
    raise typer.Exit(0 if outcome["state"] == RunState.DONE and delivered else 1)


async def _list(around: Surroundings) -> list[dict[str, Any]]:
    async with connected(around) as server, local_http(server) as http:
        found: list[dict[str, Any]] = (await http.get("/api/tasks")).raise_for_status().json()
        return found


async def _runs(around: Surroundings, name: str) -> list[dict[str, Any]]:
    async with connected(around) as server, local_http(server) as http:
        names = [task["name"] for task in (await http.get("/api/tasks")).raise_for_status().json()]
        if name not in names:
            raise _no_task(name)
        found: list[dict[str, Any]] = (await http.get(f"/api/tasks/{name}/runs")).raise_for_status().json()
        return found


async def _post(around: Surroundings, name: str, step: str) -> None:
    async with connected(around) as server, local_http(server) as http:
        answer = await http.post(f"/api/tasks/{name}/{step}", headers={"X-Hart": "1"})
        if answer.status_code == httpx.codes.NOT_FOUND:
            raise _no_task(name)
        answer.raise_for_status()


def _no_task(name: str) -> OperatorError:
    return OperatorError(f"There is no task {name!r}; `hart tasks list` shows the tasks.")


async def _run(around: Surroundings, name: str, timeout: float) -> dict[str, Any]:
    async with connected(around) as server, local_http(server) as http:
        fired = await http.post(f"/api/tasks/{name}/run", headers={"X-Hart": "1"})
        if fired.status_code == httpx.codes.NOT_FOUND:
            raise _no_task(name)
        key = fired.raise_for_status().json()["key"]
        try:
            async with asyncio.timeout(timeout):
                while True:
                    outcome = await http.get(f"/api/tasks/fires/{key}", params={"wait": WAIT_SECONDS})
                    found: dict[str, Any] = outcome.raise_for_status().json()
                    if found["settled"]:
                        return found
        except TimeoutError:
            print(
                f"Still running after {timeout:.0f} s; the result will be posted all the same.",
                file=sys.stderr,
            )
            raise typer.Exit(1) from None
