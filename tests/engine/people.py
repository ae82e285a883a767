"""People who write to the bot on the emulated Telegram."""

from dataclasses import dataclass
from typing import Any

from tests.emulators.telegram import Chat, Sent, TelegramEmulator, User

PATIENCE = 30.0
"""Seconds to wait for what must come; a test that passes waits for none of them in full."""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody and their private chat with the bot."""

    telegram: TelegramEmulator
    user: User
    chat: Chat

    @classmethod
    def new(cls, telegram: TelegramEmulator, number: int, name: str) -> "Person":
        """Somebody who has never written."""
        user = telegram.user(number, name)
        return cls(telegram, user, telegram.private_chat(user))

    def says(self, text: str, **message: Any) -> dict[str, Any]:
        """Write into the private chat."""
        return self.telegram.say(self.chat, self.user, text, **message)

    def got(self) -> list[Sent]:
        """What the bot has posted here."""
        return [sent for sent in self.telegram.sent if sent.chat_id == self.chat.id]

    async def hears(self, count: int = 1, timeout: float = PATIENCE) -> list[str]:
        """Wait until the bot has posted so many messages here, and give the texts of all."""
        await self.telegram.wait_for(lambda: len(self.got()) >= count, timeout)
        return [sent.text for sent in self.got()]
