"""What a client may send, and with which words a server refuses the rest."""

import json
import re
from dataclasses import dataclass
from typing import Any

_ROLES = ("system", "developer", "user", "assistant", "tool")
# What a client of ours adds to its users' words, as blocks of text or as messages of their own.
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>\s*", re.DOTALL)
_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


class RefusedError(Exception):
    """An answer other than 200.

    Args:
        status: HTTP status.
        message: Words for the client.
        code: OpenAI's error code, if it has one.
        param: The parameter that is wrong.
    """

    def __init__(self, status: int, message: str, code: str | None = None, param: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
        self.param = param

    def body(self) -> dict[str, Any]:
        """Give the error as OpenAI words it."""
        kind = {401: "authentication_error", 429: "rate_limit_error"}.get(
            self.status, "invalid_request_error"
        )
        if self.status >= 500:
            kind = "server_error"
        return {"error": {"message": self.message, "type": kind, "param": self.param, "code": self.code}}


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One request for a chat completion that was found valid."""

    model: str
    messages: tuple[dict[str, Any], ...]
    tools: tuple[dict[str, Any], ...]
    tool_choice: Any
    stream: bool
    include_usage: bool

    @property
    def last_user_text(self) -> str:
        """Text of the newest user message, without reminders."""
        return next((said_in(m) for m in reversed(self.messages) if is_said(m)), "")

    @property
    def turn(self) -> tuple[dict[str, Any], ...]:
        """What followed the newest user message."""
        last = max((i for i, m in enumerate(self.messages) if is_said(m)), default=-1)
        return self.messages[last + 1 :]

    def tool_results(self) -> tuple[str, ...]:
        """Texts of the tool messages since the newest user message."""
        return tuple(text_of(m) for m in self.turn if m["role"] == "tool")

    def prefix(self) -> str:
        """Give what a provider's cache sees: tools first, then the messages."""
        head = json.dumps(self.tools, ensure_ascii=False)
        return head + "".join(json.dumps(m, ensure_ascii=False) for m in self.messages)


def text_of(message: dict[str, Any]) -> str:
    """Give the text of a message, whether its content is a string or parts."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or () if part.get("type") == "text")


def said_in(message: dict[str, Any]) -> str:
    """Give the text of a message without the reminders in it."""
    return _REMINDER.sub("", text_of(message))


def is_said(message: dict[str, Any]) -> bool:
    """Tell whether a message is a user's, and not a reminder alone."""
    return message["role"] == "user" and (not text_of(message) or bool(said_in(message)))


def parse(body: bytes, models: frozenset[str]) -> ChatRequest:
    """Read a request.

    Raises:
        RefusedError: As a real server would answer.
    """
    try:
        data = json.loads(body)
    except ValueError:
        raise RefusedError(400, "We could not parse the JSON body of your request.") from None
    if not isinstance(data, dict):
        raise RefusedError(400, "The body must be a JSON object.")
    model = data.get("model")
    if not isinstance(model, str) or not model:
        raise RefusedError(400, "you must provide a model parameter", param="model")
    if model not in models:
        raise RefusedError(404, f"The model `{model}` does not exist.", "model_not_found", "model")
    messages = data.get("messages")
    if not isinstance(messages, list) or not messages:
        raise RefusedError(400, "Invalid 'messages': expected a non-empty array.", param="messages")
    _check_messages(messages)
    tools = data.get("tools")
    if tools is not None:
        _check_tools(tools)
    stream = data.get("stream", False)
    options = data.get("stream_options")
    if options is not None and not stream:
        raise RefusedError(
            400, "'stream_options' is only allowed when 'stream' is enabled.", param="stream_options"
        )
    choice = data.get("tool_choice")
    if choice is not None and tools is None:
        raise RefusedError(
            400, "'tool_choice' is only allowed when 'tools' are specified.", param="tool_choice"
        )
    return ChatRequest(
        model=model,
        messages=tuple(messages),
        tools=tuple(tools or ()),
        tool_choice=choice,
        stream=bool(stream),
        include_usage=bool((options or {}).get("include_usage")),
    )


def check_reasoning(chat: ChatRequest, rule: str) -> None:
    """Apply a vendor's rule about thoughts given back.

    Raises:
        RefusedError: It is broken.
    """
    for index, message in enumerate(chat.messages):
        if rule == "refused" and "reasoning_content" in message:
            raise RefusedError(400, f"reasoning_content is not allowed in messages[{index}].")
        if rule == "required" and message.get("tool_calls") and "reasoning_content" not in message:
            raise RefusedError(
                400,
                "thinking is enabled but reasoning_content is missing in assistant tool call message at "
                f"index {index}",
            )


def _check_messages(messages: list[Any]) -> None:
    open_calls: set[str] = set()
    for index, message in enumerate(messages):
        where = f"messages.[{index}]"
        if not isinstance(message, dict):
            raise RefusedError(400, f"Invalid type for '{where}': expected an object.", param=where)
        role = message.get("role")
        if role not in _ROLES:
            raise RefusedError(400, f"Invalid value: '{role}'. Supported: {_ROLES}.", param=f"{where}.role")
        if role in ("system", "developer") and index > 0:
            # OpenAI bears it; vLLM, SGLang and Qwen do not.
            raise RefusedError(400, "System message must be at the beginning.", param=where)
        if role == "tool":
            _check_tool_message(message, where, open_calls)
        else:
            _refuse_unanswered(open_calls, where)
        _check_content(message, role, where)
        if role == "assistant" and "tool_calls" in message:
            open_calls = _check_calls(message["tool_calls"], where)
    _refuse_unanswered(open_calls, "messages")


def _refuse_unanswered(open_calls: set[str], where: str) -> None:
    if open_calls:
        raise RefusedError(
            400,
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            "'tool_call_id'. The following tool_call_ids did not have response messages: "
            f"{', '.join(sorted(open_calls))}",
            param=where,
        )


def _check_tool_message(message: dict[str, Any], where: str, open_calls: set[str]) -> None:
    call_id = message.get("tool_call_id")
    if call_id not in open_calls:
        raise RefusedError(
            400,
            "messages with role 'tool' must be a response to a preceding message with 'tool_calls'.",
            param=where,
        )
    open_calls.discard(call_id)


def _check_content(message: dict[str, Any], role: str, where: str) -> None:
    content = message.get("content")
    if content is None:
        if role == "assistant" and message.get("tool_calls"):
            return
        raise RefusedError(
            400, "Invalid value for 'content': expected a string, got null.", param=f"{where}.content"
        )
    if isinstance(content, str):
        return
    if role != "user" or not isinstance(content, list) or not content:
        raise RefusedError(
            400, f"Invalid type for '{where}.content': expected a string.", param=f"{where}.content"
        )
    for part in content:
        if not isinstance(part, dict) or part.get("type") not in ("text", "image_url", "input_audio", "file"):
            raise RefusedError(400, f"Invalid content part in '{where}.content'.", param=f"{where}.content")


def _check_calls(calls: Any, where: str) -> set[str]:
    if not isinstance(calls, list) or not calls:
        raise RefusedError(400, f"[] is too short - '{where}.tool_calls'", param=f"{where}.tool_calls")
    ids: set[str] = set()
    for call in calls:
        function = call.get("function") if isinstance(call, dict) else None
        sound = (
            isinstance(function, dict)
            and call.get("type") == "function"
            and isinstance(call.get("id"), str)
            and isinstance(function.get("name"), str)
            and isinstance(function.get("arguments"), str)
        )
        if not sound:
            raise RefusedError(400, f"Invalid tool call in '{where}'.", param=f"{where}.tool_calls")
        ids.add(call["id"])
    return ids


def _check_tools(tools: Any) -> None:
    if not isinstance(tools, list) or not tools:
        raise RefusedError(400, "[] is too short - 'tools'", param="tools")
    for index, tool in enumerate(tools):
        function = tool.get("function") if isinstance(tool, dict) else None
        where = f"tools[{index}].function"
        if not isinstance(function, dict) or tool.get("type") != "function":
            raise RefusedError(400, f"Invalid tool at '{where}'.", param=where)
        name = function.get("name")
        if not isinstance(name, str) or not 0 < len(name) <= 64 or not set(name) <= _NAME:
            raise RefusedError(400, f"Invalid '{where}.name': string does not match pattern.", param=where)
        schema = function.get("parameters")
        if schema is not None and (not isinstance(schema, dict) or schema.get("type") != "object"):
            raise RefusedError(
                400, f"Invalid schema for function '{name}': schema must be of type \"object\".", param=where
            )
