"""Taking the buttons off a message once one of them was pressed."""

import asyncio
import logging
from functools import partial

from bot.directory import ChannelDirectory
from bot.messages import load_buttons
from bot.store import outbox
from bot.store.database import Database
from channels.messages import InboundMessage, OutboundMessage, OutboundText

log = logging.getLogger(__name__)

CLOSE_SECONDS = 5.0
"""How long it may take: the chat's next command waits for it."""


async def close_buttons(database: Database, channels: ChannelDirectory, press: InboundMessage) -> None:
    """Show which button of a message was pressed, as far as the platform can.

    Only for people to see: a button that was pressed does nothing anyhow.
    """
    assert press.action is not None, "a press names its button"
    channel = channels.find(press.address)
    find = partial(outbox.with_button, address=press.address, action_id=press.action)
    delivery = await database.run(find)
    if channel is None or delivery is None or delivery.text is None:
        return
    labels = {button.id: button.label for button in load_buttons(delivery.buttons or "[]")}
    posted = OutboundMessage(
        press.address,
        delivery.key,
        OutboundText(delivery.text),
        possible_repeat=delivery.possible_repeat,
        reply_via=press.reply_via,
    )
    try:
        async with asyncio.timeout(CLOSE_SECONDS):
            await channel.close_buttons(press.message_id, posted, labels[press.action])
    except TimeoutError:
        log.info("%s/%s: buttons stay: no answer", channel.name, channel.account)
