"""The ``task`` tool: gives a part of the work to a subagent and waits for its report."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any

from langchain.tools import ToolRuntime
from langchain_core.messages import AnyMessage, ToolMessage
from langchain_core.tools import BaseTool, ToolException, tool
from langgraph.types import Command
from pydantic import Field

from agent_core.context import RunContext
from agent_core.events import SubagentStatus
from agent_core.lead_agent import LeadAgent
from agent_core.middlewares.tool_error_handling import TIMEOUT_KEY
from agent_core.state import TokenCount
from agent_core.subagents.record import as_artifact, recorded
from agent_core.subagents.run import Outcome, SubagentRun
from agent_core.subagents.spec import TASK_TOOL, SubagentSettings, SubagentSpec

AgentOf = Callable[[SubagentSpec], Awaitable[LeadAgent]]
"""Gives the graph of a kind of subagent."""

# The subagent's own limit comes first; this one only stands behind it.
_GRACE_SECONDS = 60.0

_DESCRIPTION = """\
Give one part of the work to a subagent. It works by itself, with a context of its own, and its report \
comes back as the result.

Use it for parts that take many steps or much reading, above all when several do not depend on each \
other: then make all the calls in one turn, and they run side by side. At most {at_once} calls in one \
turn and {per_run} for one request; for more parts, go on when the first have reported. Do yourself what \
takes one or two steps.

A subagent does not see the conversation, and you do not see its work: write into the prompt all it needs, \
and what it is to report. It has the same files as you, so let it write long results to a file and \
report the path. People do not see reports: put together what they should know in your answer.

Kinds of subagents:
{kinds}\
"""


def make_task_tool(
    specs: Mapping[str, SubagentSpec], settings: SubagentSettings, agent_of: AgentOf
) -> BaseTool:
    """Give the tool. Its description is the same for as long as the configuration is.

    Args:
        specs: The kinds there are, by name.
        settings: The limits.
        agent_of: Gives a kind's graph.
    """
    kinds = "\n".join(f"- {spec.name}: {spec.description}" for spec in specs.values())
    text = _DESCRIPTION.format(at_once=settings.at_once, per_run=settings.per_run, kinds=kinds)

    @tool(TASK_TOOL, description=text)
    async def task(
        description: Annotated[
            str, Field(description="What it does, in three to six words, for people to see")
        ],
        prompt: Annotated[str, Field(description="The whole task: goal, what is known, what to report")],
        subagent_type: Annotated[str, Field(description=f"Which kind of subagent: {', '.join(specs)}")],
        runtime: ToolRuntime[RunContext],
    ) -> Command[Any]:
        spec = specs.get(subagent_type)
        if spec is None:
            raise ToolException(f"There is no subagent {subagent_type!r}; there are {', '.join(specs)}.")
        call_id = runtime.tool_call_id
        assert call_id is not None, "a tool that a model calls has a call id"
        agent = await agent_of(spec)
        run = SubagentRun(agent, spec, call_id, description, runtime.context, runtime.stream_writer)
        return _result(call_id, await run.run(prompt))

    seconds = max((spec.seconds for spec in specs.values()), default=0.0)
    task.metadata = {TIMEOUT_KEY: seconds + _GRACE_SECONDS}
    return task


def _result(call_id: str, outcome: Outcome) -> Command[Any]:
    message: AnyMessage = ToolMessage(
        outcome.report or "The subagent ended without a report.",
        tool_call_id=call_id,
        name=TASK_TOOL,
        status="success" if outcome.status is SubagentStatus.COMPLETED else "error",
        artifact=as_artifact(outcome.files),
        response_metadata=recorded(outcome.usage),
    )
    used = outcome.usage
    count = TokenCount(input=used.input_tokens, output=used.output_tokens, cached=used.cached_tokens)
    paths = [file.path for file in outcome.files]
    return Command(update={"messages": [message], "artifacts": paths, "token_usage": count})
