"""The base of every part of the configuration, and the kinds of value they share."""

import re
from dataclasses import dataclass
from typing import Annotated, Any, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    model_validator,
)

from agent_core.interpolation import Unset


class Section(BaseModel):
    """Frozen, refuses unknown keys, and takes a key without a value as not set."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True, allow_inf_nan=False)

    _unset: dict[str, str] = PrivateAttr(default_factory=dict)

    @model_validator(mode="wrap")
    @classmethod
    def _leave_out_unset(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if not isinstance(data, dict):
            return handler(data)
        known = cls.model_fields
        section = handler({key: value for key, value in data.items() if key not in known or _is_set(value)})
        section._unset = {key: value.variable for key, value in data.items() if isinstance(value, Unset)}
        return section

    def unset_variable(self, key: str) -> str | None:
        """The environment variable that a key refers to, when that variable is not set."""
        return self._unset.get(key)


def _is_set(value: object) -> bool:
    return value is not None and not isinstance(value, Unset)


@dataclass(frozen=True, slots=True)
class Expected:
    """Annotation: what a value must be, in words that complete "expected ...".

    Validators may raise an empty ``ValueError`` to have these words shown.
    """

    words: str


def _not_bool(value: object) -> object:
    # Python takes true for 1; a person who writes it did not mean a number.
    if isinstance(value, bool):
        raise ValueError
    return value


def _id(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _http_url(value: str) -> str:
    try:
        parts = urlsplit(value)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        raise ValueError from None
    if (
        not usable
        or parts.query
        or parts.fragment
        or parts.username is not None
        or re.search(r"[\s\x00-\x1f\x7f\\]", value)
    ):
        raise ValueError
    return value.rstrip("/")


_Number = BeforeValidator(_not_bool)

PositiveInt = Annotated[int, _Number, Field(ge=1, le=1_000_000), Expected("a whole number of 1 or more")]
CountInt = Annotated[int, _Number, Field(ge=0, le=1_000_000), Expected("a whole number of 0 or more")]
PortInt = Annotated[int, _Number, Field(ge=0, le=65_535), Expected("a port from 1 to 65535, or 0 for any")]
Seconds = Annotated[float, _Number, Field(ge=0, le=86_400), Expected("seconds, from 0 to 86400")]
PositiveSeconds = Annotated[
    float, _Number, Field(gt=0, le=86_400), Expected("seconds, above 0 and up to 86400")
]

PlatformId = Annotated[str, BeforeValidator(_id), Field(min_length=1, max_length=200), Expected("an id")]
"""A platform's own id of a person, chat or thread; whole numbers are taken as text."""

Name = Annotated[
    str,
    Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"),
    Expected("up to 64 letters, digits, dots, dashes or underscores, starting with a letter or digit"),
]

Slug = Annotated[
    str,
    Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=64),
    Expected("up to 64 small letters and digits, with single dashes between them"),
]

Text = Annotated[str, Field(pattern=r"\S"), Expected("text")]
"""Text with something in it."""

HttpUrl = Annotated[
    str,
    AfterValidator(_http_url),
    Expected("an address such as https://host or http://host:port, without a password in it"),
]
"""An http or https address without user, password and query, and without a slash at its end."""
