import io
import json
from pathlib import Path

import pytest

from channels.console.client import LocalClient
from channels.console.oneshot import run_oneshot
from tests.web.local_hall import LocalServer


@pytest.fixture
def out() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def err() -> io.StringIO:
    return io.StringIO()


async def test_the_answer_is_printed_and_nothing_else(
    client: LocalClient, out: io.StringIO, err: io.StringIO
) -> None:
    code = await run_oneshot(client, "main", "hello", out=out, err=err)
    assert (code, out.getvalue(), err.getvalue()) == (0, "You said: hello\n", "")


async def test_parts_of_an_answer_are_one_answer(client: LocalClient, out: io.StringIO) -> None:
    await run_oneshot(client, "main", "parts", out=out)
    assert out.getvalue() == "First part.\n\nYou said: parts\n"


async def test_json_has_the_thread_the_text_and_saved_files(
    client: LocalClient, out: io.StringIO, tmp_path: Path
) -> None:
    code = await run_oneshot(
        client, "plans", "file report.md # Report", downloads=tmp_path, as_json=True, out=out
    )
    path = tmp_path / "report.md"
    assert code == 0
    assert json.loads(out.getvalue()) == {
        "thread": "plans",
        "text": "You said: file report.md # Report",
        "files": [{"name": "report.md", "path": str(path)}],
    }
    assert path.read_text() == "# Report"


async def test_files_go_along(client: LocalClient, out: io.StringIO, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("content")
    code = await run_oneshot(
        client, "main", "look", [tmp_path / "a.txt"], downloads=tmp_path / "down", out=out
    )
    assert code == 0
    assert (tmp_path / "down" / "a.txt").read_text() == "content"
    assert f"Saved a.txt as {tmp_path / 'down' / 'a.txt'}" in out.getvalue()


async def test_an_earlier_answer_is_not_taken_for_ours(
    server: LocalServer, client: LocalClient, out: io.StringIO
) -> None:
    address = server.hall.channels["console"].address("main")
    await server.hall.say(address, "an older answer", "an-older-question")
    await server.hall.say(address, "a digest", None)
    await run_oneshot(client, "main", "hello", out=out)
    assert out.getvalue() == "You said: hello\n"


async def test_an_answer_that_takes_too_long_is_said_to_come_later(
    client: LocalClient, out: io.StringIO, err: io.StringIO
) -> None:
    code = await run_oneshot(client, "main", "wait", timeout=0.5, out=out, err=err)
    assert (code, out.getvalue()) == (1, "")
    assert "No answer within 0.5 s" in err.getvalue()


async def test_a_file_that_is_not_there_is_said_so(
    client: LocalClient, err: io.StringIO, tmp_path: Path
) -> None:
    assert await run_oneshot(client, "main", "hi", [tmp_path / "nope"], err=err) == 1
    assert "nope" in err.getvalue()


async def test_a_failed_run_fails(server: LocalServer, client: LocalClient, out: io.StringIO) -> None:
    code = await run_oneshot(client, "main", "fail", out=out)
    assert (code, out.getvalue()) == (1, "The model did not answer.\n")


async def test_a_server_that_is_gone_fails(
    server: LocalServer, client: LocalClient, err: io.StringIO
) -> None:
    await server.stop()
    assert await run_oneshot(client, "main", "hello", err=err) == 1
    assert "Is it running?" in err.getvalue()
    await server.start()
