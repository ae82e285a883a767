"""The token goes to Telegram and nowhere else."""

import asyncio
import logging
import subprocess
import sys
import traceback

import pytest

from channels.errors import AttachmentError, ChannelRefusedError, SendError
from channels.messages import Address, Attachment, OutboundFile, OutboundMessage, OutboundText
from channels.telegram.client import environment_proxy
from channels.views import RunView
from tests.emulators.telegram import DropAfter, DropBefore, Hang, RawAnswer, Refuse, bad_gateway, too_many


def told(error):
    """All that a log would show of an error, local variables included."""
    shown = traceback.TracebackException.from_exception(error, capture_locals=True)
    return "".join(shown.format()) + repr(error) + str(error)


async def test_the_token_is_in_no_log_line_error_or_repr(tg, build, inbox, listening, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    channel = build(response_seconds=0.3, poll_seconds=1)
    ann = tg.user(501, "Ann")
    tg.say(tg.private_chat(ann), ann, "hi")
    here = Address("telegram", "main", "501")
    (tmp_path / "f").write_bytes(b"data")
    errors = []
    for fault in (
        DropBefore(),
        DropAfter(),
        bad_gateway(),
        RawAnswer(b"?"),
        Hang(),
        too_many(1),
        Refuse(400, "no"),
    ):
        for method in ("getUpdates", "sendMessage", "sendDocument", "sendChatAction", "getFile"):
            tg.faults.add(method, fault)
    async with listening(channel):
        await inbox.wait_for(1, 20)
        for number in range(7):
            for content in (OutboundText("x"), OutboundFile(tmp_path / "f", "f.txt")):
                with pytest.raises(SendError) as caught:
                    await channel.send(OutboundMessage(here, "k", content))
                errors.append(caught.value)
            await channel.show(Address("telegram", "main", "501", str(number + 2)), RunView("r", None))
        with pytest.raises(AttachmentError) as lost:
            await channel.fetch(Attachment("f", tg.store_file(b"x")), tmp_path / "g", 100)
        errors.append(lost.value)
    async with tg.offline():
        with pytest.raises(SendError) as caught:
            await channel.send(OutboundMessage(here, "k", OutboundText("x")))
        errors.append(caught.value)
    tg.revoke()
    with pytest.raises(ChannelRefusedError) as refused:
        await asyncio.wait_for(channel.receive(inbox), 5)
    errors.append(refused.value)

    text = caplog.text + repr(channel) + "".join(told(error) for error in errors)
    assert "sendMessage" in caplog.text
    assert len(errors) == 17
    assert tg.token not in text
    assert tg.token.split(":")[1] not in text


def test_the_sdk_is_loaded_only_when_a_channel_is_built():
    code = (
        "import sys; import channels.telegram.channel as c; assert 'telegram' not in sys.modules;"
        "c.TelegramChannel('main', '1:x'); assert 'telegram' in sys.modules"
    )

    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("base_url", "environment", "proxy"),
    [
        ("https://api.telegram.org", {"https_proxy": "http://127.0.0.1:3128"}, "http://127.0.0.1:3128"),
        ("https://api.telegram.org", {"https_proxy": "127.0.0.1:3128"}, "http://127.0.0.1:3128"),
        ("https://api.telegram.org", {"all_proxy": "http://127.0.0.1:1"}, "http://127.0.0.1:1"),
        ("https://api.telegram.org", {"https_proxy": "http://p", "no_proxy": "telegram.org"}, None),
        ("http://127.0.0.1:8081", {"http_proxy": "http://p"}, None),
        ("https://api.telegram.org", {}, None),
    ],
)
def test_the_proxy_of_the_environment_is_used_except_for_this_machine(
    base_url, environment, proxy, monkeypatch
):
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    assert environment_proxy(base_url) == proxy
