"""``/mode``: how much the agent may spend on the requests of a conversation."""

import difflib
from functools import partial

from agent_core.modes import Mode
from bot.buttons import Choice, Reply
from bot.commands.registry import Command, CommandContext
from bot.modes import usable_mode
from bot.store import threads

MEANINGS = {
    Mode.FLASH: "answers at once, without thinking long",
    Mode.STANDARD: "thinks before it answers, if the model can",
    Mode.PRO: "thinks, and plans longer work in steps",
    Mode.ULTRA: "thinks, plans, and gives parts of the work to subagents",
}


async def mode(context: CommandContext) -> str | Reply:
    """List the modes, or switch the thread to one."""
    thread = await context.database.run(partial(threads.get, thread_id=context.thread_id))
    wanted = context.argument.strip("`").casefold()
    if not wanted:
        current = usable_mode(thread.mode, context.mode)
        return Reply(_listing(current), _choices(current, context.message.sender.id))
    if wanted not in list(Mode):
        near = difflib.get_close_matches(wanted, list(Mode), n=1, cutoff=0.4)
        meant = near or list(Mode)
        return f"There is no mode `{wanted[:80]}`. Did you mean {' or '.join(f'`{name}`' for name in meant)}?"
    chosen = Mode(wanted)
    await context.database.run(partial(threads.set_mode, thread_id=thread.id, mode=chosen))
    ends = "A run that has begun ends in the mode it began with."
    return f"This conversation is now in the mode `{chosen}`: it {MEANINGS[chosen]}. {ends}"


def _listing(current: Mode) -> str:
    lines = [
        f"- `{mode}`{' (in use here)' if mode is current else ''} – {meaning}"
        for mode, meaning in MEANINGS.items()
    ]
    return "\n".join([*lines, "", "Switch with `/mode name`."])


def _choices(current: Mode, asker: str) -> tuple[Choice, ...]:
    """A button for each mode that is not in use, for whoever asked."""
    return tuple(Choice(mode, f"/mode {mode}", asker) for mode in Mode if mode is not current)


COMMANDS = (Command("mode", "[name]", "List the modes, or switch this conversation to one", mode),)
