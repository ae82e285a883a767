"""From a raw event to a message for Hart. Pure, and fit for anything a server may send."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from channels.messages import Address, Attachment, ChatKind, InboundMessage, Sender
from channels.slack.events import BlockActions, File, MessageEvent, SlashCommand
from channels.slack.mrkdwn import mentioned, read_text
from channels.slack.render import BUTTON_PREFIX

CHANNEL = "slack"

_ModelT = TypeVar("_ModelT", bound=BaseModel)

WRITTEN_BY_PEOPLE = (None, "file_share", "me_message", "thread_broadcast")
"""Subtypes of messages that a person wrote. Others report edits, joins, bots and the like."""

MESSAGE_EVENTS = ("message", "app_mention")
"""A mention arrives as both; they are one message."""

HELP = "/help"

_NAME_LIMIT = 64
_FILE_NAME_LIMIT = 255
_FORWARD_LIMIT = 20_000
_ACTION_LIMIT = 200
_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")
_USER = re.compile(r"[UW][A-Z0-9]{1,30}")
_CHANNEL_ID = re.compile(r"[CDG][A-Z0-9]{1,30}")
_SLACKBOT = "USLACKBOT"
_GONE = frozenset({"tombstone", "hidden_by_limit"})


@dataclass(frozen=True, slots=True)
class BotIdentity:
    """Who we are, as ``auth.test`` says.

    Args:
        user_id: Of our bot user.
        bot_id: Of our bot, which posts carry.
        team_id: Of the workspace.
    """

    user_id: str
    bot_id: str
    team_id: str


@dataclass(frozen=True, slots=True)
class Ignored:
    """An event that is fine but not for us, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Known:
    """What had to be looked up about an event.

    Args:
        names: Names of the sender and of those mentioned, by id; some may be missing.
        in_our_thread: True when it is written in a thread that we have written in.
    """

    names: Mapping[str, str]
    in_our_thread: bool = False


class MalformedEventError(ValueError):
    """An event that is not what Slack documents. The text holds nothing of its content."""


def read_event(payload: object, bot: BotIdentity) -> MessageEvent | Ignored:
    """The message in the payload of an event, if a person wrote it and it is for this workspace.

    Raises:
        MalformedEventError: It cannot be understood.
    """
    if not isinstance(payload, dict):
        raise MalformedEventError("a payload must be an object")
    raw = payload.get("event")
    if not isinstance(raw, dict):
        raise MalformedEventError("event is missing or no object")
    if raw.get("type") not in MESSAGE_EVENTS:
        return Ignored("not a message")
    if raw.get("subtype") not in WRITTEN_BY_PEOPLE:
        return Ignored("not written by a person")
    if not _is_ours(payload, bot):
        return Ignored("another workspace's")
    event = _validated(MessageEvent, raw)
    if event.bot_id or event.user in (bot.user_id, _SLACKBOT):
        return Ignored("written by a bot")
    if event.user is None or _USER.fullmatch(event.user) is None:
        raise MalformedEventError("user is missing or no user id")
    return event


def read_command(payload: object) -> SlashCommand:
    """The slash command in a payload.

    Raises:
        MalformedEventError: It cannot be understood.
    """
    return _validated(SlashCommand, payload)


def read_press(payload: object) -> BlockActions:
    """The press of a button in a payload.

    Raises:
        MalformedEventError: It cannot be understood.
    """
    return _validated(BlockActions, payload)


def people_in(event: MessageEvent, bot: BotIdentity) -> frozenset[str]:
    """Ids of those whose names an event needs."""
    sender = frozenset({event.user}) if event.user else frozenset[str]()
    return (sender | mentioned(event.text or "")) - {bot.user_id}


def needs_thread_lookup(event: MessageEvent, bot: BotIdentity) -> bool:
    """True when only the thread can tell whether the message is for us."""
    return (
        event.thread_ts is not None
        and event.thread_ts != event.ts
        and not _is_direct(event)
        and event.parent_user_id != bot.user_id
        and bot.user_id not in mentioned(event.text or "")
    )


def normalize(event: MessageEvent, account: str, bot: BotIdentity, known: Known) -> InboundMessage | Ignored:
    """Make a message of an event.

    In a direct chat the thread is the one that the person wrote in, if any, so that a chat is one
    conversation. Elsewhere it is the message's own when it is in none: the answer opens a thread.
    """
    read = read_text(event.text or "", bot.user_id, known.names)
    forwarded = _forwarded(event)
    text = "\n\n".join(part for part in (read.text, forwarded) if part)
    attachments = tuple(_attachment(file) for file in event.files if file.mode not in _GONE)
    if not text and not attachments:
        return Ignored("neither text nor a file")
    direct = _is_direct(event)
    in_thread = event.thread_ts is not None and event.thread_ts != event.ts
    user = event.user or ""
    return InboundMessage(
        address=Address(
            CHANNEL, account, event.channel, event.thread_ts if direct else event.thread_ts or event.ts
        ),
        chat_kind=ChatKind.DIRECT if direct else ChatKind.GROUP,
        sender=Sender(user, person_name(known.names.get(user, ""))),
        message_id=event.ts,
        dedupe_key=f"{CHANNEL}:{account}:{bot.team_id}:message:{event.channel}:{event.ts}",
        text=_storable(text),
        attachments=attachments,
        addressed=direct
        or read.addressed
        or known.in_our_thread
        or (in_thread and event.parent_user_id == bot.user_id),
        reply_to=event.thread_ts if in_thread else None,
        sent_at=datetime.fromtimestamp(int(event.ts.partition(".")[0]), UTC),
    )


