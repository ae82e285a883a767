"""``hart threads``: conversations."""

import asyncio
import json
import shutil
from pathlib import Path
from typing import Annotated, Any

import httpx
import typer

from bot.cli.connect import connected, local_http
from bot.cli.environment import ConfigDirectory, Surroundings, surroundings
from bot.errors import OperatorError
from channels.console.render import plain

app = typer.Typer(no_args_is_help=True, help="List, read, take out or delete conversations.")

ThreadId = Annotated[str, typer.Argument(help="Id of the conversation, or how it begins.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]

_SHOWN_ID = 8


@app.command("list")
def list_threads(
    config: ConfigDirectory = Path(),
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many, the latest first.")] = 50,
    as_json: AsJson = False,
) -> None:
    """List the conversations used last."""
    found = asyncio.run(_ask(surroundings(config), "GET", "", params={"limit": limit}))
    if as_json:
        print(json.dumps(found, indent=2, ensure_ascii=False))
        return
    if not found:
        print("There are no conversations.")
    for one in found:
        where = plain(f"{one['channel']} {one['chat']}")
        print(f"{one['id'][:_SHOWN_ID]}  {one['latest'][:16]}  {where}  {plain(one['title'] or '')}")
        print(f"          {one['messages']} messages, {one['tokens']:,} tokens")


@app.command("show")
def show(thread: ThreadId, config: ConfigDirectory = Path(), as_json: AsJson = False) -> None:
    """Show what was said in a conversation."""
    found = asyncio.run(_ask(surroundings(config), "GET", f"/{_path(thread)}"))
    print(json.dumps(found, indent=2, ensure_ascii=False) if as_json else plain(_markdown(found)))


@app.command("export")
def export(
    thread: ThreadId,
    to: Annotated[Path, typer.Option(help="Folder to make; it must not be there yet.")],
    config: ConfigDirectory = Path(),
) -> None:
    """Write a conversation and its files into a folder."""
    around = surroundings(config)
    found = asyncio.run(_ask(around, "GET", f"/{_path(thread)}"))
    try:
        to.mkdir(parents=True)
        (to / "conversation.md").write_text(_markdown(found) + "\n", encoding="utf-8")
        (to / "conversation.json").write_text(
            json.dumps(found, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
        )
        count = _copy_files(around, found["id"], to / "files")
    except OSError as error:
        raise OperatorError(f"{to} cannot be written: {error.strerror or error}") from error
    print(f"Wrote {len(found['exchanges'])} messages and {count} files to {to}.")


@app.command("delete")
def delete(
    thread: ThreadId,
    config: ConfigDirectory = Path(),
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete what was said in a conversation, what the agent knows of it, and its files."""
    around = surroundings(config)
    found = asyncio.run(_ask(around, "GET", f"/{_path(thread)}"))
    if not yes:
        typer.confirm(
            f"Delete conversation {found['id'][:_SHOWN_ID]} with {len(found['exchanges'])} messages?",
            abort=True,
        )
    asyncio.run(_ask(around, "DELETE", f"/{found['id']}"))
    print(f"Deleted {found['id'][:_SHOWN_ID]}.")


async def _ask(around: Surroundings, method: str, path: str, **options: Any) -> Any:
    async with connected(around) as server, local_http(server) as http:
        answer = await http.request(method, f"/api/threads{path}", headers={"X-Hart": "1"}, **options)
        if answer.status_code in (httpx.codes.NOT_FOUND, httpx.codes.CONFLICT, httpx.codes.LOCKED):
            raise OperatorError(f"{answer.json()['detail']} `hart threads list` shows the conversations.")
        return answer.raise_for_status().json()


def _path(thread: str) -> str:
    if not thread.isalnum():
        raise OperatorError(f"{thread!r} is no id of a conversation; `hart threads list` shows them.")
    return thread


def _markdown(found: dict[str, Any]) -> str:
    parts = [f"# Conversation {found['id']}"]
    for one in found["exchanges"]:
        parts.append(f"**{one['sender']}** ({one['at']})\n\n{one['text']}")
        if one["answer"]:
            parts.append(f"**Hart** ({one['state']})\n\n{one['answer']}")
        parts += [f"- file: {name}" for name in one["files"]]
    return "\n\n".join(parts)


def _copy_files(around: Surroundings, thread_id: str, target: Path) -> int:
    """Copy the files of a thread through its own paths, which follow no links."""
    files = around.home.thread_files(thread_id)
    if not files.root.is_dir():
        return 0
    count = 0
    for path, _entry in files.walk("/mnt/user-data", 1_000_000):
        place = target.joinpath(*path.parts)
        place.parent.mkdir(parents=True, exist_ok=True)
        with files.open(str(path)) as source, place.open("wb") as copy:
            shutil.copyfileobj(source, copy)
        count += 1
    return count
