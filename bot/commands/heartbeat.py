"""``/heartbeat``: what is looked after for a conversation without being asked."""

import hashlib
from datetime import timedelta
from functools import partial

from agent_core.tools.scheduling import TaskWish
from bot.commands.registry import Command, CommandContext
from bot.store import threads
from bot.store.tasks import Found
from bot.task_desk import Asker, DeskError
from bot.task_kinds import TaskKind, TaskState
from bot.task_spec import TaskSpec
from bot.task_wishes import place_of
from scheduler.heartbeat import is_empty
from scheduler.interval import spell_duration
from scheduler.models import Misfire

USAGE = "Use `/heartbeat on|off|show`, `edit LIST`, `every 30m` or `hours 08:00-22:00` (or `hours always`)."
EVERY = timedelta(minutes=30)


async def heartbeat(context: CommandContext) -> str:
    """Carry one of its forms out."""
    verb, _, rest = context.argument.partition(" ")
    thread = await context.database.run(partial(threads.get, thread_id=context.thread_id))
    asker, name = Asker(context.message, context.role), _name(thread.key)
    try:
        match verb.lower(), rest.strip():
            case (("" | "show"), ""):
                return await _show(context, asker, thread.key)
            case "on", "":
                await _switch_on(context, asker, thread.key)
                return await _show(context, asker, thread.key)
            case "off", "":
                await context.tasks.pause(asker, name)
                return "The heartbeat is off. `/heartbeat on` has it go on."
            case "edit", text if text:
                await context.tasks.heartbeats.write(thread.id, text)
                return await _show(context, asker, thread.key)
            case "every", every if every:
                await context.tasks.change(asker, name, TaskWish(every=every))
                return await _show(context, asker, thread.key)
            case "hours", hours if hours:
                await context.tasks.change(asker, name, TaskWish(active_hours=hours))
                return await _show(context, asker, thread.key)
    except DeskError as error:
        if await _found(context, asker, name) is None:
            return f"There is no heartbeat here yet. `/heartbeat on` begins one. {USAGE}"
        return str(error)
    return USAGE


async def _switch_on(context: CommandContext, asker: Asker, thread_key: str) -> None:
    name = _name(thread_key)
    if await _found(context, asker, name) is not None:
        await context.tasks.resume(asker, name)
        return
    spec = TaskSpec(
        title="Heartbeat",
        prompt="Look after the list of the conversation.",
        zone=await context.tasks.zone(context.message),
        targets=(place_of(context.message),),
        every=max(EVERY, context.tasks.floor),
        kind=TaskKind.HEARTBEAT,
        misfire=Misfire.SKIP,
        retries=0,
        thread_key=thread_key,
    )
    await context.tasks.add(asker, name, spec)


async def _show(context: CommandContext, asker: Asker, thread_key: str) -> str:
    text = await context.tasks.heartbeats.read(thread_key)
    found = await _found(context, asker, _name(thread_key))
    if found is None or found.row.state != TaskState.ACTIVE:
        state = "The heartbeat is off; `/heartbeat on` begins it."
    else:
        spec = found.spec
        assert spec.every is not None
        hours = f", from {spec.active_hours} ({spec.zone})" if spec.active_hours else ""
        state = f"I look after this every {spell_duration(spec.every)}{hours}."
    if is_empty(text):
        return f"{state} There is nothing on the list. Write it with `/heartbeat edit`, one thing a line."
    return f"{state}\n\n{text.strip()}"


async def _found(context: CommandContext, asker: Asker, name: str) -> Found | None:
    try:
        return await context.tasks.find(asker, name)
    except DeskError:
        return None


def _name(thread_key: str) -> str:
    return f"heartbeat-{hashlib.sha256(thread_key.encode()).hexdigest()[:10]}"


COMMANDS = (
    Command(
        "heartbeat",
        "[on|off|edit LIST|every 30m|hours 08:00-22:00]",
        "Show or set what I look after for this conversation",
        heartbeat,
    ),
)
