"""Commands about the conversation: ``/new``, ``/status``, ``/stop``."""

from datetime import timedelta
from functools import partial

from bot.clock import new_id
from bot.commands.registry import Command, CommandContext
from bot.lanes import thread_lane
from bot.models import usable_model
from bot.modes import usable_mode
from bot.store import lanes, runs, threads


async def new(context: CommandContext) -> str:
    """Confirm the new thread; it was opened as the command was stored."""
    thread = await context.database.run(partial(threads.get, thread_id=context.thread_id))
    reply = "Started a new conversation. What came before stays readable, but I no longer have it in mind."
    model = thread.model
    return f"{reply} Model: `{model}`." if model else reply


async def status(context: CommandContext) -> str:
    """Tell how the thread is doing."""
    database = context.database
    thread = await database.run(partial(threads.get, thread_id=context.thread_id))
    busy = await database.run(partial(threads.running, thread_id=thread.id))
    waiting = await database.run(partial(lanes.open_count, lane=thread_lane(thread.id)))
    used = await database.run(partial(runs.usage, thread_id=thread.id))
    model = usable_model(context.models, thread.model)
    window = context.models.spec(model).context_window
    context_line = f"{used.context_tokens:,} tokens"
    if window:
        context_line += f" of {window:,} ({used.context_tokens / window:.0%})"
    queued = max(0, waiting - (1 if busy else 0))
    lines = [
        f"- Thread: `{thread.id[:8]}` (conversation {thread.generation})",
        f"- Model: `{model}`",
        f"- Mode: `{usable_mode(thread.mode, context.mode)}`",
        f"- Working: {'yes, for ' + _ago(context.now - busy.started_at) if busy else 'no'}",
        f"- Waiting messages: {queued}",
        f"- Tokens used: {used.input_tokens + used.output_tokens:,} "
        f"({used.input_tokens:,} in, {used.output_tokens:,} out, {_runs(used.runs)})",
        f"- Context: {context_line}",
    ]
    if used.cost is not None:
        lines.append(f"- Cost: ${used.cost:,.4f}")
    return "\n".join(lines)


async def stop(context: CommandContext) -> str:
    """End what the thread is busy with."""
    stopping = await context.database.run(
        partial(
            runs.request_stop,
            thread_id=context.thread_id,
            received_by=context.inbound_id,
            new_run_id=new_id(),
            now=context.now,
        )
    )
    if stopping is None:
        return "Nothing is running here."
    await context.stop(stopping.thread_id, stopping.run_id)
    waiting = await context.database.run(partial(lanes.open_count, lane=thread_lane(stopping.thread_id)))
    if waiting > 1:
        behind = waiting - 1
        return f"Stopping. {behind} more {'message is' if behind == 1 else 'messages are'} waiting behind it."
    return "Stopping."


def _ago(span: timedelta) -> str:
    seconds = int(span.total_seconds())
    if seconds < 60:
        return f"{seconds} s"
    minutes, seconds = divmod(seconds, 60)
    if minutes < 60:
        return f"{minutes} min {seconds} s"
    return f"{minutes // 60} h {minutes % 60} min"


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count} runs"


COMMANDS = (
    Command("new", "[message]", "Start a new conversation", new, opens_thread=True),
    Command("status", "", "Show what I am doing and what this conversation has used", status),
    Command("stop", "", "Stop what I am doing here", stop),
)
