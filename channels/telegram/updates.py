"""The few fields of a Bot API update that Hart reads, and nothing else.

Everything else may be missing, new or wrong without harm. Types are strict: a number is not taken
from a string. Field names and meanings are those of the Bot API documents ("Update", "Message").
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Int64 = Annotated[int, Field(ge=-(2**63), lt=2**63)]
Count = Annotated[int, Field(ge=0, lt=2**63)]
Degrees = Annotated[float, Field(ge=-180, le=180, allow_inf_nan=False)]
UnixSeconds = Annotated[int, Field(ge=0, lt=253402300800)]  # up to the year 9999


class _Model(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="ignore")


class User(_Model):
    """Who wrote something."""

    id: Int64
    is_bot: bool
    first_name: str = ""
    last_name: str | None = None
    username: str | None = None


class Chat(_Model):
    """Where something was written."""

    id: Int64
    type: str
    is_forum: bool = False


class Entity(_Model):
    """A marked part of a text; ``offset`` and ``length`` count UTF-16 code units."""

    type: str
    offset: Count
    length: Count
    user: User | None = None


class Photo(_Model):
    """One size of a photo."""

    file_id: str
    width: Count
    height: Count
    file_size: Count | None = None


class File(_Model):
    """A document, or audio, video and the like: they share these fields."""

    file_id: str
    file_name: str | None = None
    mime_type: str | None = None
    file_size: Count | None = None


class Sticker(_Model):
    """A sticker, of which only the emoji it stands for is read."""

    emoji: str | None = None


class Location(_Model):
    """A place on the map, in degrees."""

    latitude: Degrees
    longitude: Degrees


class Venue(_Model):
    """A place with a name. The message holds its location as well."""

    title: str
    address: str = ""


class Contact(_Model):
    """Somebody's card."""

    phone_number: str
    first_name: str
    last_name: str | None = None


class PollOption(_Model):
    """One answer of a poll."""

    text: str


class Poll(_Model):
    """A question with answers to choose from."""

    question: str
    options: list[PollOption] = []


class Dice(_Model):
    """An animated emoji with a random value."""

    emoji: str
    value: Count


class RepliedMessage(_Model):
    """The message that another one answers."""

    message_id: Count
    sender: User | None = Field(default=None, alias="from")
    forum_topic_created: object | None = None


class Message(_Model):
    """A message, or a service notice about a chat."""

    message_id: Count
    chat: Chat
    sender: User | None = Field(default=None, alias="from")
    date: UnixSeconds = 0
    text: str | None = None
    caption: str | None = None
    entities: list[Entity] = []
    caption_entities: list[Entity] = []
    message_thread_id: Count | None = None
    is_topic_message: bool = False
    is_automatic_forward: bool = False
    via_bot: User | None = None
    reply_to_message: RepliedMessage | None = None
    photo: list[Photo] = []
    document: File | None = None
    audio: File | None = None
    video: File | None = None
    video_note: File | None = None
    voice: File | None = None
    media_group_id: str | None = None
    sticker: Sticker | None = None
    location: Location | None = None
    venue: Venue | None = None
    contact: Contact | None = None
    poll: Poll | None = None
    dice: Dice | None = None


class PressedMessage(_Model):
    """The message that a pressed button belongs to; an old one may have lost all but its place."""

    message_id: Count
    chat: Chat
    message_thread_id: Count | None = None
    is_topic_message: bool = False


class CallbackQuery(_Model):
    """The press of a button (Bot API ``CallbackQuery``)."""

    id: Annotated[str, Field(min_length=1, max_length=64)]
    sender: User = Field(alias="from")
    message: PressedMessage | None = None
    data: Annotated[str, Field(max_length=64)] | None = None
