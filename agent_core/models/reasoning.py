"""A chat model for OpenAI-compatible vendors that return what the model thought beside what it says.

DeepSeek, Qwen, Kimi, GLM, MiMo and servers such as vLLM or Ollama put it into ``reasoning_content``
(some into ``reasoning``), which ``ChatOpenAI`` leaves out by policy. Some of them refuse a request
that does not give it back with the tool calls it led to.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any

import openai
from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_openai import ChatOpenAI

from agent_core.models.thoughts import REASONING, reasoning_of

_FIELDS = ("reasoning_content", "reasoning")


class ReasoningReplay(StrEnum):
    """Which earlier thoughts a request gives back.

    ``tool_turn`` gives those of messages that call tools, of every turn: what vendors that check it
    ask for, and the same in each further request, so that their caches hold.
    """

    NEVER = "never"
    TOOL_TURN = "tool_turn"
    ALWAYS = "always"


class ReasoningChatOpenAI(ChatOpenAI):
    """``ChatOpenAI`` that keeps and gives back ``reasoning_content``, and knows every count of cached tokens.

    Leans on three methods of ``ChatOpenAI`` that are not public; the version is bounded and a test goes
    over the wire.

    Args:
        reasoning_replay: Which thoughts are sent back.
        reasoning_field: Under which name.
    """

    reasoning_replay: ReasoningReplay = ReasoningReplay.TOOL_TURN
    reasoning_field: str = "reasoning_content"

    def _convert_chunk_to_generation_chunk(
        self, chunk: dict[str, Any], default_chunk_class: type, base_generation_info: dict[str, Any] | None
    ) -> ChatGenerationChunk | None:
        found = super()._convert_chunk_to_generation_chunk(
            _with_usage(chunk), default_chunk_class, base_generation_info
        )
        if found is not None and isinstance(found.message, AIMessageChunk):
            for choice in chunk.get("choices") or ():
                _keep(found.message, choice.get("delta"))
        return found

    def _create_chat_result(
        self, response: dict[str, Any] | openai.BaseModel, generation_info: dict[str, Any] | None = None
    ) -> ChatResult:
        if isinstance(response, openai.BaseModel):
            response = response.model_dump(warnings=False)
        result = super()._create_chat_result(_with_usage(response), generation_info)
        for generation, choice in zip(result.generations, response.get("choices") or (), strict=False):
            _keep(generation.message, choice.get("message"))
        return result

    def _get_request_payload(
        self, input_: LanguageModelInput, *, stop: list[str] | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        payload: dict[str, Any] = super()._get_request_payload(input_, stop=stop, **kwargs)
        if "max_completion_tokens" in payload:
            # The name that all of these vendors know.
            payload["max_tokens"] = payload.pop("max_completion_tokens")
        messages = self._convert_input(input_).to_messages()
        for message, sent in zip(messages, payload.get("messages", ()), strict=False):
            if (thoughts := self._given_back(message)) is not None:
                sent[self.reasoning_field] = thoughts
        return payload

    def _given_back(self, message: BaseMessage) -> str | None:
        if not isinstance(message, AIMessage) or self.reasoning_replay is ReasoningReplay.NEVER:
            return None
        thoughts = reasoning_of(message)
        if message.tool_calls or message.invalid_tool_calls:
            # The field must be there, also where another model made the call.
            return thoughts
        return thoughts if thoughts and self.reasoning_replay is ReasoningReplay.ALWAYS else None


def _keep(message: BaseMessage, given: Mapping[str, Any] | None) -> None:
    thoughts = next((given[name] for name in _FIELDS if given.get(name)), None) if given else None
    if isinstance(thoughts, str):
        message.additional_kwargs[REASONING] = thoughts


def _with_usage(response: dict[str, Any]) -> dict[str, Any]:
    """Put what the vendor counted where OpenAI puts it."""
    usage = response.get("usage") or next(_usage_in_choices(response), None)
    if not isinstance(usage, dict):
        return response
    details = usage.get("prompt_tokens_details") or {}
    cached = details.get("cached_tokens")
    if cached is None:
        # DeepSeek's name and Kimi's.
        cached = usage.get("prompt_cache_hit_tokens", usage.get("cached_tokens"))
    return {**response, "usage": {**usage, "prompt_tokens_details": {**details, "cached_tokens": cached}}}


def _usage_in_choices(response: Mapping[str, Any]) -> Iterator[Any]:
    """Kimi puts the usage of a stream into its last choice."""
    for choice in response.get("choices") or ():
        if choice.get("usage"):
            yield choice["usage"]
