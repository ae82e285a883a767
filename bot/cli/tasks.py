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
        print("No tasks are declared in config.yaml.")
    for task in found:
        print(f"{task['name']}: {task['schedule']}{'' if task['enabled'] else ' (off)'}")
        print(f"  posts to {', '.join(task['targets'])}; has fired {task['fired']} times")
        for fire in task["next_fires"]:
            print(f"  next: {datetime.fromisoformat(fire):%a %Y-%m-%d %H:%M %Z}")


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


async def _run(around: Surroundings, name: str, timeout: float) -> dict[str, Any]:
    async with connected(around) as server, local_http(server) as http:
        fired = await http.post(f"/api/tasks/{name}/run", headers={"X-Hart": "1"})
        if fired.status_code == httpx.codes.NOT_FOUND:
            raise OperatorError(f"There is no task {name!r}; `hart tasks list` shows the tasks.")
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
