"""What the emulated model does as a lead agent that delegates, and as its subagents."""

from collections.abc import Awaitable, Callable, Sequence

from agent_core.events import RunEvent, SubagentEnded, SubagentEvent, SubagentStarted
from tests.emulators.openai import Call, Recorded, Reply, Responder
from tests.emulators.openai.wire import ChatRequest, parse

Subagent = Callable[[str, ChatRequest], Reply | Awaitable[Reply]]
"""Answers a subagent's request; the first argument is the task's prompt."""


def is_subagent(request: ChatRequest) -> bool:
    """Whether a subagent asks, and not the lead agent."""
    return str(request.messages[0]["content"]).startswith("You are a subagent of Hart")


def task(prompt: str, kind: str = "general-purpose") -> Call:
    """A call that gives a task; its id is the prompt's first word."""
    arguments = {"description": f"Look at {prompt}", "prompt": prompt, "subagent_type": kind}
    return Call("task", arguments, id=f"task-{prompt.split()[0]}")


def delegating(subagent: Subagent, *rounds: Sequence[Call]) -> Responder:
    """Make the calls of each round in one response, then answer with all results."""

    def respond(request: ChatRequest) -> Reply | Awaitable[Reply]:
        if is_subagent(request):
            return subagent(request.last_user_text, request)
        results = request.tool_results()
        done = 0
        for calls in rounds:
            if len(results) == done:
                return Reply(calls=tuple(calls))
            done += len(calls)
        return Reply(" | ".join(results))

    return respond


def report(prompt: str, request: ChatRequest) -> Reply:
    """Report at once."""
    return Reply(f"report on {prompt}")


def subagent_events(events: Sequence[RunEvent], prompt: str) -> list[SubagentEvent]:
    """The events of one subagent."""
    return [e for e in events if isinstance(e, SubagentEvent) and e.task_id == f"task-{prompt.split()[0]}"]


def end_of(events: Sequence[RunEvent], prompt: str) -> SubagentEnded:
    """How a subagent ended."""
    (end,) = [e for e in subagent_events(events, prompt) if isinstance(e, SubagentEnded)]
    return end


def started(events: Sequence[RunEvent]) -> list[str]:
    """Ids of the tasks that were begun, in order."""
    return [event.task_id for event in events if isinstance(event, SubagentStarted)]


def asked_by_subagents(requests: Sequence[Recorded]) -> list[ChatRequest]:
    """The requests that subagents made."""
    parsed = [parse(request.body, frozenset({"test-model"})) for request in requests]
    return [request for request in parsed if is_subagent(request)]


def tokens_of(requests: Sequence[Recorded]) -> int:
    """Prompt tokens of all requests, as the emulated model counts them."""
    return sum(len(parse(r.body, frozenset({"test-model"})).prefix()) // 4 + 1 for r in requests)
