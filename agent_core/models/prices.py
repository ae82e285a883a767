"""What calls of a model cost. Pure."""

from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AnyMessage, UsageMetadata

# In a message's ``response_metadata``, which is stored but never sent to a provider.
_COST = "hart_cost"

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices of a model, in US dollars for a million tokens.

    Args:
        input: Prompt tokens.
        output: Generated tokens, thoughts included.
        cached_input: Prompt tokens that the provider served from its cache; None if they cost the same.
    """

    input: float
    output: float
    cached_input: float | None = None

    def cost(self, used: UsageMetadata) -> float:
        """Give US dollars."""
        cached = used.get("input_token_details", {}).get("cache_read") or 0
        cached_price = self.input if self.cached_input is None else self.cached_input
        fresh = max(0, used["input_tokens"] - cached)
        return (fresh * self.input + cached * cached_price + used["output_tokens"] * self.output) / _MILLION


def cost_of(message: AnyMessage) -> float | None:
    """Give what was noted on a message, in US dollars; None for nothing."""
    cost = message.response_metadata.get(_COST)
    return float(cost) if isinstance(cost, int | float) else None


def with_cost(metadata: dict[str, Any], cost: float | None) -> dict[str, Any]:
    """Give a message's ``response_metadata`` with what it cost."""
    return metadata if cost is None else {**metadata, _COST: cost}


def total(first: float | None, second: float | None) -> float | None:
    """Add costs; what is not known counts nothing, unless neither is."""
    return second if first is None else first + (second or 0.0)
