"""The tokens go to Slack and nowhere else."""

import asyncio
import logging
import subprocess
import sys
import traceback

import pytest

from channels.errors import AttachmentError, ChannelRefusedError, SendError
from channels.messages import Address, Attachment, OutboundFile, OutboundMessage, OutboundText
from channels.views import RunView
from tests.emulators.slack import (
    SIGNING_SECRET,
    DropAfter,
    DropBefore,
    Hang,
    RawAnswer,
    Refuse,
    bad_gateway,
    missing_scope,
    too_many,
)

FAULTS = (
    DropBefore(),
    DropAfter(),
    bad_gateway(),
    RawAnswer(b"?"),
    Hang(),
    too_many(1),
    Refuse("channel_not_found"),
    missing_scope("chat:write"),
)
METHODS = (
    "auth.test",
    "apps.connections.open",
    "link",
    "users.info",
    "chat.postMessage",
    "files.getUploadURLExternal",
    "upload",
    "files.completeUploadExternal",
    "reactions.add",
    "files.info",
    "file",
)


def told(error):
    """All that a log would show of an error, local variables included."""
    shown = traceback.TracebackException.from_exception(error, capture_locals=True)
    return "".join(shown.format()) + repr(error) + str(error)


async def test_no_token_is_in_a_log_line_error_or_repr(slack, ann, build, inbox, listening, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    channel = build(response_seconds=0.2)
    home = slack.dm(ann)
    here = Address("slack", "main", home.id)
    (tmp_path / "f").write_bytes(b"data")
    for method in METHODS:
        for fault in FAULTS:
            slack.faults.add(method, fault)
    errors = []
    async with listening(channel, connected=False):
        slack.say(home, ann, "hi")
        await inbox.wait_for(1, 30)
        for number in range(len(FAULTS)):
            for content in (OutboundText("x"), OutboundFile(tmp_path / "f", "f.txt")):
                with pytest.raises(SendError) as caught:
                    await channel.send(OutboundMessage(here, "k", content))
                errors.append(caught.value)
            await channel.show(here, RunView("r", f"1.00000{number}"))
        with pytest.raises(AttachmentError) as lost:
            await channel.fetch(Attachment("f", slack.store_file("f", b"x").id), tmp_path / "g", 100)
        errors.append(lost.value)
    slack.faults.clear()
    slack.revoked = {slack.bot_token, slack.app_token}
    for refuse in (channel.check(), channel.receive(inbox)):
        with pytest.raises(ChannelRefusedError) as refused:
            await asyncio.wait_for(refuse, 10)
        errors.append(refused.value)

    text = caplog.text + repr(channel) + "".join(told(error) for error in errors)
    assert "not listening" in caplog.text
    assert len(errors) == 2 * len(FAULTS) + 3
    for secret in (slack.bot_token, slack.app_token, "ticket="):
        assert secret not in text
        assert secret[-20:] not in text


async def test_what_is_set_aside_holds_nothing_to_act_with(slack, ann, channel, inbox, listening, caplog):
    caplog.set_level(logging.DEBUG)
    async with listening(channel):
        slack.push_event({"type": "message", "channel": 3}, response_url="https://hooks.example/secretpath")
        await slack.wait_until_heard()

    (row,) = inbox.rejected
    for secret in ("Zq7verificationtoken", "secretpath"):
        assert secret not in row.raw
        assert secret not in caplog.text


async def test_the_signing_secret_is_in_no_repr(build):
    channel = build(app_token=None, signing_secret=SIGNING_SECRET)

    assert SIGNING_SECRET not in repr(channel) + repr(channel.routes()) + repr(vars(channel))


def test_the_sdk_is_loaded_only_when_a_channel_is_built():
    code = (
        "import sys; import channels.slack.channel as c;"
        "assert not {'slack_sdk', 'slack_bolt', 'aiohttp'} & set(sys.modules);"
        "c.SlackChannel('main', 'xoxb-1', app_token='xapp-1'); assert 'slack_sdk' in sys.modules"
    )

    subprocess.run([sys.executable, "-c", code], check=True)
