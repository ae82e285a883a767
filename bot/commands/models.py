"""``/models``: which models there are, and choosing one for the conversation."""

import difflib
from functools import partial

from bot.buttons import Choice, Reply
from bot.commands.registry import Command, CommandContext
from bot.models import usable_model
from bot.store import threads

MOST_BUTTONS = 8
"""More would push the conversation off the screen."""


async def models(context: CommandContext) -> str | Reply:
    """List the models, or switch the thread to one."""
    thread = await context.database.run(partial(threads.get, thread_id=context.thread_id))
    names = context.models.names
    wanted = context.argument.strip("`")
    if not wanted:
        current = usable_model(context.models, thread.model)
        return Reply(_listing(names, current), _choices(names, current, context.message.sender.id))
    by_folded = {name.casefold(): name for name in names}
    chosen = by_folded.get(wanted.casefold())
    if chosen is None:
        near = difflib.get_close_matches(wanted.casefold(), by_folded, n=3, cutoff=0.4)
        meant = [by_folded[name] for name in near] or names
        return f"There is no model `{wanted[:80]}`. Did you mean {_or(meant)}?"
    await context.database.run(partial(threads.set_model, thread_id=thread.id, model=chosen))
    return f"This conversation now uses `{chosen}`. A run that has begun ends with the model it began with."


def _listing(names: tuple[str, ...], current: str) -> str:
    lines = [f"- `{name}`{' (in use here)' if name == current else ''}" for name in names]
    return "\n".join([*lines, "", "Switch with `/models name`."])


def _choices(names: tuple[str, ...], current: str, asker: str) -> tuple[Choice, ...]:
    """A button for each model that is not in use, for whoever asked."""
    others = [name for name in names if name != current]
    return tuple(Choice(name, f"/models {name}", asker) for name in others[:MOST_BUTTONS])


def _or(names: list[str] | tuple[str, ...]) -> str:
    quoted = [f"`{name}`" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"


COMMANDS = (Command("models", "[name]", "List the models, or switch this conversation to one", models),)
