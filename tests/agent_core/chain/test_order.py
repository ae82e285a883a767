"""A chain is built in the right order or not at all."""

import pytest

from agent_core.middlewares.composed import composed
from agent_core.middlewares.layer import ALL, Answer, Layer, ModelHandler, Request
from agent_core.middlewares.order import ChainOrderError, check_order


class First(Layer):
    """Wants to be outermost."""

    before = (ALL,)


class Last(Layer):
    """Wants to be innermost."""

    after = (ALL,)


class Inner(Layer):
    """Belongs inside of Outer."""

    after = ("Outer", "NotThere")


class Outer(Layer):
    """Stands where it likes."""


class Wrapping(Layer):
    """Wraps model calls."""

    async def awrap_model_call(self, request: Request, handler: ModelHandler) -> Answer:
        """Do nothing."""
        return await handler(request)


class Node(Layer):
    """Has a hook that is a node of the graph."""

    async def abefore_model(self, state, runtime):
        """Do nothing."""


def test_a_right_order_is_accepted() -> None:
    check_order([First(), Outer(), Inner(), Last()])


@pytest.mark.parametrize(
    ("chain", "names"),
    [
        ([First(), Inner(), Outer(), Last()], ("Inner", "Outer")),
        ([Outer(), First()], ("First", "Outer")),
        ([Last(), Outer()], ("Last", "Outer")),
        ([Outer(), Outer()], ("Outer", "twice")),
    ],
)
def test_a_wrong_order_is_refused_and_both_layers_are_named(
    chain: list[Layer], names: tuple[str, str]
) -> None:
    with pytest.raises(ChainOrderError) as refused:
        check_order(chain)
    assert all(name in str(refused.value) for name in names)


def test_only_what_wraps_calls_is_joined_and_the_order_stays() -> None:
    joined = composed([Wrapping(), Outer(), Node(), Inner()])
    assert [layer.name for layer in joined] == ["ComposedMiddleware0", "Node", "ComposedMiddleware2"]
