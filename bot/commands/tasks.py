"""``/tasks`` and ``/remind``: what is on the schedule, and doing something about it."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from zoneinfo import ZoneInfo

from agent_core.text import one_line
from agent_core.tools.scheduling import TaskWish
from bot.buttons import Choice, Reply
from bot.commands.registry import Command, CommandContext
from bot.store.task_runs import Logged
from bot.store.tasks import Found
from bot.task_desk import Asker, DeskError
from bot.task_kinds import TaskKind, TaskOrigin, TaskState
from bot.task_spec import TaskSpec
from bot.task_wishes import name_for, place_of
from bot.task_words import coming, listed, restated, shown
from scheduler.errors import ScheduleError
from scheduler.schedule import parse_once

USAGE = "Use `/tasks`, or `/tasks show|run|pause|resume|edit|delete NAME`."
EDIT_USAGE = (
    "Use `/tasks edit NAME FIELD VALUE` with one of the fields title, prompt, cron, every, at, zone, hours "
    "and quiet (on or off)."
)
REMIND_USAGE = "Use `/remind 20m text`, or `/remind 2026-12-24 18:00 text`."

MOST_BUTTONS = 8
_ANSWER_LENGTH = 1_500


async def tasks(context: CommandContext) -> str | Reply:
    """Carry one of its forms out."""
    asker = Asker(context.message, context.role)
    words = context.argument.split(None, 2)
    try:
        match words:
            case [] | ["list"]:
                return await _list(context, asker)
            case ["show", name]:
                return await _show(context, asker, name.strip("`"))
            case ["edit", name, rest]:
                return await _edit(context, asker, name.strip("`"), rest)
            case ["edit", *_]:
                return EDIT_USAGE
            case [verb, name] if verb in _STEPS:
                return await _STEPS[verb](context, asker, name.strip("`"))
    except DeskError as error:
        return str(error)
    return USAGE


async def _list(context: CommandContext, asker: Asker) -> str | Reply:
    found = await context.tasks.visible(asker)
    if not found:
        return (
            "There are no tasks here. Ask me for one, such as: every weekday at 8:00 tell me what is new on "
            "our feeds."
        )
    lines = [_line(one, context) for one in found]
    sender = context.message.sender.id
    choices = [
        Choice(one_line(one.spec.title, 40), f"/tasks show {one.row.name}", sender)
        for one in found[:MOST_BUTTONS]
    ]
    return Reply("\n".join([listed(lines), "", USAGE]), tuple(choices))


def _line(found: Found, context: CommandContext) -> str:
    row, spec = found.row, found.spec
    times = coming(spec, row.first_seen_at, context.now) if row.state == TaskState.ACTIVE else []
    then = f"; next {times[0]}" if times else f"; {row.state}"
    return f"**{spec.title}** (`{row.name}`) – {spec.described(row.first_seen_at)}{then}"


async def _show(context: CommandContext, asker: Asker, name: str) -> Reply:
    found = await context.tasks.find(asker, name)
    row, spec = found.row, found.spec
    runs = await context.tasks.log(name)
    state = f"{row.state}{f' ({one_line(row.note, 200)})' if row.note else ''}"
    parts = [
        f"**{spec.title}** (`{name}`): {state}",
        restated(spec, row.first_seen_at, context.now),
        "Latest runs:\n\n" + (listed([_run(one, spec) for one in runs]) or "None yet."),
    ]
    kept = next((one for one in runs if one.delivery in ("failed", "partly")), None)
    if kept is not None and kept.work is not None and kept.work.answer:
        parts.append(f"Kept, as it did not arrive everywhere:\n\n{kept.work.answer[:_ANSWER_LENGTH]}")
    return Reply("\n\n".join(parts), _steps(found, context.message.sender.id))


def _run(logged: Logged, spec: TaskSpec) -> str:
    run, work = logged.run, logged.work
    parts = [shown(run.scheduled_for, ZoneInfo(spec.zone)), run.state]
    if run.note:
        parts.append(one_line(run.note, 160))
    if run.state == "done":
        parts.append(f"delivery: {logged.delivery}")
    if work is not None and work.input_tokens:
        parts.append(f"{work.input_tokens + work.output_tokens:,} tokens")
    files = sum(delivery.file_name is not None for delivery in logged.deliveries)
    if files:
        parts.append(f"{files} {'file' if files == 1 else 'files'}")
    if run.left_out:
        parts.append(f"{run.left_out} missed before")
    return ", ".join(parts)


def _steps(found: Found, sender: str) -> tuple[Choice, ...]:
    name, state = found.row.name, found.row.state
    choices = [Choice("Run now", f"/tasks run {name}", sender)]
    if state == TaskState.ACTIVE:
        choices.append(Choice("Pause", f"/tasks pause {name}", sender))
    elif state in (TaskState.PAUSED, TaskState.DISABLED):
        choices.append(Choice("Resume", f"/tasks resume {name}", sender))
    if found.row.origin != TaskOrigin.CONFIG:
        choices.append(Choice("Delete", f"/tasks delete {name}", sender))
    return tuple(choices)


async def _confirm(context: CommandContext, asker: Asker, name: str) -> str:
    found = await context.tasks.confirm(asker, name)
    about = restated(found.spec, found.row.first_seen_at, context.now)
    return f"**{found.spec.title}** (`{name}`) is on the schedule.\n\n{about}"


async def _run_now(context: CommandContext, asker: Asker, name: str) -> str:
    found = await context.tasks.run(asker, name)
    return f"Running **{found.spec.title}** now. Its schedule stays as it is."


async def _pause(context: CommandContext, asker: Asker, name: str) -> str:
    found = await context.tasks.pause(asker, name)
    return f"**{found.spec.title}** is paused. `/tasks resume {name}` has it run again."


async def _resume(context: CommandContext, asker: Asker, name: str) -> str:
    found = await context.tasks.resume(asker, name)
    times = coming(found.spec, found.row.first_seen_at, context.now)
    return f"**{found.spec.title}** runs again. Next: {'; '.join(times) or 'never'}"


async def _delete(context: CommandContext, asker: Asker, name: str) -> str:
    found = await context.tasks.delete(asker, name)
    return f"**{found.spec.title}** is deleted."


async def _edit(context: CommandContext, asker: Asker, name: str, rest: str) -> str:
    field, _, value = rest.partition(" ")
    value = value.strip()
    match field.lower():
        case "title" | "prompt" | "cron" | "every" | "at" | "zone" if value:
            wish = _wish(field.lower(), value)
        case "hours" if value:
            wish = TaskWish(active_hours=value)
        case "quiet" if value.lower() in ("on", "off"):
            wish = TaskWish(quiet=value.lower() == "on")
        case _:
            return EDIT_USAGE
    found = await context.tasks.change(asker, name, wish)
    about = restated(found.spec, found.row.first_seen_at, context.now)
    return f"**{found.spec.title}** (`{name}`) is changed.\n\n{about}"


def _wish(field: str, value: str) -> TaskWish:
    match field:
        case "title":
            return TaskWish(title=value)
        case "prompt":
            return TaskWish(prompt=value)
        case "cron":
            return TaskWish(cron=value)
        case "every":
            return TaskWish(every=value)
        case "at":
            return TaskWish(at=value)
    return TaskWish(zone=value)


async def remind(context: CommandContext) -> str:
    """Post a text at a time."""
    asker = Asker(context.message, context.role)
    zone = ZoneInfo(await context.tasks.zone(context.message))
    try:
        at, text = _moment(context.argument, zone, context)
    except ScheduleError as error:
        return f"{error} {REMIND_USAGE}"
    if not text:
        return REMIND_USAGE
    spec = TaskSpec(
        title=one_line(text, 60),
        prompt=text,
        zone=zone.key,
        targets=(place_of(context.message),),
        at=at,
        kind=TaskKind.REMINDER,
    )
    name = name_for("reminder", f"in:{context.inbound_id}")
    try:
        await context.tasks.add(asker, name, spec)
    except DeskError as error:
        return str(error)
    return f"I shall remind you at {shown(at, zone)}. `/tasks delete {name}` takes it back."


def _moment(argument: str, zone: ZoneInfo, context: CommandContext) -> tuple[datetime, str]:
    """The time that a text begins with, and the rest of it."""
    words = argument.split()
    if words[:1] == ["in"]:
        words = words[1:]
    for count in (2, 1):
        try:
            once = parse_once(" ".join(words[:count]), zone, context.now)
        except ScheduleError:
            if count == 1:
                raise
            continue
        return once.at, " ".join(words[count:])
    raise AssertionError


_STEPS: dict[str, Callable[[CommandContext, Asker, str], Awaitable[str | Reply]]] = {
    "confirm": _confirm,
    "run": _run_now,
    "pause": _pause,
    "resume": _resume,
    "delete": _delete,
}

TASKS = Command(
    "tasks", "[show|run|pause|resume|edit|delete NAME]", "Show what is on the schedule, or change it", tasks
)
COMMANDS = (TASKS, Command("remind", "20m text", "Remind you of something, here", remind))
