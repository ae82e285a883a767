"""``hart pairing``: letting people in who wrote to a bot and were given a code."""

import asyncio
import json
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from bot.cli.connect import connected, local_http
from bot.cli.environment import ConfigDirectory, Surroundings, surroundings
from bot.config import Role
from channels.console.render import plain

app = typer.Typer(
    no_args_is_help=True, help="Let people in who were given a code, turn them away, or shut them out."
)


@app.command("list")
def list_people(
    config: ConfigDirectory = Path(),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List who waits to be let in, and who was."""
    found = asyncio.run(_get(surroundings(config)))
    if as_json:
        print(json.dumps(found, indent=2, ensure_ascii=False))
        return
    _print("Waiting", found["waiting"])
    _print("Let in by a code", found["let_in"])


@app.command()
def approve(
    code: Annotated[str, typer.Argument(help="The code that the newcomer was given.")],
    role: Annotated[Role, typer.Option(help="What they may do.")] = Role.MEMBER,
    config: ConfigDirectory = Path(),
) -> None:
    """Let the person in who was given a code. They are told in their chat."""
    _say(asyncio.run(_post(surroundings(config), "approve", {"code": code, "role": role})))


@app.command()
def reject(
    user_id: Annotated[str, typer.Argument(metavar="ID", help="The platform's id of the person.")],
    config: ConfigDirectory = Path(),
) -> None:
    """Turn a person away who waits to be let in. They are not told, and may ask again."""
    _say(asyncio.run(_post(surroundings(config), "reject", {"user_id": user_id})))


@app.command()
def revoke(
    user_id: Annotated[str, typer.Argument(metavar="ID", help="The platform's id of the person.")],
    config: ConfigDirectory = Path(),
) -> None:
    """Shut a person out who was let in by a code, at once."""
    _say(asyncio.run(_post(surroundings(config), "revoke", {"user_id": user_id})))


def _print(title: str, people: list[dict[str, Any]]) -> None:
    print(f"{title}:{'' if people else ' nobody'}")
    for one in people:
        place = one["channel"] if one["account"] == "main" else f"{one['channel']}/{one['account']}"
        name = f" ({one['name']})" if one["name"] else ""
        since = datetime.fromisoformat(one["since"]).astimezone()
        role = f", {one['role']}, by {one['by']}" if one["role"] else ""
        print(plain(f"  {one['id']}{name} on {place} since {since:%Y-%m-%d %H:%M}{role}"))


def _say(answer: dict[str, Any]) -> None:
    print(plain(answer["words"].replace("`", "")))
    raise typer.Exit(0 if answer["done"] else 1)


async def _get(around: Surroundings) -> dict[str, Any]:
    async with connected(around) as server, local_http(server) as http:
        found: dict[str, Any] = (await http.get("/api/pairing")).raise_for_status().json()
        return found


async def _post(around: Surroundings, verb: str, body: dict[str, str]) -> dict[str, Any]:
    async with connected(around) as server, local_http(server) as http:
        answer = await http.post(f"/api/pairing/{verb}", json=body, headers={"X-Hart": "1"})
        found: dict[str, Any] = answer.raise_for_status().json()
        return found
