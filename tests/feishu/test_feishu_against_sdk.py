"""The real SDK understands our frames, and can talk to the emulator; so both are true to the platform."""

import asyncio
import json
import random
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from channels.feishu.frames import Frame, answer_frame, decode, encode, ping_frame
from tests.emulators.feishu import FeishuEmulator

PATIENCE = 240.0
"""The SDK takes ten seconds to load, and a minute on a busy machine."""


class Judge:
    """The other process, line by line."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def ask(self, **request: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        await self._process.stdin.drain()

    async def hear(self) -> dict[str, object]:
        assert self._process.stdout is not None
        async with asyncio.timeout(PATIENCE):
            # The SDK writes its log there, too.
            while (line := await self._process.stdout.readline()).startswith(b"[Lark]"):
                continue
        assert line, "the judge has gone"
        return json.loads(line)


@asynccontextmanager
async def judge(feishu: FeishuEmulator) -> AsyncIterator[Judge]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.feishu.lark_judge",
        feishu.base_url,
        feishu.app_id,
        feishu.app_secret,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=64 * 1024 * 1024,
    )
    try:
        one = Judge(process)
        assert await one.hear() == {"ready": True}
        yield one
    finally:
        process.kill()
        await process.wait()


def some_frames() -> list[Frame]:
    chance = random.Random(7)
    texts = ["", "event", "grüße 世界 😀", "x" * 300, "\x00"]
    numbers = [0, 1, 127, 128, 2**31, 2**63, 2**64 - 1]
    small = [0, 1, -1, 2**31 - 1, -(2**31), 33554678]
    frames = [
        Frame(
            chance.choice(numbers),
            chance.choice(numbers),
            chance.choice(small),
            chance.choice(small),
            tuple((chance.choice(texts), chance.choice(texts)) for _ in range(chance.randrange(5))),
            *(chance.choice([None, *texts]) for _ in range(2)),
            chance.choice([None, b"", b"{}", chance.randbytes(200), chance.randbytes(70_000)]),
            chance.choice([None, *texts]),
        )
        for _ in range(150)
    ]
    event = Frame(3, 9, 33554678, 1, (("type", "event"), ("message_id", "m")), payload=b"{}")
    return [
        *frames,
        ping_frame(33554678),
        answer_frame(event, 200, {"toast": {}}, 12),
        answer_frame(event, 500),
    ]


@pytest.mark.timeout(600)
async def test_the_sdk_reads_our_frames_and_listens_to_the_emulator(fs, ann):
    async with judge(fs) as sdk:
        await check_frames(sdk)
        await check_events(sdk, fs, ann)


async def check_frames(sdk):
    """The SDK's codec and ours read each other's frames."""
    frames = some_frames()
    await sdk.ask(frames=[encode(frame).hex() for frame in frames])
    answer = await sdk.hear()
    for frame, read in zip(frames, answer["frames"], strict=True):
        assert read["numbers"] == [frame.seq_id, frame.log_id, frame.service, frame.method]
        assert read["headers"] == [list(header) for header in frame.headers]
        assert (read["encoding"], read["type"], read["log"]) == (
            frame.payload_encoding,
            frame.payload_type,
            frame.log_id_new,
        )
        assert read["payload"] == (None if frame.payload is None else frame.payload.hex())
        assert decode(bytes.fromhex(read["again"])) == frame


async def check_events(sdk, fs, ann):
    """The real client connects, pings, puts split events together and answers cards."""
    group = fs.group("Ops")
    root = fs.say(group, ann, "begin", push=False)
    fs.parts = 3
    await sdk.ask(listen=True)
    await fs.wait_until_connected(timeout=PATIENCE)
    await fs.wait_for(lambda: fs.pings > 0, PATIENCE)
    written = fs.say(group, ann, "@Hart grüße", reply_to=root.id, in_thread=True)
    told = await sdk.hear()
    used = fs.use_card(root.id, ann, {"choice": "yes"})
    card = await sdk.hear()
    unknown = fs.push("im.message.message_read_v1", {"reader": {}})
    await fs.wait_for(lambda: used.acked and unknown.codes)

    assert told == {
        "message": written.id,
        "chat": group.id,
        "chat_type": "group",
        "kind": "text",
        "content": '{"text": "@_user_1 grüße"}',
        "thread": written.thread_id,
        "root": root.id,
        "parent": root.id,
        "sender": ann.open_id,
        "sender_type": "user",
        "mentions": [["@_user_1", fs.bot.open_id, "Hart"]],
    }
    assert card == {"card": root.id, "value": {"choice": "yes"}}
    assert used.answer["toast"]["content"] == "done"
    assert unknown.codes[0] == 500, "the SDK refuses what nobody registered for; the emulator tries again"
