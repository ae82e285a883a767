"""Slack, engine, agent, model server, and back."""

import asyncio

import httpx
import pytest

from tests.emulators.openai import Call, Reply
from tests.emulators.slack import DropAfter, HttpTarget, SlackEmulator, too_many
from tests.hart import Site, hart_on


@pytest.fixture
def here(tmp_path, openai, slack):
    """A place for Hart on SQLite, with Slack open to everyone."""
    site = Site(tmp_path)
    site.use_openai(openai)
    site.config["limits"] = {"model_retries": 0, "drain_seconds": 0}
    site.use_slack(slack)
    return site


async def test_a_direct_message_gets_its_answer(site, openai, slack, ann):
    site.use_openai(openai)
    site.use_slack(slack)
    home = slack.dm(ann)
    async with hart_on(site):
        asked = slack.say(home, ann, "hello")
        (sent,) = await slack.wait_for_sent(1)
        await slack.wait_for(lambda: slack.count("reactions.remove"))

    assert (sent.text, sent.channel, sent.thread) == ("answer to: hello", home.id, None)
    assert slack.reactions[home.id, asked["ts"]] == set()


async def test_a_question_in_a_channel_is_answered_in_its_thread_and_the_talk_goes_on_there(
    here, openai, slack, ann
):
    ops = slack.channel("ops")
    async with hart_on(here):
        asked = slack.say(ops, ann, f"{slack.at} one")
        await slack.wait_for_sent(1)
        slack.say(ops, ann, "two", thread_ts=asked["ts"])
        await slack.wait_for_sent(2)
        slack.say(ops, ann, "among ourselves")
        await slack.wait_until_heard()

    assert [(sent.text, sent.thread) for sent in slack.sent] == [
        ("answer to: one", asked["ts"]),
        ("answer to: two", asked["ts"]),
    ]
    assert len(openai.accepted) == 2
    assert len(openai.accepted[1].messages) > len(openai.accepted[0].messages)


async def test_a_direct_chat_is_one_conversation(here, openai, slack, ann):
    home = slack.dm(ann)
    async with hart_on(here):
        for number in range(4):
            slack.say(home, ann, f"m{number}")
        sent = await slack.wait_for_sent(4, timeout=30)

    assert [one.text for one in sent] == [f"answer to: m{number}" for number in range(4)]
    assert [one.thread for one in sent] == [None] * 4


async def test_a_withheld_confirmation_is_one_run(here, openai, slack, ann):
    slack.deliveries.ack_seconds = 1.0
    slack.deliveries.retry_seconds = (0.0, 0.1, 0.2)
    slack.deliveries.ignored_acks = 3
    async with hart_on(here):
        slack.say(slack.dm(ann), ann, "once")
        await slack.wait_for_sent(1)
        await slack.wait_until_heard()

    assert slack.deliveries.envelopes[0].tries > 1
    assert len(openai.accepted) == 1
    assert len(slack.sent) == 1


async def test_a_file_goes_in_and_another_comes_out(here, openai, slack, ann):
    path = "/mnt/user-data/outputs/Bericht ü.md"

    def model(request):
        results = request.tool_results()
        if not results:
            return Reply(calls=(Call("read_file", {"path": "/mnt/user-data/uploads/notes.txt"}),))
        if len(results) == 1:
            return Reply(calls=(Call("write_file", {"path": path, "content": f"# {results[0]}"}),))
        if len(results) == 2:
            return Reply(calls=(Call("present_files", {"paths": [path]}),))
        return Reply("Here it is.")

    openai.responder = model
    ops = slack.channel("ops")
    async with hart_on(here):
        slack.send_file(ops, ann, "notes.txt", b"forty-two", text=f"{slack.at} report", mime="text/plain")
        text, document = await slack.wait_for_sent(2, timeout=20)

    assert text.text == "Here it is."
    assert document.file_name == "Bericht ü.md"
    assert b"forty-two" in document.document
    assert document.thread == text.thread is not None


async def test_a_file_that_cannot_be_fetched_does_not_lose_the_text(here, openai, slack, ann):
    slack.scopes.discard("files:read")
    async with hart_on(here):
        slack.send_file(slack.dm(ann), ann, "notes.txt", b"x", text="please read")
        await slack.wait_for_sent(1)

    asked = str(openai.accepted[0].messages)
    assert "please read" in asked
    assert "files:read" in asked


async def test_commands_come_as_slash_commands_and_as_text(here, openai, slack, ann):
    home, ops = slack.dm(ann), slack.channel("ops")
    async with hart_on(here):
        slack.command(home, ann, "/hart", "help")
        await slack.wait_for_sent(1)
        slack.say(home, ann, "!help")
        await slack.wait_for_sent(2)
        asked = slack.say(ops, ann, f"{slack.at} !help")
        await slack.wait_for_sent(3)

    assert all("/new" in sent.text for sent in slack.sent)
    assert [sent.thread for sent in slack.sent] == [None, None, asked["ts"]]
    assert openai.requests == []


async def test_an_answer_whose_receipt_was_lost_says_that_it_may_be_a_repeat(here, slack, ann):
    slack.faults.add("chat.postMessage", DropAfter())
    async with hart_on(here):
        slack.say(slack.dm(ann), ann, "hello")
        first, second = await slack.wait_for_sent(2, timeout=20)

    assert first.text == "answer to: hello"
    assert second.text.endswith("answer to: hello")
    assert second.text != first.text


async def test_a_rate_limit_delays_an_answer_and_does_not_lose_it(here, slack, ann):
    slack.faults.add("chat.postMessage", too_many(1), 2)
    async with hart_on(here):
        slack.say(slack.dm(ann), ann, "hello")
        (sent,) = await slack.wait_for_sent(1, timeout=20)

    assert sent.text == "answer to: hello"


async def test_over_http_events_reach_hart_beside_its_guarded_server(here, openai, slack, ann):
    here.use_slack(slack, http=True)
    async with hart_on(here) as hart, httpx.AsyncClient(base_url=hart.url) as stranger:
        slack.deliveries.target = HttpTarget(f"{hart.url}/slack/main/events", slack.signing_secret)
        slack.say(slack.dm(ann), ann, "hello")
        await slack.wait_for_sent(1)
        unsigned = await stranger.post("/slack/main/events", content=b"{}")
        wrong = await stranger.get("/slack/main/events")
        guarded = await stranger.post("/api/chats", content=b"{}")

    assert [sent.text for sent in slack.sent] == ["answer to: hello"]
    assert slack.opened_sockets == 0
    assert (unsigned.status_code, wrong.status_code, guarded.status_code) == (401, 405, 403)


async def test_two_workspaces_are_two_accounts(here, openai, slack, ann):
    async with SlackEmulator() as second:
        second.app_token += "f"
        here.use_slack(second, name="second")
        bo = second.user("Bo")
        async with hart_on(here):
            slack.say(slack.dm(ann), ann, "here")
            second.say(second.dm(bo), bo, "there")
            await asyncio.gather(slack.wait_for_sent(1), second.wait_for_sent(1))

    assert [sent.text for sent in slack.sent] == ["answer to: here"]
    assert [sent.text for sent in second.sent] == ["answer to: there"]
