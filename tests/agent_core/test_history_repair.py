"""Whatever a history looks like, what is sent to the model is sound."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from agent_core.middlewares.dangling_tool_calls import is_sound, open_calls, repaired
from agent_core.turns import closing, ending, turn_of

IDS = st.sampled_from(["c1", "c2", "c3", "c4"])


def _ai(ids: list[str], broken: list[str]) -> AIMessage:
    calls: list[Any] = [{"name": "t", "args": {}, "id": call, "type": "tool_call"} for call in ids]
    invalid: list[Any] = [
        {"name": "t", "args": "{", "id": call, "error": "x", "type": "invalid_tool_call"}
        for call in broken
        if call not in ids
    ]
    return AIMessage("", tool_calls=calls, invalid_tool_calls=invalid)


MESSAGES = st.lists(
    st.one_of(
        st.builds(lambda: HumanMessage("hi")),
        st.builds(lambda: AIMessage("answer")),
        st.builds(_ai, st.lists(IDS, unique=True, min_size=1), st.lists(IDS, unique=True, max_size=1)),
        st.builds(lambda call: ToolMessage("result", tool_call_id=call), IDS),
    ),
    max_size=12,
)


@given(MESSAGES)
def test_a_repaired_history_is_sound_and_keeps_what_was_said(messages: list[AnyMessage]) -> None:
    result = repaired(messages)
    assert is_sound(result)
    assert [m for m in result if not isinstance(m, ToolMessage)] == [
        m for m in messages if not isinstance(m, ToolMessage)
    ]
    if is_sound(messages):
        assert sorted(map(str, result)) == sorted(map(str, messages)), "what is sound stays as it is"


@given(st.lists(IDS, unique=True, min_size=1), st.lists(IDS, unique=True))
def test_a_closed_turn_is_sound_ends_in_words_and_closes_the_same_way_twice(
    calls: list[str], finished: list[str]
) -> None:
    done = [ToolMessage("result", tool_call_id=c, id=f"m-{c}") for c in finished if c in calls]
    turn: list[AnyMessage] = [_ai(calls, []), *done]
    closed = closing(turn, "(stopped)")
    whole = [turn[0], *closed]
    assert is_sound(whole)
    end = ending(whole)
    assert end is not None
    assert end.answer == "(stopped)"
    assert [m.id for m in closing(turn, "(stopped)")][:-1] == [m.id for m in closed][:-1]
    assert {m.content for m in closed if isinstance(m, ToolMessage) and m.tool_call_id in finished} <= {
        "result"
    }


def test_a_turn_begins_behind_its_own_message() -> None:
    messages = [HumanMessage("a", id="r1"), AIMessage("x"), HumanMessage("b", id="r2"), AIMessage("y")]
    assert [m.content for m in turn_of(messages, "r2") or ()] == ["y"]
    assert turn_of(messages, "r3") is None
    assert open_calls(_ai(["c1"], ["c2"])) == [("c1", "t"), ("c2", "t")]
