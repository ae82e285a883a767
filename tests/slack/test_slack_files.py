"""Attachments are streamed to disk in full, or not at all, and the token goes to Slack alone."""

import os

import pytest
from aiohttp import web

from channels.errors import AttachmentError
from channels.messages import Attachment
from channels.slack.client import may_have_token
from tests.channels.full_disk import room_for
from tests.emulators.slack import DropAfter, Hang, RawAnswer, Redirect, Refuse, bad_gateway, too_many

MB = 1024 * 1024


def attachment(file, size=None):
    return Attachment("name.bin", file if isinstance(file, str) else file.id, size)


@pytest.fixture
async def elsewhere():
    """Another server: what it was asked for, and its address."""
    seen = []

    async def answer(request):
        seen.append(dict(request.headers))
        return web.Response(body=b"from elsewhere", content_type="application/octet-stream")

    application = web.Application()
    application.router.add_get("/{path:.*}", answer)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    yield seen, f"http://127.0.0.1:{port}/"
    await runner.cleanup()


async def test_a_file_known_to_be_too_large_is_not_asked_for(slack, channel, tmp_path):
    with pytest.raises(AttachmentError, match="at most 1 MB"):
        await channel.fetch(attachment("F07X", 2 * MB), tmp_path / "f", 1 * MB)

    assert slack.calls == []


async def test_a_file_larger_than_it_claims_is_cut_off(slack, channel, tmp_path):
    file = slack.store_file("a.bin", os.urandom(2 * MB), size=10)

    with pytest.raises(AttachmentError, match="at most 1 MB"):
        await channel.fetch(attachment(file, 10), tmp_path / "f", 1 * MB)

    assert list(tmp_path.iterdir()) == []


async def test_the_login_page_is_taken_for_what_it_is(slack, channel, tmp_path):
    file = slack.store_file("a.bin", b"data")
    slack.faults.add("file", Redirect(f"{slack.origin}/signin"))

    with pytest.raises(AttachmentError, match="files:read"):
        await channel.fetch(attachment(file), tmp_path / "f", MB)
    slack.faults.add("file", RawAnswer(b"<html>Sign in</html>"))
    with pytest.raises(AttachmentError, match="files:read"):
        await channel.fetch(attachment(slack.store_file("a.html", b"x", "text/html")), tmp_path / "f", MB)

    assert list(tmp_path.iterdir()) == []


async def test_without_the_scope_the_person_is_told_what_to_do(slack, channel, tmp_path):
    slack.scopes.discard("files:read")

    with pytest.raises(AttachmentError, match="files:read"):
        await channel.fetch(attachment(slack.store_file("a.bin", b"data")), tmp_path / "f", MB)


async def test_a_web_page_that_was_uploaded_is_a_file(slack, channel, tmp_path):
    file = slack.store_file("page.html", b"<html>mine</html>", "text/html")

    await channel.fetch(attachment(file), tmp_path / "f", MB)

    assert (tmp_path / "f").read_bytes() == b"<html>mine</html>"


async def test_a_redirect_to_another_host_does_not_take_the_token_along(slack, channel, tmp_path, elsewhere):
    seen, url = elsewhere
    file = slack.store_file("a.bin", b"data")
    slack.faults.add("file", Redirect(f"{url}cdn/1"))

    await channel.fetch(attachment(file), tmp_path / "f", MB)

    assert (tmp_path / "f").read_bytes() == b"from elsewhere"
    assert "Authorization" not in seen[0]


async def test_an_address_outside_slack_is_not_asked_at_all(slack, channel, tmp_path, elsewhere):
    seen, url = elsewhere
    linked = slack.store_file("a.bin", b"data", is_external=True, mode="external", url=f"{url}x")
    forged = slack.store_file("b.bin", b"data", url=f"{url}y")
    local = slack.store_file("c.bin", b"data", url="file:///etc/passwd")
    for file in (linked, forged, local):
        with pytest.raises(AttachmentError, match="outside Slack"):
            await channel.fetch(attachment(file), tmp_path / "f", MB)

    assert seen == []


