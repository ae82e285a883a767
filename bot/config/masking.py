"""Which values are secret, and how a configuration is shown without them."""

import re
from collections.abc import Mapping
from enum import Enum
from typing import Any

from pydantic import BaseModel, SecretStr

from agent_core.interpolation import Unset

MASK = "********"

# "tokens" counts (max_tokens) and "tokenizer" are no secrets; "auth" covers Authorization headers.
_SECRET_NAME = re.compile(r"key|token(?!s|iz)|secret|passw|credential|cookie|auth", re.IGNORECASE)
_USER_INFO = re.compile(r"(?<=://)\S*@")
_QUERY = re.compile(
    r"(?P<name>[?&;][^=&;#\s]{0,64}?(?:key|token|secret|passw|sig|auth)[^=&;#\s]{0,64}=)[^&;#\s]*",
    re.IGNORECASE,
)
# Long, without spaces, letters and digits mixed: what keys and tokens look like.
_SECRET_LOOK = re.compile(r"(?!\S*://)(?=\S*\d)(?=\S*[A-Za-z])\S{20,}")


def is_secret_name(name: str) -> bool:
    """True when a key's name says that its value is secret."""
    return _SECRET_NAME.search(name) is not None


def looks_secret(text: str) -> bool:
    """True when a text has the look of a key or token, wherever it was written."""
    return _SECRET_LOOK.fullmatch(text) is not None


def mask_urls(text: str) -> str:
    """A text with user names, passwords and secret parameters taken out of the URLs in it."""
    return _QUERY.sub(rf"\g<name>{MASK}", _USER_INFO.sub(f"{MASK}@", text))


def veil(value: Any, *, secret: bool = False) -> Any:
    """Wrap what is secret by its key's name in ``SecretStr``, at any depth, and drop what is not set.

    A URL with a password in it is secret, too.
    """
    if isinstance(value, Mapping):
        return {
            str(key): veil(item, secret=secret or is_secret_name(str(key)))
            for key, item in value.items()
            if item is not None and not isinstance(item, Unset)
        }
    if isinstance(value, list | tuple):
        return [veil(item, secret=secret) for item in value]
    if secret and isinstance(value, str | int | float) and not isinstance(value, bool):
        return SecretStr(str(value))
    if isinstance(value, str) and mask_urls(value) != value:
        return SecretStr(value)
    return value


def unveil(value: Any) -> Any:
    """The plain value: undoes :func:`veil`. For the code that hands secrets to their user, and no other."""
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    if isinstance(value, Mapping):
        return {key: unveil(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [unveil(item) for item in value]
    return value


def masked(value: Any) -> Any:
    """A value as plain data that YAML can hold, with secrets masked, also those inside URLs."""
    if isinstance(value, SecretStr):
        return _masked_secret(value.get_secret_value())
    if isinstance(value, BaseModel):
        return masked({name: getattr(value, name) for name in type(value).model_fields})
    if isinstance(value, Mapping):
        return {
            key: MASK if isinstance(item, SecretStr) and is_secret_name(key) else masked(item)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [masked(item) for item in value]
    if isinstance(value, Enum):
        return masked(value.value)
    return mask_urls(value) if isinstance(value, str) else value


def _masked_secret(secret: str) -> str:
    """A secret URL keeps its server readable; any other secret shows nothing, not even its length."""
    return mask_urls(secret) if re.match(r"[a-z]+://", secret) else MASK
