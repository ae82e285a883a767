"""The thread's folders and files: there before a tool wants them, and noted when they are presented."""

import asyncio
from typing import Any

from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.messages import ToolMessage
from langgraph.types import Command

from agent_core.middlewares.layer import Layer, ToolHandler, ToolResult, context_of
from agent_core.tools.present import presented_files


class ThreadDataMiddleware(Layer):
    """Makes the folders before the first tool call of a run, and keeps the list of artifacts.

    Where they are is in the run's context and not in the state: a thread may be resumed where the paths
    differ, and then no hook at the beginning of a run is called.
    """

    before = ("UploadsMiddleware", "ToolOutputBudgetMiddleware")

    def __init__(self) -> None:
        super().__init__()
        self._ready: str | None = None

    async def awrap_tool_call(self, request: ToolCallRequest, handler: ToolHandler) -> ToolResult:
        """Make the folders, call the tool, note what it presented."""
        context = context_of(request)
        if self._ready != context.run_id:
            await asyncio.to_thread(context.files.ensure)
            self._ready = context.run_id
        result = await handler(request)
        if not isinstance(result, ToolMessage):
            return result
        paths = [file.path for file in presented_files([result])]
        if not paths:
            return result
        update: dict[str, Any] = {"messages": [result], "artifacts": paths}
        return Command(update=update)
