"""The few fields of Slack's events that Hart reads, and nothing else.

Everything else may be missing, new or wrong without harm. Types are strict. Field names and meanings
are those of Slack's documents ("message event", "Slash commands", "block_actions", "file object").
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

ChannelId = Annotated[str, Field(pattern=r"^[CDG][A-Z0-9]{1,30}$")]
UserId = Annotated[str, Field(pattern=r"^[UW][A-Z0-9]{1,30}$")]
Timestamp = Annotated[str, Field(pattern=r"^[0-9]{1,11}\.[0-9]{1,9}$")]
"""Seconds since the epoch with a counter behind the point; names a message within its channel."""
ResponseUrl = Annotated[str, Field(max_length=500)]
"""Takes five answers within 30 minutes, without a token (Slack docs, "Handling user interaction")."""
Count = Annotated[int, Field(ge=0, lt=2**63)]


class _Model(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="ignore")


class File(_Model):
    """A file that came with a message. Of one from a shared channel only the id is given."""

    id: Annotated[str, Field(pattern=r"^F[A-Z0-9]{1,30}$")]
    name: str | None = None
    title: str | None = None
    mimetype: str | None = None
    size: Count | None = None
    mode: str | None = None


class Forwarded(_Model):
    """An "attachment" of the old kind; a forwarded message comes as one with ``is_share``."""

    is_share: bool = False
    author_name: str | None = None
    text: str | None = None


class MessageEvent(_Model):
    """A ``message`` or ``app_mention`` event."""

    type: str
    channel: ChannelId
    ts: Timestamp
    user: str | None = None
    text: str | None = None
    subtype: str | None = None
    bot_id: str | None = None
    channel_type: str | None = None
    thread_ts: Timestamp | None = None
    parent_user_id: str | None = None
    files: list[File] = []
    attachments: list[Forwarded] = []


class SlashCommand(_Model):
    """A slash command. It is no message: it has no place in the chat and no timestamp."""

    command: str
    text: str = ""
    user_id: UserId
    user_name: str = ""
    channel_id: ChannelId
    trigger_id: Annotated[str, Field(min_length=1, max_length=200)]
    response_url: ResponseUrl | None = None


class Presser(_Model):
    """Who pressed a button."""

    id: UserId
    username: str = ""
    name: str = ""


class PressedButton(_Model):
    """A button, with what its maker gave it."""

    action_id: str
    value: str | None = None


class Container(_Model):
    """Where a button is; ``thread_ts`` if that is in a thread."""

    channel_id: ChannelId
    message_ts: Timestamp
    thread_ts: Timestamp | None = None


class ShownMessage(_Model):
    """The message with the button. Of one that only one person sees there is none."""

    thread_ts: Timestamp | None = None
    bot_id: str | None = None


class BlockActions(_Model):
    """Something was done to elements of a message."""

    user: Presser
    container: Container
    message: ShownMessage | None = None
    actions: Annotated[list[PressedButton], Field(min_length=1)]
    trigger_id: Annotated[str, Field(min_length=1, max_length=200)]
    response_url: ResponseUrl | None = None
