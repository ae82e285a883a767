"""Turns what LangGraph streams into the events of a run."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage

from agent_core.events import (
    FilePresented,
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
from agent_core.tools.present import presented_files


class StreamEvents:
    """Reads the ``messages``, ``updates`` and ``custom`` streams of one run of the graph."""

    def __init__(self) -> None:
        self._presented: set[str] = set()

    def read(self, mode: str, data: Any) -> Iterator[RunEvent]:
        """Give the events in one streamed item."""
        if mode == "messages":
            message, metadata = data
            yield from _text(message, metadata)
        elif mode == "updates":
            for part in _updates(data):
                if "todos" in part:
                    yield TodosChanged(tuple(Todo(todo["content"], todo["status"]) for todo in part["todos"]))
                for message in part.get("messages", ()):
                    yield from self._message(message)
        elif mode == "custom" and isinstance(data, SubagentEvent):
            yield data

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


def _text(message: Any, metadata: Mapping[str, Any]) -> Iterator[TextDelta]:
    # Also a whole AIMessage comes here, from models that do not stream.
    if metadata.get("langgraph_node") == MODEL_NODE and isinstance(message, AIMessage):
        text = message.text
        if text and message.id:
            yield TextDelta(message.id, text)


def _updates(data: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Give what nodes wrote; an update may be one value, several, or none."""
    for update in data.values():
        for part in update if isinstance(update, list) else [update]:
            if isinstance(part, Mapping):
                yield part
