"""Bounds how many times one run may call the model."""

from agent_core.middlewares.layer import Answer, Layer, ModelHandler, Request
from agent_core.middlewares.turn import calls_in_turn
from agent_core.middlewares.wrap_up import wrap_up

_WHY = "This run has reached its limit of {limit} model calls."
_STOPPED = (
    "I stopped after {limit} steps, which is the limit for one request. Ask me to go on, or split the "
    "request into smaller ones."
)


class CallLimitMiddleware(Layer):
    """After ``limit`` model calls gives the model one last call, without tools, to wrap up.

    LangChain's ``ModelCallLimitMiddleware`` uses node hooks (a checkpoint per call) and ends with a
    sentence that helps nobody. The count is read off the messages, so it holds after a resume.
    """

    before = ("ReminderMiddleware",)

    def __init__(self, limit: int) -> None:
        super().__init__()
        self._limit = limit

    async def awrap_model_call(self, request: Request, handler: ModelHandler) -> Answer:
        """Call the model, or let it wrap up."""
        if calls_in_turn(request.state["messages"]) < self._limit:
            return await handler(request)
        why, stopped = _WHY.format(limit=self._limit), _STOPPED.format(limit=self._limit)
        return await wrap_up(request, handler, why, stopped)
