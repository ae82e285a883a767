"""What people have used, for the budget of a day."""

from datetime import datetime, time, tzinfo
from functools import partial

from bot.clock import Clock
from bot.store import runs
from bot.store.database import Database
from channels.messages import InboundMessage


def user_id(message: InboundMessage) -> str:
    """A person as the agent knows them: the same in all chats of one account."""
    return f"{message.address.channel}:{message.address.account}:{message.sender.id}"


class DailySpending:
    """Adds up the runs of people.

    Args:
        database: The ledger.
        now: The clock.
        zone: Whose midnight begins a day.
    """

    def __init__(self, database: Database, now: Clock, zone: tzinfo) -> None:
        self._database = database
        self._now = now
        self._zone = zone

    async def today(self, user_id: str) -> int:
        """Tokens of the runs of a person that began today and have ended."""
        channel, account, sender = user_id.split(":", 2)
        midnight = datetime.combine(self._now().astimezone(self._zone).date(), time(), self._zone)
        return await self._database.run(
            partial(runs.spent_by, channel=channel, account=account, sender_id=sender, since=midnight)
        )
