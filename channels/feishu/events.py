"""The few fields of an event that Hart reads, and nothing else.

Everything else may be missing, new or wrong without harm. Types are strict: a number is not taken
from a string. Names and meanings are those of the open platform's document on receiving messages
(event ``im.message.receive_v1``, schema 2.0).
"""

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

Id = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[A-Za-z0-9_-]+$")]
"""An id; it becomes part of paths, so nothing else may be in it."""

MaybeId = Annotated[Id | None, BeforeValidator(lambda value: None if value == "" else value)]
"""An id that may be missing or empty."""


class _Model(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="ignore")


class Header(_Model):
    """What every event has."""

    event_id: str = ""
    event_type: str


class Envelope(_Model):
    """An event of any type."""

    header: Header
    event: object = None


class UserIds(_Model):
    """A person's ids; ``open_id`` is theirs towards our app."""

    open_id: MaybeId = None
    user_id: MaybeId = None


class EventSender(_Model):
    """Who wrote; ``sender_type`` is ``user`` for people."""

    sender_id: UserIds | None = None
    sender_type: str = ""


class Mention(_Model):
    """Who is meant by a placeholder such as ``@_user_1`` in the content."""

    key: str
    id: UserIds | None = None
    name: str = ""


class EventMessage(_Model):
    """A message. ``content`` is JSON; what it holds depends on ``message_type``."""

    message_id: Id
    chat_id: Id
    chat_type: str
    message_type: str
    content: str = ""
    root_id: MaybeId = None
    parent_id: MaybeId = None
    thread_id: MaybeId = None
    create_time: str = ""
    mentions: list[Mention] | None = None


class MessageReceived(_Model):
    """The event ``im.message.receive_v1``."""

    sender: EventSender
    message: EventMessage


class CardAction(_Model):
    """What was done on a card; ``value`` is what its maker gave the button."""

    value: object = None


class CardContext(_Model):
    """The message that is the card."""

    open_message_id: Id
    open_chat_id: Id


class CardUsed(_Model):
    """The callback ``card.action.trigger``."""

    operator: UserIds
    action: CardAction
    context: CardContext


class FoundBody(_Model):
    """A message's content, as :class:`FoundMessage` has it."""

    content: str = ""


class FoundSender(_Model):
    """Who wrote; ``id`` is an app id where ``sender_type`` is ``app``."""

    id: str = ""
    sender_type: str = ""


class FoundMessage(_Model):
    """A message as the platform tells it when asked (``im/v1/messages/:message_id``)."""

    message_id: Id
    msg_type: str = ""
    sender: FoundSender = FoundSender()
    body: FoundBody = FoundBody()
    upper_message_id: MaybeId = None
    mentions: list[object] | None = None