def normalize_command(command: SlashCommand, account: str, bot: BotIdentity) -> InboundMessage:
    """Make a message of a slash command: ``/hart new ideas`` becomes ``/new ideas``."""
    words = _storable(command.text).strip().lstrip("/!")
    return InboundMessage(
        address=Address(CHANNEL, account, command.channel_id),
        chat_kind=ChatKind.DIRECT if command.channel_id.startswith("D") else ChatKind.GROUP,
        sender=Sender(command.user_id, person_name(command.user_name)),
        message_id=command.trigger_id,
        dedupe_key=f"{CHANNEL}:{account}:{bot.team_id}:command:{command.trigger_id}",
        text=f"/{words}" if words else HELP,
        addressed=True,
        reply_via=_way_back(command.response_url),
    )


def normalize_press(press: BlockActions, account: str, bot: BotIdentity) -> InboundMessage | Ignored:
    """Make a message of the press of a button. The thread is the one that the message was posted to."""
    pressed, place = press.actions[0], press.container
    if press.message is not None and press.message.bot_id not in (None, bot.bot_id):
        return Ignored("a button of another bot")
    if not pressed.action_id.startswith(BUTTON_PREFIX) or pressed.value is None:
        return Ignored("not a button of ours")
    thread = place.thread_ts or (press.message.thread_ts if press.message else None)
    return InboundMessage(
        # A message that others answered is in the thread that it began, but was not posted there.
        address=Address(CHANNEL, account, place.channel_id, None if thread == place.message_ts else thread),
        chat_kind=ChatKind.DIRECT if place.channel_id.startswith("D") else ChatKind.GROUP,
        sender=Sender(press.user.id, person_name(press.user.name or press.user.username)),
        message_id=place.message_ts,
        dedupe_key=f"{CHANNEL}:{account}:{bot.team_id}:press:{_storable(press.trigger_id)}",
        text="",
        action=_storable(pressed.value)[:_ACTION_LIMIT],
        reply_via=_way_back(press.response_url),
    )


def origin(payload: object, account: str) -> Address:
    """As much of an event's address as can be read; an empty chat id when that is nothing."""
    body = payload if isinstance(payload, dict) else {}
    event = body.get("event")
    container = body.get("container")
    place = body.get("channel_id")
    if isinstance(event, dict):
        place = event.get("channel")
    elif isinstance(container, dict):
        place = container.get("channel_id")
    known = isinstance(place, str) and _CHANNEL_ID.fullmatch(place) is not None
    return Address(CHANNEL, account, str(place) if known else "")


def person_name(name: str) -> str:
    """A name in one short line, without what does not print."""
    shown = "".join(char if char.isprintable() else " " for char in name[: 4 * _NAME_LIMIT])
    return " ".join(shown.split())[:_NAME_LIMIT]


def _is_direct(event: MessageEvent) -> bool:
    """``app_mention`` events do not say the kind of channel; the id of a direct one begins with D."""
    return event.channel_type == "im" if event.channel_type else event.channel.startswith("D")


def _is_ours(payload: dict[object, object], bot: BotIdentity) -> bool:
    """An app in several workspaces hears all of them on one socket, whoever has opened it.

    In a channel shared with another company ``team_id`` may be theirs; the authorization is ours.
    """
    teams = [payload.get("team_id")]
    granted = payload.get("authorizations")
    if isinstance(granted, list):
        teams += [one.get("team_id") for one in granted if isinstance(one, dict)]
    named = [team for team in teams if isinstance(team, str)]
    return not named or bot.team_id in named


def _forwarded(event: MessageEvent) -> str:
    """Messages that were forwarded with this one, as quotations."""
    quotes = []
    for item in event.attachments:
        if not item.is_share or not item.text:
            continue
        said = read_text(item.text[:_FORWARD_LIMIT], "", {}).text
        quoted = "\n".join(f"> {line}" for line in said.splitlines())
        author = person_name(item.author_name or "") or "somebody"
        quotes.append(f"Forwarded from {author}:\n{quoted}")
    return "\n\n".join(quotes)


def _attachment(file: File) -> Attachment:
    name = file.name or file.title or file.id
    return Attachment(
        name=_storable(name)[:_FILE_NAME_LIMIT],
        ref=file.id,
        size=file.size,
        mime=_storable(file.mimetype)[:_FILE_NAME_LIMIT] if file.mimetype else None,
    )


def _way_back(response_url: str | None) -> str | None:
    return _storable(response_url) if response_url else None


def _storable(text: str) -> str:
    """Without what databases refuse: NUL, and halves of surrogate pairs."""
    return _UNSTORABLE.sub("\ufffd", text)


def _validated(model: type[_ModelT], raw: object) -> _ModelT:
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        raise MalformedEventError(_first_fault(error)) from None
    except RecursionError:
        raise MalformedEventError("nested too deeply") from None


def _first_fault(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"]) or "event"
    return f"{place}: {first['msg']}"
