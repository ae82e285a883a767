"""The three platforms in the same words, for tests of the whole of Hart on any of them."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, ClassVar

from tests.emulators.feishu import FeishuEmulator
from tests.emulators.feishu import faults as feishu_faults
from tests.emulators.feishu.cards import words_of
from tests.emulators.slack import SlackEmulator
from tests.emulators.slack import faults as slack_faults
from tests.emulators.slack.blocks import words_in
from tests.emulators.telegram import TelegramEmulator
from tests.emulators.telegram import faults as telegram_faults
from tests.hart import Site

PATIENCE = 60.0
"""Seconds after which something that must happen is taken not to happen."""


@dataclass(frozen=True, slots=True)
class Place:
    """A chat, and a thread or topic in it (the platform's own ids)."""

    chat: str
    thread: str | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """A message of the bot as people saw it first.

    Args:
        id: The platform's own.
        buttons: Their labels.
    """

    id: str
    place: Place
    text: str
    buttons: tuple[str, ...] = ()


class Platform(ABC):
    """People on one emulated platform, and what they see."""

    name: ClassVar[str]

    @abstractmethod
    def use(self, site: Site, **account: object) -> None:
        """Configure Hart for it."""

    @abstractmethod
    def person(self, name: str) -> str:
        """Somebody, by an id that is known from now on."""

    @abstractmethod
    def direct(self, person: str) -> Place:
        """A person's chat with the bot."""

    @abstractmethod
    def group(self, title: str) -> Place:
        """A group with the bot in it."""

    @abstractmethod
    def thread(self, group: Place, person: str) -> Place:
        """A thread or topic in a group; the bot was not told of its beginning."""

    @abstractmethod
    def say(self, place: Place, person: str, text: str) -> Place:
        """A person writes, in groups to the bot by name. Returns the place where the answer belongs."""

    @abstractmethod
    def reply(self, seen: Seen, person: str, text: str) -> None:
        """A person answers a message of the bot, as people do there, without naming it."""

    @abstractmethod
    def say_as_bot(self, place: Place, text: str) -> None:
        """Another bot writes, to ours by name."""

    @abstractmethod
    def press(self, seen: Seen, label: str, person: str) -> None:
        """A person presses a button."""

    @abstractmethod
    def spoof(self, seen: Seen, person: str) -> None:
        """A person has a button pressed that Hart never made."""

    @abstractmethod
    def seen(self) -> list[Seen]:
        """All messages of the bot so far."""

    @abstractmethod
    def buttons_now(self, seen: Seen) -> tuple[str, ...]:
        """Labels of the buttons that still stand below a message."""

    @abstractmethod
    def text_now(self, seen: Seen) -> str:
        """What a message says by now."""

    @abstractmethod
    def is_heard(self) -> bool:
        """True when all that people did has been taken in, or given up."""

    @abstractmethod
    def listeners(self) -> int:
        """How many connections events could arrive on."""

    @abstractmethod
    def hold_edits(self) -> None:
        """From now on the platform does not answer when a message is to be changed."""

    @abstractmethod
    def offline(self) -> AbstractAsyncContextManager[None]:
        """Within it the platform cannot be reached. People go on writing."""

    @abstractmethod
    async def wait_for(self, predicate: Callable[[], Any], timeout: float = PATIENCE) -> Any:
        """Wait until something is true of the platform."""

    async def wait_for_seen(self, count: int) -> list[Seen]:
        """Wait until the bot has written so many messages, and return all."""
        await self.wait_for(lambda: len(self.seen()) >= count)
        return self.seen()

    async def wait_until_heard(self) -> None:
        """Wait until all that people did has been taken in."""
        await self.wait_for(self.is_heard)

    async def wait_until_listening(self) -> None:
        """Wait until Hart hears."""
        await self.wait_for(self.listeners)


class OnTelegram(Platform):
    """Groups are forums, so that they have threads."""

    name = "telegram"

    def __init__(self, emulator: TelegramEmulator) -> None:
        self._telegram = emulator

    def use(self, site: Site, **account: object) -> None:
        site.use_telegram(self._telegram, **account)

    def person(self, name: str) -> str:
        return str(self._telegram.user(500 + len(self._telegram.users), name).id)

    def direct(self, person: str) -> Place:
        return Place(str(self._telegram.private_chat(self._telegram.users[int(person)]).id))

    def group(self, title: str) -> Place:
        return Place(str(self._telegram.group(title, forum=True).id))

    def thread(self, group: Place, person: str) -> Place:
        return Place(group.chat, str(self._telegram.topic(self._telegram.chats[int(group.chat)], "Plans")))

    def say(self, place: Place, person: str, text: str) -> Place:
        chat = self._telegram.chats[int(place.chat)]
        name = f"@{self._telegram.bot.username}"
        if chat.type != "private":
            text = f"{text}{name}" if text.startswith("/") else f"{name} {text}"
        thread = int(place.thread) if place.thread else None
        self._telegram.say(chat, self._telegram.users[int(person)], text, thread=thread)
        return place

    def reply(self, seen: Seen, person: str, text: str) -> None:
        chat = self._telegram.chats[int(seen.place.chat)]
        thread = int(seen.place.thread) if seen.place.thread else None
        self._telegram.say(
            chat, self._telegram.users[int(person)], text, reply_to=int(seen.id), thread=thread
        )

    def say_as_bot(self, place: Place, text: str) -> None:
        self._telegram.user(499, "Robot", "robot_bot", is_bot=True)
        self.say(place, "499", text)

    def press(self, seen: Seen, label: str, person: str) -> None:
        self._telegram.press(self._sent(seen), label, self._telegram.users[int(person)])

    def spoof(self, seen: Seen, person: str) -> None:
        self._telegram.press_data(self._sent(seen), "never-was", self._telegram.users[int(person)])

    def seen(self) -> list[Seen]:
        return [
            Seen(
                str(sent.message_id),
                Place(str(sent.chat_id), str(sent.thread) if sent.thread else None),
                sent.text,
                tuple(label for label, _ in sent.buttons),
            )
            for sent in self._telegram.sent
        ]

    def buttons_now(self, seen: Seen) -> tuple[str, ...]:
        rows = self._message(seen).get("reply_markup", {}).get("inline_keyboard", [])
        return tuple(button["text"] for row in rows for button in row)

    def text_now(self, seen: Seen) -> str:
        return str(self._message(seen)["text"])

    def is_heard(self) -> bool:
        return not self._telegram.updates

    def listeners(self) -> int:
        return self._telegram.count("getUpdates")

    def hold_edits(self) -> None:
        self._telegram.faults.add("editMessageReplyMarkup", telegram_faults.Hang(), None)

    def offline(self) -> AbstractAsyncContextManager[None]:
        return self._telegram.offline()

    async def wait_for(self, predicate: Callable[[], Any], timeout: float = PATIENCE) -> Any:
        return await self._telegram.wait_for(predicate, timeout)

    def _sent(self, seen: Seen) -> Any:
        return next(one for one in self._telegram.sent if _is(seen, one.chat_id, one.message_id))

    def _message(self, seen: Seen) -> dict[str, Any]:
        return self._telegram.messages[int(seen.place.chat), int(seen.id)]


class OnSlack(Platform):
    """By Socket Mode."""

    name = "slack"

    def __init__(self, emulator: SlackEmulator) -> None:
        self._slack = emulator

    def use(self, site: Site, **account: object) -> None:
        site.use_slack(self._slack, **account)

    def person(self, name: str) -> str:
        return self._slack.user(name).id

    def direct(self, person: str) -> Place:
        return Place(self._slack.dm(self._slack.users[person]).id)

    def group(self, title: str) -> Place:
        return Place(self._slack.channel(title.lower()).id)

    def thread(self, group: Place, person: str) -> Place:
        channel = self._slack.channels[group.chat]
        return Place(group.chat, self._slack.keep(channel, {"user": person, "text": "Plans"})["ts"])

    def say(self, place: Place, person: str, text: str) -> Place:
        channel = self._slack.channels[place.chat]
        said = text.replace("/", "!", 1) if text.startswith("/") else text
        if channel.kind != "im":
            said = f"{self._slack.at} {said}"
        within = {"thread_ts": place.thread} if place.thread else {}
        kept = self._slack.say(channel, self._slack.users[person], said, **within)
        return place if channel.kind == "im" or place.thread else Place(place.chat, kept["ts"])

    def reply(self, seen: Seen, person: str, text: str) -> None:
        channel = self._slack.channels[seen.place.chat]
        self._slack.say(channel, self._slack.users[person], text, thread_ts=seen.place.thread or seen.id)

    def say_as_bot(self, place: Place, text: str) -> None:
        self.say(place, self._slack.user("Robot", is_bot=True).id, text)

    def press(self, seen: Seen, label: str, person: str) -> None:
        self._slack.press(self._sent(seen), label, self._slack.users[person])

    def spoof(self, seen: Seen, person: str) -> None:
        self._slack.press_data(self._sent(seen), "hart-0", "never-was", self._slack.users[person])

    def seen(self) -> list[Seen]:
        return [
            Seen(sent.ts, Place(sent.channel, sent.thread), sent.text, tuple(b[0] for b in sent.buttons))
            for sent in self._slack.sent
        ]

    def buttons_now(self, seen: Seen) -> tuple[str, ...]:
        blocks = self._message(seen).get("blocks", [])
        rows = [block["elements"] for block in blocks if block["type"] == "actions"]
        return tuple(button["text"]["text"] for row in rows for button in row)

    def text_now(self, seen: Seen) -> str:
        message = self._message(seen)
        return words_in(message["blocks"]) if "blocks" in message else str(message["text"])

    def is_heard(self) -> bool:
        return all(one.settled for one in self._slack.deliveries.envelopes)

    def listeners(self) -> int:
        return len(self._slack.sockets)

    def hold_edits(self) -> None:
        self._slack.faults.add("chat.update", slack_faults.Hang(), None)

    def offline(self) -> AbstractAsyncContextManager[None]:
        return self._slack.offline()

    async def wait_for(self, predicate: Callable[[], Any], timeout: float = PATIENCE) -> Any:
        return await self._slack.wait_for(predicate, timeout)

    def _sent(self, seen: Seen) -> Any:
        return next(one for one in self._slack.sent if _is(seen, one.channel, one.ts))

    def _message(self, seen: Seen) -> dict[str, Any]:
        return self._slack.messages[seen.place.chat][seen.id]


class OnFeishu(Platform):
    """By the long connection."""

    name = "feishu"

    def __init__(self, emulator: FeishuEmulator) -> None:
        self._feishu = emulator

    def use(self, site: Site, **account: object) -> None:
        site.use_feishu(self._feishu, **account)

    def person(self, name: str) -> str:
        return self._feishu.user(name).open_id

    def direct(self, person: str) -> Place:
        return Place(self._feishu.p2p(self._user(person)).id)

    def group(self, title: str) -> Place:
        return Place(self._feishu.group(title).id)

    def thread(self, group: Place, person: str) -> Place:
        chat = self._feishu.chats[group.chat]
        root = self._feishu.post(chat, self._user(person), "text", {"text": "Plans"}, push=False)
        return Place(group.chat, root.id)

    def say(self, place: Place, person: str, text: str) -> Place:
        chat = self._feishu.chats[place.chat]
        said = text if chat.type == "p2p" else f"@{self._feishu.bot.name} {text}"
        within = {"reply_to": place.thread, "in_thread": True} if place.thread else {}
        self._feishu.say(chat, self._user(person), said, **within)
        return place

    def reply(self, seen: Seen, person: str, text: str) -> None:
        chat = self._feishu.chats[seen.place.chat]
        self._feishu.say(chat, self._user(person), text, reply_to=seen.id)

    def say_as_bot(self, place: Place, text: str) -> None:
        chat, robot = self._feishu.chats[place.chat], self._feishu.user("Robot")
        said, mentions = self._feishu.mark(f"@{self._feishu.bot.name} {text}")
        message = self._feishu.post(chat, robot, "text", {"text": said}, mentions=mentions, push=False)
        self._feishu.push_message(message, "app")

    def press(self, seen: Seen, label: str, person: str) -> None:
        self._feishu.press(seen.id, self._user(person), label)

    def spoof(self, seen: Seen, person: str) -> None:
        self._feishu.use_card(seen.id, self._user(person), {"hart": "never-was"})

    def seen(self) -> list[Seen]:
        found = []
        for sent in self._feishu.sent:
            root = self._feishu.messages[sent.message_id].root_id if sent.thread_id else None
            labels = tuple(_labels(sent.content))
            found.append(Seen(sent.message_id, Place(sent.chat_id, root), sent.text, labels))
        return found

    def buttons_now(self, seen: Seen) -> tuple[str, ...]:
        return tuple(_labels(self._content(seen)))

    def text_now(self, seen: Seen) -> str:
        return words_of(self._feishu.messages[seen.id].kind, self._content(seen))

    def is_heard(self) -> bool:
        return all(one.acked or one.lost for one in self._feishu.deliveries)

    def listeners(self) -> int:
        return len(self._feishu.connections)

    def hold_edits(self) -> None:
        self._feishu.faults.add("patch_card", feishu_faults.Hang(), None)

    def offline(self) -> AbstractAsyncContextManager[None]:
        return self._feishu.offline()

    async def wait_for(self, predicate: Callable[[], Any], timeout: float = PATIENCE) -> Any:
        return await self._feishu.wait_for(predicate, timeout)

    def _user(self, open_id: str) -> Any:
        return next(user for user in self._feishu.users.values() if user.open_id == open_id)

    def _content(self, seen: Seen) -> dict[str, Any]:
        content: dict[str, Any] = json.loads(self._feishu.messages[seen.id].content)
        return content


def _is(seen: Seen, chat: object, message: object) -> bool:
    return (seen.place.chat, seen.id) == (str(chat), str(message))


def _labels(card: dict[str, Any]) -> list[str]:
    elements = card.get("body", {}).get("elements", [])
    return [one["text"]["content"] for one in elements if one["tag"] == "button"]
