"""The tool that runs commands in the thread's sandbox."""

from typing import Annotated

from langchain.tools import ToolRuntime
from langchain_core.tools import BaseTool, ToolException, tool
from pydantic import Field

from agent_core.context import RunContext
from agent_core.sandbox.sandbox import CommandResult, SandboxError, SandboxProvider

OUTPUT_CHARS = 20_000
DEFAULT_SECONDS = 120
_KILLED = 137


def make_bash(provider: SandboxProvider, most_seconds: int = 600) -> BaseTool:
    """Give the tool.

    Args:
        provider: Where commands run.
        most_seconds: The longest time a command may be given.
    """
    default = min(DEFAULT_SECONDS, most_seconds)

    @tool
    async def bash(
        command: Annotated[str, Field(description="For bash -c; several lines are fine", min_length=1)],
        runtime: ToolRuntime[RunContext],
        timeout_seconds: Annotated[
            int, Field(description="When to kill it if it has not ended", ge=1, le=most_seconds)
        ] = default,
    ) -> str:
        """Run a command in the sandbox of this conversation, in /mnt/user-data/workspace.

        It sees the same files as the other tools: /mnt/user-data/workspace and /mnt/user-data/outputs
        to write to, /mnt/user-data/uploads and /mnt/skills to read. Nothing runs on after a command:
        start a server and use it in one command. Gives what the command wrote, and its exit code
        unless that is 0.
        """
        context = runtime.context
        try:
            sandbox = await provider.acquire(context.thread_id, context.files)
            result = await sandbox.run(command, timeout=timeout_seconds, output_limit=OUTPUT_CHARS)
        except SandboxError as error:
            raise ToolException(f"The command was not run: {error}") from None
        return told(result, timeout_seconds)

    return bash


def told(result: CommandResult, seconds: int) -> str:
    """Say what came of a command. Pure."""
    parts = [result.output.rstrip("\n") or "(no output)"]
    if result.timed_out:
        parts.append(f"(killed after {seconds} s; give it more time, or do less at once)")
    elif result.exit_code == _KILLED:
        parts.append(f"(exit code {_KILLED}: killed, most likely for using too much memory)")
    elif result.exit_code:
        parts.append(f"(exit code {result.exit_code})")
    if result.notice:
        parts.append(f"({result.notice})")
    return "\n".join(parts)
