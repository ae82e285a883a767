"""The app secret, tokens and connection addresses go to Feishu and nowhere else."""

import asyncio
import logging
import subprocess
import sys
import traceback

import pytest

from channels.errors import AttachmentError, ChannelRefusedError, SendError
from channels.messages import Address, Attachment, OutboundFile, OutboundMessage, OutboundText
from channels.views import RunView
from tests.emulators.feishu import DropAfter, DropBefore, Hang, RawAnswer, Refuse, bad_gateway, too_many


def told(error):
    """All that a log would show of an error, local variables included."""
    shown = traceback.TracebackException.from_exception(error, capture_locals=True)
    return "".join(shown.format()) + repr(error) + str(error)


async def test_no_secret_is_in_a_log_line_error_or_repr(
    fs, chat, ann, build, inbox, listening, tmp_path, caplog
):
    caplog.set_level(logging.DEBUG)
    channel = build(response_seconds=0.3)
    here = Address("feishu", "main", chat.id)
    (tmp_path / "f").write_bytes(b"data")
    errors = []
    for fault in (
        DropBefore(),
        DropAfter(),
        bad_gateway(),
        RawAnswer(b"?"),
        Hang(),
        too_many(1),
        Refuse(99991663, "Invalid access token"),
    ):
        for method in ("token", "bot_info", "endpoint", "create", "upload_file", "react", "resource"):
            fs.faults.add(method, fault)
    fs.handshake_refusal = {"Handshake-Status": "403", "Handshake-Msg": "no"}
    async with listening(channel, connected=False):
        await fs.wait_for(lambda: fs.count("endpoint") >= 9, 20)
        fs.handshake_refusal = None
        await fs.wait_until_connected()
        fs.say(chat, ann, "hi")
        await inbox.wait_for(1, 20)
        for number in range(10):
            for content in (OutboundText("x"), OutboundFile(tmp_path / "f", "f.txt")):
                try:
                    await channel.send(OutboundMessage(here, f"k{number}", content))
                except SendError as error:
                    errors.append(error)
            await channel.show(here, RunView(f"r{number}", "om_1"))
        with pytest.raises(AttachmentError) as lost:
            await channel.fetch(Attachment("f", "om_1/file/key"), tmp_path / "g", 100)
        errors.append(lost.value)
        fs.kill()
        await fs.wait_until_connected(2)
    async with fs.offline():
        with pytest.raises(SendError) as caught:
            await channel.send(OutboundMessage(here, "k", OutboundText("x")))
        errors.append(caught.value)
    with pytest.raises(ChannelRefusedError) as refused:
        await build(app_secret=fs.app_secret[::-1]).check()
    errors.append(refused.value)

    text = caplog.text + repr(channel) + "".join(told(error) for error in errors)
    secrets = {fs.app_secret, fs.app_secret[::-1], *fs.tokens, *fs.tickets}
    assert len(errors) >= 12
    assert "not connected" in caplog.text
    assert len(secrets) > 5
    assert not [secret for secret in secrets if secret in text]
    assert "access_key" not in text
    assert "Bearer" not in text


@pytest.mark.parametrize("wrong", [{"app_secret": "Wrong0"}, {"app_id": "cli_0000000000000000"}])
async def test_wrong_credentials_are_refused_at_the_check(wrong, build):
    with pytest.raises(ChannelRefusedError, match="account 'main'"):
        await build(**wrong).check()


async def test_good_credentials_pass_the_check(channel):
    await channel.check()


@pytest.mark.parametrize("fault", [DropBefore(), bad_gateway(), too_many(1), RawAnswer(b"?")], ids=repr)
async def test_a_platform_that_cannot_be_asked_now_passes_the_check(fault, fs, channel):
    fs.faults.add("token", fault, None)
    await asyncio.wait_for(channel.check(), 5)


async def test_a_platform_that_never_answers_holds_a_start_up_for_seconds_only(fs, build):
    fs.faults.add("token", Hang(), None)
    await asyncio.wait_for(build(response_seconds=60.0).check(), 8)


async def test_an_app_without_a_bot_passes_the_check_and_is_warned_of(fs, channel, caplog):
    fs.faults.add("bot_info", Refuse(11205, "app do not have bot"))
    await channel.check()

    assert "app do not have bot" in caplog.text


def test_the_http_client_is_loaded_only_when_a_channel_is_built():
    code = (
        "import sys; import channels.feishu.channel as c; assert 'aiohttp' not in sys.modules;"
        "c.FeishuChannel('main', 'cli_1', 'x'); assert 'aiohttp' in sys.modules;"
        "assert 'lark_oapi' not in sys.modules"
    )

    subprocess.run([sys.executable, "-c", code], check=True)
