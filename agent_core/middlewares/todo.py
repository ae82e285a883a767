"""Plan mode: the model keeps a list of steps, and does not end before they are done."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from langchain.tools import ToolRuntime
from langchain_core.messages import AnyMessage, ToolMessage
from langchain_core.tools import BaseTool, tool
from langgraph.types import Command
from pydantic import Field

from agent_core.context import RunContext
from agent_core.middlewares.layer import Answer, Layer, ModelHandler, Request
from agent_core.middlewares.reminders import remind, reminders_of
from agent_core.middlewares.responses import charged, is_final
from agent_core.middlewares.turn import current_turn
from agent_core.state import Reminder, TodoItem
from agent_core.summary import visible

_MAX_TODOS = 50

_UNFINISHED = (
    "Your plan has steps that are not completed:\n{steps}\nIf they are done, or no longer needed, write the "
    "plan anew with write_todos. If not, do them. Then give the whole answer."
)
_PLAN = "Your plan, which is no longer in the conversation:\n{steps}"


@tool
async def write_todos(
    todos: Annotated[list[TodoItem], Field(description="The whole plan, in order", max_length=_MAX_TODOS)],
    runtime: ToolRuntime[RunContext],
) -> Command[Any]:
    """Write down your plan for work of three steps or more, and keep it up to date.

    Each call replaces the whole plan. Set a step in_progress before you begin it and completed as soon
    as it is done, not several at once; add steps that turn up, drop those no longer needed. The plan is
    shown to people while you work; it is not the answer. For simple requests do without it.
    """
    done = sum(todo["status"] == "completed" for todo in todos)
    text = f"The plan has {len(todos)} steps, {done} of them completed."
    result = ToolMessage(text, tool_call_id=runtime.tool_call_id, name=write_todos.name)
    return Command(update={"todos": [dict(todo) for todo in todos], "messages": [result]})


class TodoMiddleware(Layer):
    """Brings ``write_todos``, and reminds of steps left over.

    LangChain's ``TodoListMiddleware`` adds to the system prompt, and its hook after the model costs a
    checkpoint per call.
    """

    before = ("ReminderMiddleware", "TerminalResponseMiddleware")

    def __init__(self) -> None:
        super().__init__()
        self.tools: list[BaseTool] = [write_todos]

    async def awrap_model_call(self, request: Request, handler: ModelHandler) -> Answer:
        """Call the model; once more when it ends with steps left over."""
        messages = request.state["messages"]
        todos: list[TodoItem] = request.state.get("todos", [])  # type: ignore[assignment]
        steps = open_steps(todos)
        if not steps:
            return await handler(request)
        reminders = reminders_of(request)
        plan = _PLAN.format(steps=steps)
        seen = visible(messages, request.state.get("summary"))  # type: ignore[arg-type]
        asked = request if _is_known(seen, reminders) else remind(request, plan)
        response = await handler(asked)
        # Only of what was planned or worked on in this turn, and once: a person may have turned to else.
        if not is_final(response) or not _is_planning(messages) or _was_told(messages, reminders):
            return response
        return charged(await handler(remind(asked, _UNFINISHED.format(steps=steps))), response)


def open_steps(todos: Sequence[TodoItem]) -> str:
    """Give the steps not completed, one line each; empty when all are. Pure."""
    return "\n".join(f"- {t['content']} ({t['status']})" for t in todos if t["status"] != "completed")


def _is_known(messages: Sequence[AnyMessage], reminders: Mapping[str, Sequence[Reminder]]) -> bool:
    """Tell whether the plan can still be read: from the call that wrote it, or from a reminder."""
    head = _PLAN.partition("\n")[0]
    return any(
        _writes_plan(message) or any(r["text"].startswith(head) for r in reminders.get(message.id or "", ()))
        for message in messages
    )


def _is_planning(messages: Sequence[AnyMessage]) -> bool:
    return any(_writes_plan(message) for message in current_turn(messages))


def _was_told(messages: Sequence[AnyMessage], reminders: Mapping[str, Sequence[Reminder]]) -> bool:
    head = _UNFINISHED.partition("\n")[0]
    return any(
        reminder["text"].startswith(head)
        for message in current_turn(messages)
        for reminder in reminders.get(message.id or "", ())
    )


def _writes_plan(message: AnyMessage) -> bool:
    return isinstance(message, ToolMessage) and message.name == write_todos.name
