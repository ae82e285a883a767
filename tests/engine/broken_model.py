"""A chat model with a bug: what it raises is no failure that a model can have."""

from collections.abc import AsyncIterator
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGenerationChunk

from agent_core.models.offline import OfflineChatModel


class BrokenModel(OfflineChatModel):
    """Raises at each call for as long as the last message says ``try``; otherwise the stand-in."""

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        if messages[-1].text.rpartition("</system-reminder>")[2].lstrip().startswith("try"):
            raise ZeroDivisionError("a bug")
        async for chunk in super()._astream(messages, stop, run_manager, **kwargs):
            yield chunk
