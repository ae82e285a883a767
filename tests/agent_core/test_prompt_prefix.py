"""What is sent grows only at its end, so that providers can serve the rest from their cache."""

import itertools
import json
from pathlib import Path
from typing import Any

from tests.agent_core.harness import bench
from tests.emulators.openai import Call, OpenAIEmulator, Reply
from tests.emulators.openai.wire import ChatRequest


def one_tool_then_answer(request: ChatRequest) -> Reply:
    if not request.tool_results():
        return Reply(calls=(Call("read_file", {"path": "/mnt/user-data/outputs/é.txt"}),))
    return Reply(f"answer to: {request.last_user_text}")


async def test_each_request_extends_the_one_before_it_byte_by_byte(
    tmp_path: Path, store_url: str | None
) -> None:
    async with OpenAIEmulator(one_tool_then_answer) as emulator, bench(emulator, tmp_path, store_url) as b:
        for turn in range(10):
            for thread in ("a", "b"):
                await b.answer(
                    f"{thread}{turn}", f"{thread} says {turn}", thread=thread, notes=[f"day {turn}"]
                )
                await b.runtime.prune(thread)
    bodies = [request.body for request in emulator.requests]
    threads: dict[str, list[bytes]] = {"a": [], "b": []}
    for request, body in zip(emulator.requests, bodies, strict=True):
        threads[request.messages[1]["content"][0]].append(body)
    for sent in threads.values():
        assert len(sent) == 20
        for before, after in itertools.pairwise([_messages(body) for body in sent]):
            assert len(after) > len(before)
            assert after.startswith(before)
    assert len({_head(request.json) for request in emulator.requests}) == 1
    assert all(request.status == 200 for request in emulator.requests)


def _messages(body: bytes) -> str:
    """Give the list of messages as it went over the wire, without its closing bracket."""
    text = body.decode()
    start = text.index('"messages":') + len('"messages":')
    _, end = json.JSONDecoder().raw_decode(text, start)
    return text[start : end - 1]


def _head(body: dict[str, Any]) -> str:
    """Give what must be the same for every thread: the system prompt and the tools."""
    return f"{body['messages'][0]}{body['tools']}{[key for key in body if key != 'messages']}"
