"""Feishu, engine, agent, model server, and back."""

import pytest

from tests.emulators.feishu import DropAfter, FeishuEmulator, too_many
from tests.emulators.openai import Call, Reply
from tests.hart import Site, hart_on


@pytest.fixture
def here(tmp_path, openai, fs):
    """A place for Hart on SQLite, with Feishu open to everyone."""
    site = Site(tmp_path)
    site.use_openai(openai)
    site.config["limits"] = {"model_retries": 0, "drain_seconds": 0}
    site.use_feishu(fs)
    return site


async def test_a_direct_message_gets_its_answer_and_a_reaction_meanwhile(site, openai, fs, chat, ann):
    site.use_openai(openai)
    site.use_feishu(fs)
    async with hart_on(site):
        await fs.wait_until_connected()
        asked = fs.say(chat, ann, "hello")
        (sent,) = await fs.wait_for_sent(1, 30)
        await fs.wait_for(lambda: fs.count("unreact") == 1)

    assert (sent.text, sent.chat_id) == ("answer to: hello", chat.id)
    assert fs.count("react") == 1
    assert asked.reactions == {}


async def test_a_question_in_a_thread_is_answered_in_that_thread(here, fs, ann):
    group = fs.group("Ops")
    async with hart_on(here):
        await fs.wait_until_connected()
        root = fs.say(group, ann, "look at this")
        asked = fs.say(group, ann, "@Hart what is it?", reply_to=root.id, in_thread=True)
        await fs.wait_for_sent(1, 30)
        fs.say(group, ann, "@Hart and in the open?")
        await fs.wait_for_sent(2, 30)

    first, second = fs.sent
    assert (first.text, first.thread_id) == ("answer to: what is it?", asked.thread_id)
    assert (second.text, second.thread_id) == ("answer to: and in the open?", None)


async def test_commands_are_plain_text_and_work_in_groups(here, openai, fs, ann):
    group = fs.group("Ops")
    async with hart_on(here):
        await fs.wait_until_connected()
        fs.say(group, ann, "@Hart /help")
        (sent,) = await fs.wait_for_sent(1, 30)

    assert "/new" in sent.text
    assert openai.accepted == []


async def test_messages_of_one_chat_are_answered_in_order(here, fs, chat, ann):
    async with hart_on(here):
        await fs.wait_until_connected()
        for number in range(8):
            fs.say(chat, ann, f"m{number}")
        sent = await fs.wait_for_sent(8, 60)

    assert [one.text for one in sent] == [f"answer to: m{number}" for number in range(8)]


async def test_a_withheld_acknowledgement_is_one_run(here, openai, fs, chat, ann):
    fs.ack_seconds, fs.swallow_acks = 0.3, 3
    async with hart_on(here):
        await fs.wait_until_connected()
        fs.say(chat, ann, "once")
        await fs.wait_for_sent(1, 30)
        await fs.wait_until_heard(30)

    assert fs.deliveries[0].tries == 4
    assert [sent.text for sent in fs.sent] == ["answer to: once"]
    assert len(openai.accepted) == 1


async def test_a_broken_answer_and_a_rate_limit_still_end_in_one_message(here, fs, chat, ann):
    fs.faults.add("create", DropAfter())
    fs.faults.add("create", too_many(1))
    fs.faults.add("reply", DropAfter())
    fs.faults.add("reply", too_many(1))
    async with hart_on(here):
        await fs.wait_until_connected()
        fs.say(chat, ann, "hello")
        await fs.wait_for(lambda: fs.count("create") + fs.count("reply") >= 3, 30)
        fs.say(chat, ann, "again")
        await fs.wait_for(lambda: [sent.text for sent in fs.sent][1:] == ["answer to: again"], 30)

    assert fs.sent[0].text == "answer to: hello"


async def test_a_file_goes_in_and_another_comes_out(here, openai, fs, chat, ann):
    path = "/mnt/user-data/outputs/报告.md"
    seen = []

    def model(request):
        results = request.tool_results()
        if not results:
            return Reply(calls=(Call("read_file", {"path": "/mnt/user-data/uploads/notes.txt"}),))
        if len(results) == 1:
            seen.append(results[0])
            return Reply(calls=(Call("write_file", {"path": path, "content": "# Report\n"}),))
        if len(results) == 2:
            return Reply(calls=(Call("present_files", {"paths": [path]}),))
        return Reply("Here it is.")

    openai.responder = model
    async with hart_on(here):
        await fs.wait_until_connected()
        fs.send_file(chat, ann, "notes.txt", b"the words of the file")
        text, file = await fs.wait_for_sent(2, 60)

    assert "the words of the file" in str(seen[0])
    assert text.text == "Here it is."
    assert (file.kind, file.file_name, file.data) == ("file", "报告.md", b"# Report\n")


async def test_two_apps_each_have_their_own_conversations(here, fs, chat, ann):
    async with FeishuEmulator(app_id="cli_00000000000000aa", bot_name="Second") as second:
        here.use_feishu(second, name="second")
        other = second.user("Ann")
        async with hart_on(here):
            await fs.wait_until_connected()
            await second.wait_until_connected()
            fs.say(chat, ann, "to the first")
            second.say(second.p2p(other), other, "to the second")
            await fs.wait_for_sent(1, 30)
            await second.wait_for_sent(1, 30)

        assert [sent.text for sent in fs.sent] == ["answer to: to the first"]
        assert [sent.text for sent in second.sent] == ["answer to: to the second"]


async def test_a_message_from_while_hart_was_away_is_answered(here, fs, chat, ann):
    fs.say(chat, ann, "is anybody there?")
    async with hart_on(here):
        (sent,) = await fs.wait_for_sent(1, 30)

    assert sent.text == "answer to: is anybody there?"
