"""Feishu on the bench."""

import asyncio
import json
from contextlib import AbstractAsyncContextManager
from typing import Any

from channels.channel import Channel
from channels.feishu.channel import FeishuChannel
from channels.feishu.transport import Timing
from tests.contract.bench import Place, PlatformBench, Seen
from tests.emulators.feishu import FeishuEmulator, Sent, bad_gateway, too_many
from tests.hart import Site


class FeishuBench(PlatformBench):
    """An app with a long connection. A thread is named by the message that began it."""

    message_limit = 30 * 1024
    upload_limit = 30 * 1024 * 1024

    async def open(self) -> None:
        self._feishu = FeishuEmulator()
        await self._feishu.__aenter__()
        self._ann = self._feishu.user("Ann Lee")

    async def close(self) -> None:
        await self._feishu.__aexit__(None, None, None)

    def make(self, **settings: Any) -> Channel:
        defaults: dict[str, Any] = {
            "account": "main",
            "app_id": self._feishu.app_id,
            "app_secret": self._feishu.app_secret,
            "base_url": self._feishu.base_url,
            "response_seconds": 10.0,
            "limits": (),
            "pause": self.pause,
            "chance": lambda: 1.0,
        }
        return FeishuChannel(**(defaults | settings))

    def make_watchful(self) -> Channel:
        return self.build(timing=Timing(ping=0.05, pong=0.3))

    def notify(self) -> None:
        self._feishu.notify()

    def listeners(self) -> int:
        return sum(not connection.silent for connection in self._feishu.connections)

    def emulating(self) -> set["asyncio.Task[Any]"]:
        return self._feishu.delivering()

    def direct(self) -> Place:
        return Place(self._feishu.p2p(self._ann).id)

    def another_chat(self) -> Place:
        return Place(self._feishu.p2p(self._feishu.user("Bo")).id)

    def group(self) -> Place:
        return Place(self._feishu.group("Ops").id)

    def thread(self) -> Place:
        group = self._feishu.group("Ops")
        root = self._feishu.post(group, self._ann, "text", {"text": "Releases"}, push=False)
        self._feishu.post(
            group, self._ann, "text", {"text": "1.0"}, reply_to=root.id, in_thread=True, push=False
        )
        return Place(group.id, root.id)

    def say(self, place: Place, text: str, *, mention: bool = False) -> str:
        said = f"@{self._feishu.bot.name} {text}" if mention else text
        return self._feishu.say(self._feishu.chats[place.chat], self._ann, said, **_in(place)).id

    def send_file(self, place: Place, name: str, data: bytes, text: str = "") -> None:
        if text:
            self.say(place, text)
        self._feishu.send_file(self._feishu.chats[place.chat], self._ann, name, data, **_in(place))

    def say_as_bot(self, place: Place, text: str) -> None:
        marked, mentions = self._feishu.mark(f"@{self._feishu.bot.name} {text}")
        chat = self._feishu.chats[place.chat]
        message = self._feishu.post(chat, self._ann, "text", {"text": marked}, mentions=mentions, push=False)
        self._feishu.push_message(message, "app")

    def edit(self, place: Place, message_id: str, text: str) -> None:
        changed = {"message_id": message_id, "chat_id": place.chat, "content": json.dumps({"text": text})}
        self._feishu.push("im.message.updated_v1", {"message": changed})

    def deliver_again(self) -> None:
        for delivery in list(self._feishu.deliveries):
            self._feishu.push_raw(delivery.payload, delivery.event_id)

    def garbage(self) -> int:
        good = {"message_id": "om_1", "chat_id": "oc_1", "chat_type": "p2p", "message_type": "text"}
        person = {"sender_type": "user", "sender_id": {"open_id": "ou_1"}}
        malformed: tuple[Any, ...] = (
            {"sender": person, "message": good | {"message_id": 7, "content": "{}"}},
            {"sender": person, "message": good | {"message_id": "../x", "content": "{}"}},
            {"sender": person, "message": good | {"content": "not json"}},
            {"sender": person, "message": good | {"content": '{"text": 5}'}},
            {"sender": {"sender_type": "user"}, "message": good | {"content": '{"text": "x"}'}},
            None,
            [],
        )
        for event in malformed:
            self._feishu.push("im.message.receive_v1", event)
        shapeless = (b"", b"{", b"\xff\x00", b"[" * 50_000, b'{"header": 1}', b"7")
        for payload in shapeless:
            self._feishu.push_raw(payload)
        for kind in ("im.message.message_read_v1", "im.message.reaction.created_v1", "brand.new_v9"):
            self._feishu.push(kind, {"anything": [1]})
        return len(malformed) + len(shapeless)

    def lose_acks(self, count: int) -> None:
        self._feishu.swallow_acks = count

    def hurry(self) -> None:
        self._feishu.ack_seconds = 0.3
        self._feishu.redelivery = (0.05, 0.3, 1.0, 3.0)

    async def outwait(self) -> None:
        await self._feishu.wait_for(lambda: 0 in self._feishu.deliveries[-1].codes)

    def is_acked(self) -> bool:
        assert not any(delivery.lost for delivery in self._feishu.deliveries)
        return all(delivery.acked for delivery in self._feishu.deliveries)

    def seen(self) -> list[Seen]:
        return [
            Seen(
                id=sent.message_id,
                place=Place(sent.chat_id, self._root(sent)),
                text=sent.text,
                file_name=sent.file_name,
                data=sent.data,
                buttons=_labels(sent.content),
            )
            for sent in self._feishu.sent
        ]

    def configure(self, site: Site) -> None:
        site.use_feishu(self._feishu)

    def measure(self, seen: Seen) -> int:
        return len(self._feishu.messages[seen.id].content.encode())

    def press(self, seen: Seen, label: str) -> None:
        self._feishu.press(seen.id, self._ann, label)

    def is_busy(self, place: Place, message_id: str) -> bool:
        return bool(self._feishu.messages[message_id].reactions)

    def limit_posts(self, seconds: int) -> None:
        self._feishu.faults.add("create", too_many(seconds))

    def limit_listening(self, seconds: int) -> None:
        self._feishu.faults.add("endpoint", too_many(seconds))

    def refuse_listening(self) -> None:
        self._feishu.faults.add("endpoint", bad_gateway(), None)

    def offline(self) -> AbstractAsyncContextManager[None]:
        return self._feishu.offline()

    async def cut(self) -> None:
        self._feishu.kill()

    async def hang_up(self) -> None:
        await self._feishu.hang_up()

    async def silence(self) -> None:
        self._feishu.half_open()

    def _root(self, sent: Sent) -> str | None:
        return self._feishu.messages[sent.message_id].root_id if sent.thread_id is not None else None


def _in(place: Place) -> dict[str, Any]:
    return {} if place.thread is None else {"reply_to": place.thread, "in_thread": True}


def _labels(content: dict[str, Any]) -> tuple[str, ...]:
    elements = content.get("body", {}).get("elements", [])
    return tuple(element["text"]["content"] for element in elements if element["tag"] == "button")
