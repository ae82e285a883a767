"""A stand-in for a language model, so that everything can be tried with no account anywhere.

It is an ordinary model class. It reads the messages it is given and nothing else, and answers the
same messages with the same words. What it says and does is decided in ``offline_script.py``.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, UsageMetadata
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from agent_core.models.offline_script import Reply, reply

_WORD = re.compile(r"\S+\s*|\s+")
_CHARS_PER_TOKEN = 4


class OfflineChatModel(BaseChatModel):
    """Answers by fixed rules, without a network.

    Args:
        model: Shown in the response metadata.
        word_seconds: Pause between two streamed words.
    """

    model: str = "offline"
    word_seconds: float = 0.0

    @property
    def _llm_type(self) -> str:
        return "hart-offline"

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Tell the model which tools there are; ``tool_choice="none"`` keeps it from using them."""
        schemas = [convert_to_openai_tool(tool) for tool in tools]
        return self.bind(tools=schemas, tool_choice=tool_choice, **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        answer = self._reply(messages, kwargs)
        message = AIMessage(
            content=answer.text,
            tool_calls=[
                {"name": call.name, "args": dict(call.arguments), "id": call.id, "type": "tool_call"}
                for call in answer.calls
            ],
            usage_metadata=_usage(messages, answer),
            response_metadata=self._ending(answer),
        )
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in self._chunks(messages, kwargs):
            if run_manager:
                run_manager.on_llm_new_token(str(chunk.message.content), chunk=chunk)
            yield chunk

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in self._chunks(messages, kwargs):
            # Also without a pause the loop gets its turn, as it would with a real model.
            await asyncio.sleep(self.word_seconds)
            if run_manager:
                await run_manager.on_llm_new_token(str(chunk.message.content), chunk=chunk)
            yield chunk

    def _chunks(
        self, messages: Sequence[BaseMessage], options: dict[str, Any]
    ) -> Iterator[ChatGenerationChunk]:
        answer = self._reply(messages, options)
        for word in _WORD.findall(answer.text):
            yield ChatGenerationChunk(message=AIMessageChunk(content=word))
        if answer.calls:
            calls = [
                tool_call_chunk(name=call.name, args=call.arguments_json(), id=call.id, index=index)
                for index, call in enumerate(answer.calls)
            ]
            yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=calls))
        last = AIMessageChunk(
            content="",
            usage_metadata=_usage(messages, answer),
            response_metadata=self._ending(answer),
            chunk_position="last",
        )
        yield ChatGenerationChunk(message=last)

    def _reply(self, messages: Sequence[BaseMessage], options: dict[str, Any]) -> Reply:
        tools: frozenset[str] = frozenset()
        if options.get("tool_choice") != "none":
            tools = frozenset(tool["function"]["name"] for tool in options.get("tools") or ())
        return reply(messages, tools)

    def _ending(self, answer: Reply) -> dict[str, Any]:
        return {"finish_reason": "tool_calls" if answer.calls else "stop", "model_name": self.model}


def _usage(messages: Sequence[BaseMessage], answer: Reply) -> UsageMetadata:
    prompt = sum(len(str(message.content)) for message in messages)
    output = len(answer.text) + sum(len(call.arguments_json()) for call in answer.calls)
    input_tokens = prompt // _CHARS_PER_TOKEN + 1
    output_tokens = output // _CHARS_PER_TOKEN + 1
    return UsageMetadata(
        input_tokens=input_tokens, output_tokens=output_tokens, total_tokens=input_tokens + output_tokens
    )
