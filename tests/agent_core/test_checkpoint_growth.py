"""Stored state stays as small as what the model is sent."""

import asyncio
from pathlib import Path
from typing import Any

import aiosqlite
import psycopg

from agent_core.checkpoints import open_checkpoints
from agent_core.lead_agent import make_lead_agent
from agent_core.models.catalog import ModelCatalog
from agent_core.models.offline import OfflineChatModel
from agent_core.models.spec import ModelSpec
from agent_core.summary import SummaryLimits
from tests.agent_core.harness import bench
from tests.emulators.openai import OpenAIEmulator, Reply

TURNS = 200


async def _stored(path: Path) -> tuple[int, int]:
    async with aiosqlite.connect(path) as connection:
        cursor = await connection.execute("SELECT COUNT(*), SUM(LENGTH(checkpoint)) FROM checkpoints")
        row = await cursor.fetchone()
        writes = await (await connection.execute("SELECT COUNT(*) FROM writes")).fetchone()
    assert row is not None
    assert writes is not None
    return row[0] + writes[0], row[1]


async def test_what_two_hundred_turns_store_is_bounded(tmp_path: Path) -> None:
    """The agent itself, without a network: what is measured is the store."""
    models = ModelCatalog([ModelSpec("test-model", "agent_core.models.offline:OfflineChatModel")], None, 10)
    sizes = []
    async with OpenAIEmulator() as emulator, bench(emulator, tmp_path, models=models) as b:
        for turn in range(TURNS):
            await b.answer(f"run-{turn}", f"message {turn} " + "x" * 200)
            await b.runtime.prune("thread")
            if turn in (49, 99, TURNS - 1):
                sizes.append(await _stored(tmp_path / "checkpoints.db"))
    assert max(rows for rows, _ in sizes) <= 3
    kept = SummaryLimits().messages * 220
    assert max(size for _, size in sizes) < 3 * kept


async def test_postgres_keeps_one_checkpoint_and_the_conversation(tmp_path: Path, postgres_url: str) -> None:
    async with (
        OpenAIEmulator(lambda _: Reply("ok")) as emulator,
        bench(emulator, tmp_path, postgres_url) as b,
    ):
        for turn in range(8):
            await b.answer(f"run-{turn}")
            await b.runtime.prune("thread")
        history = await b.runtime.history("thread")
        await b.runtime.prune("thread")
        async with await psycopg.AsyncConnection.connect(postgres_url) as connection:
            counts = [await _count(connection, table) for table in ("checkpoints", "checkpoint_writes")]
        await b.runtime.delete("thread")
        async with await psycopg.AsyncConnection.connect(postgres_url) as connection:
            left = [
                await _count(connection, t) for t in ("checkpoints", "checkpoint_blobs", "checkpoint_writes")
            ]
    assert len(history) == 16
    assert counts == [1, 0]
    assert left == [0, 0, 0]


async def _count(connection: psycopg.AsyncConnection[Any], table: str) -> int:
    row = await (await connection.execute(f"SELECT COUNT(*) FROM {table}".encode())).fetchone()
    assert row is not None
    return int(row[0])


async def test_many_nodes_can_set_up_at_once(postgres_url: str, tmp_path: Path) -> None:
    async def node() -> None:
        async with open_checkpoints(postgres_url, tmp_path / "unused.db") as checkpoints:
            agent = make_lead_agent(OfflineChatModel(), [], [], checkpoints.saver, "prompt")
            await agent.aget_state({"configurable": {"thread_id": "t"}})

    async with asyncio.timeout(30):
        await asyncio.gather(*(node() for _ in range(6)))
