"""Telegram on the bench."""

import asyncio
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any

from channels.channel import Channel
from channels.telegram.channel import TelegramChannel
from channels.text import utf16_length
from tests.contract.bench import Place, PlatformBench, Seen
from tests.emulators.telegram import Chat, Hang, TelegramEmulator, bad_gateway, too_many
from tests.hart import Site


class TelegramBench(PlatformBench):
    """A bot that polls."""

    message_limit = 4096
    upload_limit = 50 * 1024 * 1024

    async def open(self) -> None:
        self._telegram = TelegramEmulator()
        await self._telegram.__aenter__()
        self._ann = self._telegram.user(501, "Ann Lee")
        self._cid = self._telegram.user(503, "Cid", "cid_bot", is_bot=True)

    async def close(self) -> None:
        await self._telegram.__aexit__(None, None, None)

    def make(self, **settings: Any) -> Channel:
        defaults: dict[str, Any] = {
            "account": "main",
            "token": self._telegram.token,
            "base_url": self._telegram.base_url,
            "poll_seconds": 5,
            "response_seconds": 10.0,
            "limits": (),
            "pause": self.pause,
            "chance": lambda: 1.0,
        }
        return TelegramChannel(**(defaults | settings))

    def make_watchful(self) -> Channel:
        return self.build(poll_seconds=1, response_seconds=0.3)

    def notify(self) -> None:
        self._telegram.notify()

    def listeners(self) -> int:
        return self._telegram.polling

    def emulating(self) -> set["asyncio.Task[Any]"]:
        return self._telegram.serving()

    def direct(self) -> Place:
        return Place(str(self._telegram.private_chat(self._ann).id))

    def another_chat(self) -> Place:
        return Place(str(self._telegram.private_chat(self._telegram.user(502, "Bo")).id))

    def group(self) -> Place:
        return Place(str(self._telegram.group("Ops").id))

    def thread(self) -> Place:
        forum = self._telegram.group("Forum", forum=True)
        return Place(str(forum.id), str(self._telegram.topic(forum, "Releases")))

    def say(self, place: Place, text: str, *, mention: bool = False) -> str:
        said = f"@{self._telegram.bot.username} {text}" if mention else text
        message = self._telegram.say(self._chat(place), self._ann, said, thread=_topic(place))
        return str(message["message_id"])

    def send_file(self, place: Place, name: str, data: bytes, text: str = "") -> None:
        caption: dict[str, Any] = {"caption": text} if text else {}
        self._telegram.send_document(
            self._chat(place), self._ann, name, data, thread=_topic(place), **caption
        )

    def say_as_bot(self, place: Place, text: str) -> None:
        self._telegram.say(self._chat(place), self._cid, f"@{self._telegram.bot.username} {text}")

    def edit(self, place: Place, message_id: str, text: str) -> None:
        message = self._telegram.messages[int(place.chat), int(message_id)]
        self._telegram.push_raw({"edited_message": {**message, "text": text, "edit_date": message["date"]}})

    def deliver_again(self) -> None:
        """Under new update ids: Telegram counts anew after a quiet week."""
        for message in list(self._telegram.messages.values()):
            if message["from"]["id"] == self._ann.id:
                self._telegram.push_raw({"message": message})

    def garbage(self) -> int:
        private = {"id": 501, "type": "private"}
        malformed: tuple[Any, ...] = (
            {"message": {"message_id": "seven", "chat": private}},
            {"message": {}},
            {"message": None},
            {"message": {"message_id": 1, "chat": private, "date": 10**30}},
            {"message": {"message_id": 1, "chat": {"id": 10**400, "type": "private"}}},
        )
        for update in (*malformed, {"brand_new_update": {"x": [1]}}):
            self._telegram.push_raw(update)
        shapeless: tuple[Any, ...] = ("a string", 7, None, {"message": {}})
        for update in shapeless:
            self._telegram.push_raw(update, stamp=False)
        return len(malformed) + len(shapeless)

    def lose_acks(self, count: int) -> None:
        self._telegram.ignored_acks = count

    def hurry(self) -> None:
        """Telegram has no such patience: what is not confirmed is in the next answer."""

    async def outwait(self) -> None:
        """Leave the bot the time in which it would poll again, which is how it acknowledges."""
        polls = self._telegram.count("getUpdates")
        with suppress(TimeoutError):
            await self._telegram.wait_for(lambda: self._telegram.count("getUpdates") > polls, 0.3)

    def is_acked(self) -> bool:
        return not self._telegram.updates

    def seen(self) -> list[Seen]:
        return [
            Seen(
                id=str(sent.message_id),
                place=Place(str(sent.chat_id), None if sent.thread is None else str(sent.thread)),
                text=sent.text,
                file_name=sent.file_name,
                data=sent.document,
                buttons=tuple(label for label, _ in sent.buttons),
            )
            for sent in self._telegram.sent
        ]

    def configure(self, site: Site) -> None:
        site.use_telegram(self._telegram)

    def measure(self, seen: Seen) -> int:
        return utf16_length(seen.text)

    def press(self, seen: Seen, label: str) -> None:
        (sent,) = (one for one in self._telegram.sent if str(one.message_id) == seen.id)
        self._telegram.press(sent, label, self._ann)

    def is_busy(self, place: Place, message_id: str) -> bool:
        """Telegram takes "typing" away when a message arrives."""
        here = [call.method for call in self._telegram.calls if str(call.params.get("chat_id")) == place.chat]
        return bool(here) and here[-1] == "sendChatAction"

    def limit_posts(self, seconds: int) -> None:
        self._telegram.faults.add("sendMessage", too_many(seconds))

    def limit_listening(self, seconds: int) -> None:
        self._telegram.faults.add("getUpdates", too_many(seconds))

    def refuse_listening(self) -> None:
        self._telegram.faults.add("getUpdates", bad_gateway(), None)

    def offline(self) -> AbstractAsyncContextManager[None]:
        return self._telegram.offline()

    async def cut(self) -> None:
        self._telegram.cut()

    async def hang_up(self) -> None:
        """The nearest thing that a poll has: a gateway ends it."""
        self._telegram.faults.add("getUpdates", bad_gateway(504))
        self._telegram.cut()

    async def silence(self) -> None:
        self._telegram.faults.add("getUpdates", Hang())
        self._telegram.cut()

    def _chat(self, place: Place) -> Chat:
        return self._telegram.chats[int(place.chat)]


def _topic(place: Place) -> int | None:
    return None if place.thread is None else int(place.thread)
