"""What people do in the emulated Slack, and the events that tell the app of it."""

import time
import uuid
from typing import Any

from tests.emulators.slack.delivery import Deliveries, Envelope
from tests.emulators.slack.methods import file_json
from tests.emulators.slack.world import APP, TEAM, Channel, Json, ResponseUrl, Sent, StoredFile, User, World

VERIFICATION = "Zq7verificationtoken0123"


class PeopledWorld(World):
    """A world in which people act."""

    def __init__(self) -> None:
        super().__init__()
        self.deliveries = Deliveries(self.notify)

    @property
    def origin(self) -> str:
        """Address of the emulator."""
        raise NotImplementedError

    @property
    def at(self) -> str:
        """How a text mentions the bot."""
        return f"<@{self.bot.id}>"

    def say(self, channel: Channel, user: User, text: str, **message: Any) -> Json:
        """A person writes.

        Args:
            channel: Where.
            user: Who.
            text: In Slack's own notation, see :attr:`at`.
            message: Further fields, such as ``thread_ts``, ``subtype`` or ``files``.
        """
        files: list[StoredFile] = message.pop("files", [])
        content = {"user": user.id, "text": text, "client_msg_id": str(uuid.uuid4()), **message}
        if user.bot_id is not None:
            content |= {"bot_id": user.bot_id, "app_id": "A07ANOTHER"}
        if files:
            content |= {"subtype": "file_share", "files": [file_json(file, self.origin) for file in files]}
        channel.members.add(user.id)
        kept = self.keep(channel, content)
        self.announce(channel, kept)
        return kept

    def send_file(
        self,
        channel: Channel,
        user: User,
        name: str,
        data: bytes,
        *,
        text: str = "",
        mime: str = "application/octet-stream",
        size: int | None = None,
        **message: Any,
    ) -> StoredFile:
        """A person uploads a file; ``size`` is what Slack claims of it."""
        file = self.store_file(
            name, data, mime, user.id, size=len(data) if size is None else size, shared=True
        )
        self.say(channel, user, text, files=[file], **message)
        return file

    def edit(self, channel: Channel, message: Json, text: str) -> None:
        """A person changes a message; an edit that adds a mention also is an ``app_mention``."""
        before = dict(message)
        message |= {"text": text, "edited": {"user": message["user"], "ts": self.new_ts()}}
        hidden = {
            "subtype": "message_changed",
            "hidden": True,
            "message": message,
            "previous_message": before,
        }
        self.push_event({"type": "message", **self._place(channel), **hidden, "ts": self.new_ts()})
        if self.at in text and channel.kind != "im":
            self.push_event({**message, "type": "app_mention", "channel": channel.id})

    def command(self, channel: Channel, user: User, command: str, text: str = "") -> Envelope:
        """A person uses a slash command. It leaves no message."""
        return self.push(
            "slash_commands",
            {
                "token": VERIFICATION,
                "team_id": TEAM,
                "team_domain": "hart-test",
                "channel_id": channel.id,
                "channel_name": "directmessage" if channel.kind == "im" else channel.name,
                "user_id": user.id,
                "user_name": user.name.lower(),
                "command": command,
                "text": text,
                "api_app_id": APP,
                "is_enterprise_install": "false",
                "response_url": self._response_url("commands", ResponseUrl(channel.id, user.id, time.time())),
                "trigger_id": f"{time.time_ns()}.{next(self._ts)}.{uuid.uuid4().hex}",
            },
        )

    def press(self, sent: Sent, label: str, user: User) -> Envelope:
        """A person presses a button below a message of the bot.

        Raises:
            StopIteration: There is no such button.
        """
        action_id, value = next((name, value) for text, name, value in sent.buttons if text == label)
        return self.press_data(sent, action_id, value, user)

    def press_data(self, sent: Sent, action_id: str, value: str, user: User, **payload: Any) -> Envelope:
        """The same with an id and a value of one's own; ``payload`` changes what is around them."""
        channel = self.channels[sent.channel]
        message = self.messages[channel.id].get(sent.ts)
        shown = message or self.ephemeral[sent.ts]
        container: Json = {
            "type": "message",
            "message_ts": sent.ts,
            "channel_id": channel.id,
            "is_ephemeral": message is None,
        }
        container |= {"thread_ts": shown["thread_ts"]} if "thread_ts" in shown else {}
        way = ResponseUrl(channel.id, user.id, time.time(), replaces=shown)
        return self.push(
            "interactive",
            {
                "type": "block_actions",
                "user": {"id": user.id, "username": user.name, "name": user.name, "team_id": TEAM},
                "api_app_id": APP,
                "token": VERIFICATION,
                "container": container,
                "trigger_id": f"{time.time_ns()}.{next(self._ts)}.{uuid.uuid4().hex}",
                "team": {"id": TEAM, "domain": "hart-test"},
                "enterprise": None,
                "is_enterprise_install": False,
                "channel": {"id": channel.id, "name": channel.name},
                **({"message": shown} if message else {}),
                "response_url": self._response_url("actions", way),
                "actions": [
                    {
                        "type": "button",
                        "action_id": action_id,
                        "block_id": "b1x",
                        "text": {"type": "plain_text", "text": "?", "emoji": True},
                        "value": value,
                        "action_ts": self.new_ts(),
                    }
                ],
                **payload,
            },
        )

    def _response_url(self, kind: str, way: ResponseUrl) -> str:
        path = f"/{kind}/{TEAM}/{next(self._numbers)}/secretpath"
        self.response_urls[path] = way
        return self.origin + path

    def announce(self, channel: Channel, message: Json) -> None:
        """Tell the app of a message, if it is in the channel; of a mention twice, in no sure order."""
        if self.bot.id not in channel.members:
            return
        event = {**message, **self._place(channel), "event_ts": message["ts"]}
        mention = self.at in message.get("text", "") and channel.kind != "im" and "files" not in message
        if mention and message.get("user") != self.bot.id:
            named = {key: value for key, value in event.items() if key != "channel_type"}
            twice = [event, {**named, "type": "app_mention"}]
            for one in twice if next(self._numbers) % 2 else reversed(twice):
                self.push_event(one)
        else:
            self.push_event(event)

    def push_event(self, event: Any, **payload: Any) -> Envelope:
        """Put an event into the queue; ``payload`` changes what is around it."""
        granted = {"enterprise_id": None, "team_id": TEAM, "user_id": self.bot.id, "is_bot": True}
        return self.push(
            "events_api",
            {
                "token": VERIFICATION,
                "team_id": TEAM,
                "context_team_id": TEAM,
                "api_app_id": APP,
                "event": event,
                "type": "event_callback",
                "event_id": self.new_id("Ev"),
                "event_time": int(time.time()),
                "authorizations": [{**granted, "is_enterprise_install": False}],
                "is_ext_shared_channel": False,
                **payload,
            },
        )

    def push(self, kind: str, payload: Any) -> Envelope:
        """Put anything into the queue."""
        envelope = self.deliveries.push(kind, payload)
        self.notify()
        return envelope

    async def wait_until_heard(self, timeout: float = 10) -> None:
        """Wait until all that was pushed is confirmed or given up."""
        await self.wait_for(lambda: all(one.settled for one in self.deliveries.envelopes), timeout)

    def _place(self, channel: Channel) -> Json:
        return {"channel": channel.id, "channel_type": channel.kind}
