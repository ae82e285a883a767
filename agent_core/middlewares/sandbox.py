"""Which sandbox a thread works in."""

from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.messages import ToolMessage
from langgraph.types import Command

from agent_core.middlewares.layer import Layer, ToolHandler, ToolResult, context_of
from agent_core.sandbox.sandbox import SandboxProvider
from agent_core.state import SandboxState

_USES_IT = "bash"
_ANOTHER = (
    "(The commands of this conversation now run in another sandbox than before: "
    "what was installed outside /mnt/user-data is gone.)"
)


class SandboxMiddleware(Layer):
    """Notes the sandbox of a thread when its first command has run, and says when it has become another.

    It is acquired by the tool, so that a thread without commands costs nothing, and stays as long as
    the provider keeps it: a thread's next run is likely to need it again.

    Args:
        provider: Where commands run.
    """

    after = ("ThreadDataMiddleware",)
    before = ("SandboxAuditMiddleware", "ToolErrorHandlingMiddleware")

    def __init__(self, provider: SandboxProvider) -> None:
        super().__init__()
        self._provider = provider

    async def awrap_tool_call(self, request: ToolCallRequest, handler: ToolHandler) -> ToolResult:
        """Call the tool, then note where it ran."""
        result = await handler(request)
        if request.tool_call["name"] != _USES_IT or not isinstance(result, ToolMessage):
            return result
        context = context_of(request)
        sandbox = await self._provider.acquire(context.thread_id, context.files)
        known: SandboxState = request.state.get("sandbox", {})
        before = known.get("sandbox_id")
        if before == sandbox.id:
            return result
        now: SandboxState = {"sandbox_id": sandbox.id}
        if before is not None:
            now["replaces"] = before
            result = result.model_copy(update={"content": f"{result.text}\n{_ANOTHER}"})
        return Command(update={"messages": [result], "sandbox": now})
