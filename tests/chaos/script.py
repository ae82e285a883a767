"""The conversation that the crash tests hold: what people write, and what the model makes of it. Pure.

A text that ends in ``file`` makes the model write a file and present it before it answers.
"""

import re
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from agent_core.paths import OUTPUTS
from channels.telegram.render import REPEAT_MARK
from tests.chaos.oracle import Line, Part, Posted, Script, Speaker
from tests.emulators.openai import Call, ChatRequest, Recorded, Reply
from tests.emulators.openai.wire import is_said, said_in, text_of
from tests.emulators.telegram import Sent

_CONTEXT = re.compile(r"\s*<context>.*?</context>", re.DOTALL)


def line(chat: int, number: int, *, file: bool) -> str:
    """What a person writes; no two are equal."""
    return f"chat {chat} message {number}" + (" file" if file else "")


def answer(text: str) -> str:
    """What the model says in the end."""
    return f"answer to: {text}"


def turn(text: str) -> Sequence[Line]:
    """The whole turn of a text."""
    calls: list[Line] = []
    if text.endswith("file"):
        path = _path(text)
        calls = [
            Line(Speaker.CALLS, "write_file"),
            Line(Speaker.RESULT, f"Wrote {len(_content(text))} bytes to {path}"),
            Line(Speaker.CALLS, "present_files"),
            Line(Speaker.RESULT, f"Presented: {_name(text)}"),
        ]
    return [Line(Speaker.HUMAN, text), *calls, Line(Speaker.ANSWER, answer(text))]


def parts(text: str) -> Sequence[Part]:
    """What the person gets."""
    files = [Part(_content(text), _name(text))] if text.endswith("file") else []
    return [Part(answer(text)), *files]


SCRIPT = Script(turn, parts)


def model(request: ChatRequest) -> Reply:
    """Play the model's part, slowly enough to be interrupted."""
    text = plain(request.last_user_text)
    if text.endswith("file"):
        done = len(request.tool_results())
        if done == 0:
            call = Call("write_file", {"path": _path(text), "content": _content(text)})
            return Reply(calls=(call,), delay=0.02)
        if done == 1:
            return Reply(calls=(Call("present_files", {"paths": [_path(text)]}),), delay=0.02)
    return Reply(answer(text), delay=0.02, chunk_delay=0.02)


def request_lines(request: Recorded) -> list[Line]:
    """The conversation in a request, without the system prompt and the reminders."""
    return [
        _wire_line(message)
        for message in request.messages
        if message["role"] != "system" and (message["role"] != "user" or is_said(message))
    ]


def _wire_line(message: dict[str, Any]) -> Line:
    text = text_of(message)
    match message:
        case {"role": "user"}:
            return Line(Speaker.HUMAN, plain(said_in(message)))
        case {"role": "tool"}:
            return Line(Speaker.RESULT, text)
        case {"tool_calls": [*calls]}:
            return Line(Speaker.CALLS, " ".join(call["function"]["name"] for call in calls))
    return Line(Speaker.ANSWER, text)


def history_lines(messages: Sequence[AnyMessage]) -> list[Line]:
    """The conversation in a checkpoint."""
    return [_stored_line(message) for message in messages]


def _stored_line(message: AnyMessage) -> Line:
    match message:
        case HumanMessage():
            return Line(Speaker.HUMAN, plain(message.text))
        case ToolMessage():
            return Line(Speaker.RESULT, message.text)
        case AIMessage(tool_calls=[_, *_] as calls):
            return Line(Speaker.CALLS, " ".join(call["name"] for call in calls))
    return Line(Speaker.ANSWER, message.text)


def posted(sent: Sent) -> Posted:
    """What the platform took, with the mark of a possible repeat told from the content."""
    marked = sent.text.startswith(REPEAT_MARK)
    if sent.document is not None:
        return Posted(sent.chat_id, Part(sent.document.decode(), sent.file_name), marked, sent.accepted_at)
    text = sent.text.removeprefix(REPEAT_MARK).lstrip("\n")
    return Posted(sent.chat_id, Part(text), marked, sent.accepted_at)


def plain(text: str) -> str:
    """A person's line without the facts that Hart puts below it."""
    return _CONTEXT.sub("", text)


def _name(text: str) -> str:
    return text.replace(" ", "-") + ".md"


def _path(text: str) -> str:
    return f"{OUTPUTS}/{_name(text)}"


def _content(text: str) -> str:
    return f"# {text}\n"
