"""What is configured about one model."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agent_core.models.prices import Prices

_SECRET_NAME = re.compile(r"key|token|secret|password|credential|authorization|cookie", re.IGNORECASE)

# Shorter values are words that may stand in any text; hiding them would only garble it.
_SECRET_LENGTH = 6

_SECRET_SHAPE = re.compile(
    r"(?i)\b(?:sk|pk|rk|key|tok)-[\w.-]{6,}"
    r"|\bBearer\s+[\w.~+/=-]{6,}"
    r"|(?<=://)[^\s/@]+(?=@)"
)


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """One model as configured.

    Args:
        name: What people call it.
        use: Class to build, as ``package.module:Class``.
        arguments: Keyword arguments of the class. May hold secrets, so it is not shown.
        supports_vision: It reads images.
        supports_thinking: It can be told to think longer.
        thinking_on: Added to the arguments of a call when it is to think.
        thinking_off: The same when it is not.
        context_window: Tokens it can take at once, if known.
        prices: What it costs, if known.
        show_reasoning: Tell what it thinks while it does.
    """

    name: str
    use: str
    arguments: Mapping[str, Any] = field(default_factory=dict, repr=False)
    supports_vision: bool = False
    supports_thinking: bool = False
    thinking_on: Mapping[str, Any] = field(default_factory=dict)
    thinking_off: Mapping[str, Any] = field(default_factory=dict)
    context_window: int | None = None
    prices: Prices | None = None
    show_reasoning: bool = False

    def redact(self, text: str) -> str:
        """Replace in ``text`` this model's secrets, and whatever looks like one."""
        for secret in sorted(_secrets(self.arguments), key=len, reverse=True):
            text = text.replace(secret, "********")
        return _SECRET_SHAPE.sub("********", text)


def _secrets(arguments: Mapping[str, Any]) -> set[str]:
    found: set[str] = set()
    for name, value in arguments.items():
        if isinstance(value, Mapping):
            # Headers and the like: what is inside may be secret whatever its name.
            found |= {v for v in value.values() if isinstance(v, str) and len(v) >= _SECRET_LENGTH}
        elif isinstance(value, str) and len(value) >= _SECRET_LENGTH and _SECRET_NAME.search(name):
            found.add(value)
    return found
