"""Checks that a chain keeps the order its layers ask for."""

from collections.abc import Sequence
from typing import Any

from langchain.agents.middleware import AgentMiddleware

from agent_core.middlewares.layer import ALL


class ChainOrderError(ValueError):
    """A chain is in a wrong order; the message names both layers."""


def check_order(chain: Sequence[AgentMiddleware[Any, Any, Any]]) -> None:
    """Compare each pair of layers with what they declare. Pure.

    Args:
        chain: Outermost first. Middlewares that declare nothing may stand anywhere.

    Raises:
        ChainOrderError: Two layers stand the wrong way round, or a layer is there twice.
    """
    for position, outer in enumerate(chain):
        for inner in chain[position + 1 :]:
            if outer.name == inner.name:
                raise ChainOrderError(f"middleware chain: {outer.name} is there twice")
            if _names(outer, "after", inner.name):
                raise ChainOrderError(
                    f"middleware chain: {outer.name} must come after {inner.name}, but comes before it"
                )
            if _names(inner, "before", outer.name):
                raise ChainOrderError(
                    f"middleware chain: {inner.name} must come before {outer.name}, but comes after it"
                )


def _names(layer: AgentMiddleware[Any, Any, Any], side: str, other: str) -> bool:
    declared: tuple[str, ...] = getattr(layer, side, ())
    return ALL in declared or other in declared
