"""A slash command where the bot is no member: its answer goes back the way the command came."""

import logging
from dataclasses import replace

import pytest

from bot.store.tables import Delivery
from channels.errors import AmbiguousSendError, PermanentSendError, TransientSendError
from tests.emulators.slack import DropAfter, DropBefore, RawAnswer, bad_gateway
from tests.emulators.slack.posting import MOST_RESPONSES
from tests.engine.ledger import eventually, rows
from tests.hart import Site, hart_on
from tests.slack.asking import asking


@pytest.fixture
def here(tmp_path, openai, slack):
    site = Site(tmp_path)
    site.use_openai(openai, "test-model", "other-model")
    site.config["limits"] = {"model_retries": 0, "drain_seconds": 0}
    site.use_slack(slack)
    return site


@pytest.fixture(params=[False, True], ids=["public", "private"])
def elsewhere(slack, request):
    """A channel that the bot is no member of."""
    return slack.channel("elsewhere", private=request.param, joined=False)


async def test_whoever_gave_the_command_sees_the_answer_and_nobody_else(here, slack, ann, elsewhere, caplog):
    caplog.set_level(logging.DEBUG)
    async with hart_on(here) as hart:
        slack.command(elsewhere, ann, "/hart", "help")
        (sent,) = await slack.wait_for_sent(1, 30)

        async def settled():
            return [one for one in await rows(hart, Delivery) if one.state == "sent"]

        (delivery,) = await eventually(settled)

    assert "/new" in sent.text
    assert (sent.method, sent.channel, sent.seen_by) == ("response_url", elsewhere.id, ann.id)
    assert slack.messages[elsewhere.id] == {}
    assert delivery.reply_via is None, "it is not kept longer than it is needed"
    assert "secretpath" not in caplog.text
    headers = next(call.params["headers"] for call in slack.calls if call.method == "response_url")
    assert "Authorization" not in headers


async def test_a_conversation_that_a_command_began_is_answered_the_same_way(here, openai, slack, ann):
    async with hart_on(here):
        slack.command(slack.channel("elsewhere", joined=False), ann, "/hart", "new what is up?")
        sent = await slack.wait_for_sent(2, 30)

    assert sorted(one.text for one in sent)[-1] == "answer to: what is up?"
    assert {one.seen_by for one in sent} == {ann.id}


async def test_a_refusal_is_told_the_same_way(here, openai, slack, ann):
    here.use_slack(slack, access={"dm": "open", "acknowledge_open": True, "group": "allowlist"})
    channel = slack.channel("elsewhere", joined=False)
    async with hart_on(here):
        slack.command(channel, ann, "/hart", "new what is up?")
        (sent,) = await slack.wait_for_sent(1, 30)

    assert channel.id in sent.text
    assert sent.seen_by == ann.id
    assert openai.requests == []


async def test_buttons_of_such_an_answer_work_and_go_away(here, slack, ann):
    async with hart_on(here):
        slack.command(slack.channel("elsewhere", joined=False), ann, "/hart", "models")
        (listing,) = await slack.wait_for_sent(1, 30)
        slack.press(listing, "other-model", ann)
        answer = (await slack.wait_for_sent(2, 30))[1]
        await slack.wait_for(lambda: "edited" in slack.ephemeral[listing.ts], 30)

    assert ("now uses `other-model`" in answer.text, answer.seen_by) == (True, ann.id)
    assert [block["type"] for block in slack.ephemeral[listing.ts]["blocks"]] == ["markdown", "context"]


async def test_where_the_bot_is_a_member_all_see_the_answer(here, slack, ann):
    ops = slack.channel("ops")
    async with hart_on(here):
        slack.command(ops, ann, "/hart", "help")
        (sent,) = await slack.wait_for_sent(1, 30)

    assert (sent.method, sent.channel, sent.seen_by) == ("chat.postMessage", ops.id, None)


async def heard(slack, ann, inbox, listening, channel):
    """A command in a channel where the bot is no member: a message that answers it."""
    place = slack.channel("elsewhere", joined=False)
    async with listening(channel):
        slack.command(place, ann, "/hart", "help")
        (message,) = await inbox.wait_for(1)
    return replace(asking(place), reply_via=message.reply_via)


async def test_a_response_url_that_is_used_up_fails_for_good(slack, ann, channel, inbox, listening):
    answer = await heard(slack, ann, inbox, listening, channel)
    for _ in range(MOST_RESPONSES):
        await channel.send(answer)
    with pytest.raises(PermanentSendError, match="used_url"):
        await channel.send(answer)


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (DropBefore(), AmbiguousSendError),
        (DropAfter(), AmbiguousSendError),
        (bad_gateway(), AmbiguousSendError),
        (RawAnswer(b"slow down", 429, headers={"Retry-After": "7"}), TransientSendError),
        (RawAnswer(b"expired_url", 404, "text/plain"), PermanentSendError),
        (RawAnswer(b"<html>", 200), AmbiguousSendError),
    ],
)
async def test_a_fault_means_the_same_as_for_any_message(slack, ann, channel, inbox, listening, fault, error):
    answer = await heard(slack, ann, inbox, listening, channel)
    slack.faults.add("response_url", fault)
    with pytest.raises(error) as raised:
        await channel.send(answer)
    assert "secretpath" not in str(raised.value)


@pytest.mark.parametrize(
    "url",
    [
        "https://hooks.slack.com.evil.example/commands/x",
        "http://169.254.169.254/latest",
        "file:///etc/passwd",
        "",
    ],
)
async def test_an_address_that_is_none_of_slacks_is_never_called(slack, channel, url):
    with pytest.raises(PermanentSendError):
        await channel.send(replace(asking(slack.channel("elsewhere", joined=False)), reply_via=url))
    assert slack.sent == []