async def test_endless_redirects_are_given_up(slack, channel, tmp_path):
    file = slack.store_file("a.bin", b"data")
    slack.faults.add("file", Redirect(f"{slack.origin}/files-pri/T0-{file.id}/x"), None)

    with pytest.raises(AttachmentError):
        await channel.fetch(attachment(file), tmp_path / "f", MB)

    assert slack.count("file") <= 6


async def test_a_download_that_breaks_is_tried_again_from_the_start(slack, channel, tmp_path, pauses):
    data = os.urandom(300_000)
    slack.faults.add("file", DropAfter())
    slack.faults.add("files.info", too_many(7))

    await channel.fetch(attachment(slack.store_file("a.bin", data)), tmp_path / "f", MB)

    assert (tmp_path / "f").read_bytes() == data
    assert pauses == [7, 2]


async def test_a_download_that_keeps_breaking_leaves_nothing(slack, channel, tmp_path):
    slack.faults.add("file", DropAfter(), None)

    with pytest.raises(AttachmentError, match="send it again"):
        await channel.fetch(attachment(slack.store_file("a.bin", b"x" * 100_000)), tmp_path / "f", MB)

    assert list(tmp_path.iterdir()) == []
    assert slack.count("file") == 3


@pytest.mark.parametrize(
    ("fault", "word"),
    [(Refuse("file_deleted"), "not there"), (Refuse("file_not_found"), "not there"), (Refuse("x"), "again")],
    ids=repr,
)
async def test_a_file_that_is_gone_is_not_asked_for_twice(fault, word, slack, channel, tmp_path):
    slack.faults.add("files.info", fault)

    with pytest.raises(AttachmentError, match=word):
        await channel.fetch(attachment(slack.store_file("a.bin", b"x")), tmp_path / "f", MB)

    assert slack.count("files.info") == 1


async def test_a_removed_file_is_said_to_be_removed(slack, channel, tmp_path):
    with pytest.raises(AttachmentError, match="not there"):
        await channel.fetch(attachment(slack.store_file("a.bin", b"x", mode="tombstone")), tmp_path / "f", MB)


async def test_silence_and_outages_are_attachment_errors(slack, build, tmp_path):
    channel = build(response_seconds=0.2)
    file = slack.store_file("a.bin", b"x")
    slack.faults.add("file", Hang(), None)
    with pytest.raises(AttachmentError):
        await channel.fetch(attachment(file), tmp_path / "f", MB)
    slack.faults.clear()
    slack.faults.add("files.info", bad_gateway(), None)
    with pytest.raises(AttachmentError):
        await channel.fetch(attachment(file), tmp_path / "f", MB)
    async with slack.offline():
        with pytest.raises(AttachmentError):
            await channel.fetch(attachment(file), tmp_path / "f", MB)

    assert list(tmp_path.iterdir()) == []


async def test_a_full_disk_is_told_as_one(slack, channel, tmp_path):
    with room_for(500), pytest.raises(AttachmentError, match="no room"):
        await channel.fetch(attachment(slack.store_file("a.bin", os.urandom(1000))), tmp_path / "f", MB)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("url", "base_url", "allowed"),
    [
        ("https://files.slack.com/files-pri/T-F/x", "https://slack.com/api/", True),
        ("https://team.slack.com/x", "https://slack.com/api/", True),
        ("https://files.slack.com/x", "https://proxy.example/api/", True),
        ("https://proxy.example/x", "https://proxy.example/api/", True),
        ("http://files.slack.com/x", "https://slack.com/api/", False),
        ("https://slack.com.evil.example/x", "https://slack.com/api/", False),
        ("https://evilslack.com/x", "https://slack.com/api/", False),
        ("https://slack.com@evil.example/x", "https://slack.com/api/", False),
        ("https://evil.example/slack.com", "https://slack.com/api/", False),
        ("http://127.0.0.1:81/x", "http://127.0.0.1:80/api/", False),
        ("https://slack.com/api/x", "http://127.0.0.1:80/api/", False),
        ("file:///etc/passwd", "https://slack.com/api/", False),
    ],
)
def test_only_slack_and_the_configured_server_may_have_the_token(url, base_url, allowed):
    assert may_have_token(url, base_url) is allowed
