"""Turns what LangGraph streams into the events of a run."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage

from agent_core.events import (
    FilePresented,
    ReasoningDelta,
    RunEvent,
    SubagentEvent,
    TextDelta,
    Todo,
    TodosChanged,
    ToolFinished,
    ToolStarted,
)
from agent_core.labels import label
from agent_core.lead_agent import MODEL_NODE
from agent_core.models.thoughts import reasoning_of
from agent_core.tools.present import presented_files


class StreamEvents:
    """Reads the ``messages``, ``updates`` and ``custom`` streams of one run of the graph.

    Args:
        show_reasoning: Tell what the model thinks.
    """

    def __init__(self, *, show_reasoning: bool = False) -> None:
        self._presented: set[str] = set()
        self._show_reasoning = show_reasoning

    def read(self, mode: str, data: Any) -> Iterator[RunEvent]:
        """Give the events in one streamed item."""
        if mode == "messages":
            message, metadata = data
            if _is_speech(message, metadata):
                yield from self._said(message)
        elif mode == "updates":
            for part in _updates(data):
                if "todos" in part:
                    yield TodosChanged(tuple(Todo(todo["content"], todo["status"]) for todo in part["todos"]))
                for message in part.get("messages", ()):
                    yield from self._message(message)
        elif mode == "custom" and isinstance(data, SubagentEvent):
            yield data

    def _said(self, message: AIMessage) -> Iterator[RunEvent]:
        if not message.id:
            return
        if self._show_reasoning and (thoughts := reasoning_of(message)):
            yield ReasoningDelta(message.id, thoughts)
        if text := message.text:
            yield TextDelta(message.id, text)

    def _message(self, message: AnyMessage) -> Iterator[RunEvent]:
        if isinstance(message, AIMessage):
            yield from started([message])
        elif isinstance(message, ToolMessage):
            for file in presented_files([message]):
                if file.path not in self._presented:
                    self._presented.add(file.path)
                    yield FilePresented(file)
            yield ToolFinished(message.tool_call_id, message.name or "", message.status != "error")


def started(turn: Sequence[AnyMessage]) -> Iterator[ToolStarted]:
    """Give the calls at the end of a turn that have no result yet."""
    answered = {message.tool_call_id for message in turn if isinstance(message, ToolMessage)}
    last = next((m for m in reversed(turn) if isinstance(m, AIMessage)), None)
    for call in last.tool_calls if last else ():
        if call["id"] and call["id"] not in answered:
            yield ToolStarted(call["id"], call["name"], label(call["name"], call["args"]))


def _is_speech(message: Any, metadata: Mapping[str, Any]) -> bool:
    # Also a whole AIMessage comes here, from models that do not stream.
    return metadata.get("langgraph_node") == MODEL_NODE and isinstance(message, AIMessage)


def _updates(data: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Give what nodes wrote; an update may be one value, several, or none."""
    for update in data.values():
        for part in update if isinstance(update, list) else [update]:
            if isinstance(part, Mapping):
                yield part
