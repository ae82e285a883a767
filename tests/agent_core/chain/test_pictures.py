"""Pictures for models that can see."""

import base64
from pathlib import Path
from typing import Any

from agent_core.middlewares.view_image import MAX_BYTES, mime_of
from agent_core.models.catalog import ModelCatalog
from agent_core.runtime import Upload
from tests.agent_core.harness import Bench, bench, chain_settings, spec
from tests.emulators.openai import Call, Fault, OpenAIEmulator, Recorded, Reply, sequence

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="
)
OTHER = PNG + b"another"
PHOTO = "/mnt/user-data/uploads/photo.png"
CHART = "/mnt/user-data/workspace/chart.png"


def seeing(emulator: OpenAIEmulator) -> ModelCatalog:
    return ModelCatalog([spec(emulator, vision=True)], None, 30)


def upload(b: Bench, data: bytes = PNG, path: str = PHOTO, mime: str = "image/png") -> Upload:
    """Put a file where attachments are put."""
    b.files().ensure()
    (b.files().root / "uploads" / path.rpartition("/")[2]).write_bytes(data)
    return Upload(path, path.rpartition("/")[2], len(data), mime)


def pictures(request: Recorded) -> list[tuple[int, bytes]]:
    """Give the pictures in a request, each with the number of its message."""
    found = []
    for number, message in enumerate(request.messages):
        parts: Any = message["content"] if isinstance(message["content"], list) else []
        for part in parts:
            if part["type"] == "image_url":
                head, _, data = part["image_url"]["url"].partition(";base64,")
                assert head == "data:image/png"
                found.append((number, base64.b64decode(data)))
    return found


async def test_a_picture_that_came_with_a_message_is_seen_now_and_later(
    tmp_path: Path, store_url: str | None
) -> None:
    async with (
        OpenAIEmulator() as emulator,
        bench(emulator, tmp_path, store_url, models=seeing(emulator)) as b,
    ):
        end = await b.answer("r1", "what is this?", uploads=[upload(b)])
        (b.files().root / "uploads/photo.png").write_bytes(OTHER)
        await b.answer("r2", "and now?")
        state = await b.runtime.state("thread")
    assert end.answer.startswith("answer to: what is this?")
    assert [pictures(request) for request in emulator.requests] == [[(1, PNG)], [(1, PNG)]]
    before, after = (str(request.messages) for request in emulator.requests)
    assert after.startswith(before[:-1]), "what was sent stays, though the file has changed"
    assert list(state["viewed_images"]) == [PHOTO]
    assert "base64" not in str(state)


async def test_a_picture_asked_for_follows_the_result_of_the_tool(tmp_path: Path) -> None:
    look = Call("view_image", {"path": CHART}, "look")
    script = sequence([Reply(calls=(look, Call("ls", {"path": "/mnt/user-data"}))), Reply("A chart.")])
    async with OpenAIEmulator(script) as emulator, bench(emulator, tmp_path, models=seeing(emulator)) as b:
        b.files().write(CHART, PNG)
        assert (await b.answer("r1")).answer == "A chart."
        b.files().write(CHART, OTHER)
        emulator.responder = sequence(
            [Reply(calls=(Call("view_image", {"path": CHART}),)), Reply("Another.")]
        )
        assert (await b.answer("r2")).answer == "Another."
    sent = emulator.requests[1]
    assert [m["role"] for m in sent.messages] == ["system", "user", "assistant", "tool", "tool", "user"]
    assert pictures(sent) == [(5, PNG)]
    assert [picture for _, picture in pictures(emulator.requests[-1])] == [PNG, OTHER]


async def test_what_is_no_picture_is_not_shown(tmp_path: Path) -> None:
    script = sequence(
        [
            Reply(
                calls=(
                    Call("view_image", {"path": PHOTO}),
                    Call("view_image", {"path": "/etc/passwd"}),
                    Call("view_image", {"path": "/mnt/user-data/workspace/none.png"}),
                )
            )
        ],
        then=lambda r: Reply(" | ".join(r.tool_results())),
    )
    async with OpenAIEmulator(script) as emulator, bench(emulator, tmp_path, models=seeing(emulator)) as b:
        end = await b.answer("r1", uploads=[upload(b, b"<svg/>")])
    assert "is no picture that can be viewed" in end.answer
    assert "only paths below" in end.answer
    assert "no such file" in end.answer
    assert not any(pictures(request) for request in emulator.requests)


async def test_a_picture_that_is_too_large_is_left_out(tmp_path: Path) -> None:
    async with OpenAIEmulator() as emulator, bench(emulator, tmp_path, models=seeing(emulator)) as b:
        await b.answer("r1", uploads=[upload(b, PNG + bytes(MAX_BYTES))])
    assert not pictures(emulator.requests[0])
    assert PHOTO in str(emulator.requests[0].messages)


async def test_a_model_that_cannot_see_gets_no_picture_and_no_tool(tmp_path: Path) -> None:
    async with OpenAIEmulator() as emulator, bench(emulator, tmp_path) as b:
        await b.answer("r1", uploads=[upload(b)])
    assert not pictures(emulator.requests[0])
    assert "view_image" not in str(emulator.requests[0].json["tools"])
    assert PHOTO in str(emulator.requests[0].messages)


async def test_a_fallback_that_cannot_see_is_told_that_there_is_a_picture(tmp_path: Path) -> None:
    async with OpenAIEmulator() as emulator, OpenAIEmulator(models=("blind",)) as blind:
        models = ModelCatalog([spec(emulator, vision=True), spec(blind, "blind")], None, 30)
        settings = chain_settings(fallback_models=("blind",))
        async with bench(emulator, tmp_path, models=models, settings=settings) as b:
            emulator.fail(Fault.of_status(401, "bad key"))
            await b.answer("r1", "what is this?", uploads=[upload(b)])
    assert blind.requests[0].status == 200
    assert not pictures(blind.requests[0])
    assert "this model cannot see pictures" in str(blind.requests[0].messages)


def test_pictures_are_known_by_their_first_bytes() -> None:
    assert mime_of(PNG) == "image/png"
    assert mime_of(b"\xff\xd8\xff\xe0") == "image/jpeg"
    assert mime_of(b"GIF89a") == "image/gif"
    assert mime_of(b"RIFF\x00\x00\x00\x00WEBPVP8 ") == "image/webp"
    assert mime_of(b"RIFF\x00\x00\x00\x00WAVE") is None
    assert mime_of(b"<svg/>") is None
