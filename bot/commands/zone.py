"""``/timezone``: whose clock is meant."""

from functools import partial

from bot.commands.registry import Command, CommandContext
from bot.config.channels import Role
from bot.store import zones
from channels.messages import ChatKind
from scheduler.errors import ScheduleError
from scheduler.schedule import parse_zone


async def timezone(context: CommandContext) -> str:
    """Show or choose the zone of whoever asks, or of the chat."""
    words = context.argument.split()
    for_chat = words[:1] == ["chat"]
    if for_chat:
        words = words[1:]
    message = context.message
    if not words:
        zone = await context.tasks.zone(message)
        return f"Times are meant in {zone}. Change it with `/timezone Europe/Berlin`."
    if for_chat and message.chat_kind is ChatKind.GROUP and not context.role.covers(Role.ADMIN):
        return "Only admins choose the time zone of a group."
    chosen = None
    if words != ["default"]:
        try:
            chosen = parse_zone(words[0]).key
        except ScheduleError as error:
            return str(error)
    key = zones.chat(message.address) if for_chat else zones.person(message.address, message.sender.id)
    await context.database.run(partial(zones.put, key=key, zone=chosen))
    whose = "in this chat, for those who have chosen none," if for_chat else "you give"
    meant = await context.tasks.zone(message) if chosen is None else chosen
    return f"Times {whose} are now meant in {meant}. Tasks that there are keep theirs."


COMMANDS = (Command("timezone", "[chat] [Area/City | default]", "Show or choose your time zone", timezone),)
