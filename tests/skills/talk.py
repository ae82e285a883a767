"""Talking with a running Hart on its local channel."""

from channels.console.client import LocalClient
from channels.feed import FeedEntry
from tests.engine.ledger import eventually


async def ask(client: LocalClient, text: str, message_id: str = "m1") -> list[FeedEntry]:
    """Post a message and give the entries that answer it: text, then files."""
    await client.post("desk", text, message_id)

    async def answer() -> list[FeedEntry]:
        entries = (await client.history("desk", 50)).entries
        own = [entry for entry in entries if entry.in_reply_to == message_id]
        return own if own and own[-1].final else []

    return await eventually(answer)
