"""Ends a run that must not go on with an answer that helps."""

from agent_core.middlewares.layer import ModelHandler, Request, Response
from agent_core.middlewares.reminders import remind
from agent_core.middlewares.responses import is_final, said, spoken

_NO_TOOLS = "No tool can be used any more. Answer now: say what was done, what is missing, and how to go on."


async def wrap_up(request: Request, handler: ModelHandler, why: str, otherwise: str) -> Response:
    """Let the model sum up, without tools.

    Args:
        request: As it would have been sent.
        handler: Calls the model.
        why: Told to the model: the reason to stop, a whole sentence.
        otherwise: Told to people when the model still says nothing.
    """
    nudged = remind(request, f"{why} {_NO_TOOLS}")
    # The tools stay in the request, so that the cached prefix holds; they are only closed.
    response = await handler(nudged.override(tool_choice="none" if request.tools else None))
    if is_final(response):
        return response
    return said(response, spoken(response).text.strip() or otherwise)
