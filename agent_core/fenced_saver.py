"""What both stores add to LangGraph's savers: each write asks the fence first, and can be waited for."""

from collections.abc import Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
)

from agent_core import fence
from agent_core.pending_writes import PendingWrites


class FencedSaver(BaseCheckpointSaver[str]):
    """Put before a saver of LangGraph in the bases of a class.

    Attributes:
        pending: The writes under way.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.pending = PendingWrites()

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Ask the fence, then store a checkpoint."""
        fence.check()
        with self.pending.write(config):
            return await super().aput(config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Ask the fence, then store what a task wrote."""
        fence.check()
        with self.pending.write(config):
            await super().aput_writes(config, writes, task_id, task_path)
