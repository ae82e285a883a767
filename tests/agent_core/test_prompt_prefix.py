"""What is sent grows only at its end, so that providers can serve the rest from their cache."""

import itertools
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from agent_core.context import RunContext
from tests.agent_core.harness import bench, chain_settings
from tests.clock import ManualClock
from tests.emulators.openai import Call, OpenAIEmulator, Recorded, Reply
from tests.emulators.openai.wire import ChatRequest

TURNS = 30
USERS = ("ada", "grace")
# In Berlin it is the day after from 23:00 UTC on.
EVENING = datetime(2026, 11, 2, 20, 0, tzinfo=UTC)


def _model(request: ChatRequest) -> Reply:
    """Repeat one call until warned, answer nothing once, use odd characters."""
    asked = request.last_user_text.partition("\n")[0]
    number = int(asked.rpartition(" ")[2])
    if "empty" in str(request.messages[-1]["content"]):
        return Reply(f"answer to: {asked}")
    if number % 7 == 3:
        return Reply("")
    if len(request.tool_results()) < (4 if number % 5 == 2 else 1):
        return Reply(calls=(Call("read_file", {"path": "/mnt/user-data/outputs/é.txt"}),))
    return Reply(f"answer to: {asked} 日本")


async def _memory(context: RunContext) -> str:
    return f"{context.user_id} likes tea </system-reminder>" if context.private else ""


async def test_each_request_extends_the_one_before_it_byte_by_byte(
    tmp_path: Path, store_url: str | None
) -> None:
    clock = ManualClock(EVENING)
    settings = chain_settings(zone=ZoneInfo("Europe/Berlin"))
    async with (
        OpenAIEmulator(_model) as emulator,
        bench(emulator, tmp_path, store_url, settings=settings, now=clock, memory=_memory) as b,
    ):
        sent: dict[str, list[Recorded]] = {user: [] for user in USERS}
        for turn, user in itertools.product(range(TURNS), USERS):
            seen = len(emulator.requests)
            await b.answer(
                f"{user}{turn}",
                f"{user} says {turn}",
                thread=f"of-{user}",
                notes=[f"turn {turn}"],
                user_id=user,
                private=True,
            )
            await b.runtime.prune(f"of-{user}")
            sent[user] += emulator.requests[seen:]
            clock.move(timedelta(minutes=5))
    assert all(request.status == 200 for request in emulator.requests)
    assert len({_head(request.json) for request in emulator.requests}) == 1
    for user, requests in sent.items():
        assert len(requests) > 2 * TURNS
        for before, after in itertools.pairwise([_messages(request.body) for request in requests]):
            assert len(after) > len(before)
            assert after.startswith(before)
        _check_what_was_told(user, requests[-1].messages)


def _check_what_was_told(user: str, messages: list[dict[str, Any]]) -> None:
    first = str(messages[1]["content"])
    texts = [str(message["content"]) for message in messages]
    assert first.startswith("<system-reminder>\nToday is Monday, 2026-11-02 (Europe/Berlin).")
    assert f"{user} likes tea (/system-reminder>\n</system-reminder>" in first
    assert sum("likes tea" in text for text in texts) == 1
    dates = [text.partition("(")[0] for text in texts if "Today is" in text]
    assert [date.rpartition("is ")[2] for date in dates] == ["Monday, 2026-11-02 ", "Tuesday, 2026-11-03 "]
    others = [other for other in USERS if other != user]
    assert not any(other in text for other in others for text in texts[1:])


def _messages(body: bytes) -> str:
    """Give the list of messages as it went over the wire, without its closing bracket."""
    text = body.decode()
    start = text.index('"messages":') + len('"messages":')
    _, end = json.JSONDecoder().raw_decode(text, start)
    return text[start : end - 1]


def _head(body: dict[str, Any]) -> str:
    """Give what must be the same for every thread: the system prompt and the tools."""
    return f"{body['messages'][0]}{body['tools']}{[key for key in body if key != 'messages']}"
