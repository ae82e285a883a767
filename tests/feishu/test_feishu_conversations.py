"""Who is meant, in which thread, and what was said: people's messages through the whole channel."""

import pytest

from channels.messages import ChatKind, OutboundMessage, OutboundText
from tests.emulators.feishu import Refuse, bad_gateway, too_many


async def heard(fs, inbox):
    await fs.wait_until_heard()
    return [(message.text, message.addressed) for message in inbox.messages]


async def test_in_a_group_mentions_and_replies_are_for_us(fs, ann, channel, inbox, listening):
    group = fs.group("Ops")
    fs.user("Bo")
    async with listening(channel):
        first = fs.say(group, ann, "talking to each other")
        (message,) = await inbox.wait_for(1)
        ours = await channel.send(OutboundMessage(message.address, "k1", OutboundText("At your service")))
        fs.say(group, ann, "@Hart what is up?")
        fs.say(group, ann, "thanks", reply_to=ours.message_id)
        fs.say(group, ann, "not you", reply_to=first.id)
        fs.say(group, ann, "@Hart /new topic")
        fs.say(group, ann, "please @Hart ask @Bo")
        fs.say(group, ann, "@Bo what do you say?")
        fs.say(group, ann, "@all lunch")
        found = await heard(fs, inbox)

    assert found == [
        ("talking to each other", False),
        ("what is up?", True),
        ("thanks", True),
        ("not you", False),
        ("/new topic", True),
        ("please ask @Bo", True),
        ("@Bo what do you say?", False),
        ("@all lunch", False),
    ]
    assert {message.chat_kind for message in inbox.messages} == {ChatKind.GROUP}


async def test_a_mention_of_everyone_is_for_us_where_configured(fs, ann, build, inbox, listening):
    async with listening(build(all_is_us=True)):
        fs.say(fs.group("Ops"), ann, "@all lunch")
        assert await heard(fs, inbox) == [("@all lunch", True)]


async def test_an_answer_to_what_we_said_before_a_restart_is_for_us(fs, ann, build, inbox, listening):
    group = fs.group("Ops")
    ours = fs.post(group, None, "text", {"text": "from before"})
    deep = fs.post(group, ann, "text", {"text": "x"}, reply_to=ours.id, push=False)
    theirs = fs.post(group, ann, "text", {"text": "y"}, push=False)
    async with listening(build()):
        fs.say(group, ann, "direct", reply_to=ours.id)
        fs.say(group, ann, "further down", reply_to=deep.id)
        for _ in range(3):
            fs.say(group, ann, "to somebody", reply_to=theirs.id)
        found = await heard(fs, inbox)

    assert found == [("direct", True), ("further down", True), *[("to somebody", False)] * 3]
    assert fs.count("get_message") == 2


async def test_another_apps_message_is_not_ours(fs, ann, build, inbox, listening):
    group = fs.group("Ops")
    theirs = fs.post(group, None, "text", {"text": "another bot"})
    async with listening(build(app_id=fs.app_id)):
        fs.app_id = "cli_ffffffffffffffff"
        fs.say(group, ann, "to the other bot", reply_to=theirs.id)
        assert await heard(fs, inbox) == [("to the other bot", False)]


@pytest.mark.parametrize("fault", [bad_gateway(), too_many(1)], ids=repr)
async def test_a_reply_is_not_lost_while_the_platform_cannot_say_whose_it_is(
    fault, fs, ann, channel, inbox, listening
):
    group = fs.group("Ops")
    ours = fs.post(group, None, "text", {"text": "from before"})
    fs.faults.add("get_message", fault, 2)
    async with listening(channel):
        fs.say(group, ann, "an answer", reply_to=ours.id)
        assert await heard(fs, inbox) == [("an answer", True)]

    assert fs.deliveries[0].codes == [500, 500, 200]


async def test_what_we_may_not_see_is_not_ours(fs, ann, channel, inbox, listening):
    group = fs.group("Ops")
    ours = fs.post(group, None, "text", {"text": "from before"})
    fs.faults.add("get_message", Refuse(99991672, "Access denied."))
    async with listening(channel):
        fs.say(group, ann, "an answer", reply_to=ours.id)
        assert await heard(fs, inbox) == [("an answer", False)]


async def test_threads_are_told_apart_and_answered_in_place(fs, ann, channel, inbox, listening):
    group = fs.group("Ops")
    async with listening(channel):
        root = fs.say(group, ann, "@Hart look at this")
        inside = fs.say(group, ann, "@Hart and here", reply_to=root.id, in_thread=True)
        fs.say(group, ann, "@Hart deeper", reply_to=inside.id)
        outside = fs.say(group, ann, "@Hart just a quotation", reply_to=fs.say(group, ann, "@Hart a").id)
        await fs.wait_until_heard()
        for number, message in enumerate(inbox.messages):
            await channel.send(
                OutboundMessage(
                    message.address, f"k{number}", OutboundText("yes"), reply_to=message.message_id
                )
            )

    by_text = {message.text: message for message in inbox.messages}
    assert by_text["look at this"].address.platform_thread is None
    assert by_text["and here"].address.platform_thread == root.id
    assert by_text["deeper"].address.platform_thread == root.id
    assert by_text["just a quotation"].address.platform_thread is None
    assert by_text["just a quotation"].reply_to == outside.parent_id
    posted = {sent.reply_to: sent.thread_id for sent in fs.sent}
    assert posted[inside.id] == inside.thread_id
    assert posted[outside.id] is None


async def test_in_a_group_of_topics_each_topic_is_a_thread(fs, ann, channel, inbox, listening):
    topics = fs.group("Topics", topics=True)
    async with listening(channel):
        first = fs.say(topics, ann, "@Hart one")
        fs.say(topics, ann, "@Hart two")
        fs.say(topics, ann, "@Hart more of one", reply_to=first.id)
        one, two, more = await inbox.wait_for(3)
        await channel.send(OutboundMessage(one.address, "k", OutboundText("yes")))

    assert one.address == more.address
    assert one.address != two.address
    assert fs.sent[0].thread_id == first.thread_id


async def test_bots_and_our_own_messages_are_not_heard(fs, ann, chat, channel, inbox, listening):
    message = fs.say(chat, ann, "from a person")
    bot = fs.post(chat, ann, "text", {"text": "from a bot"}, push=False)
    async with listening(channel):
        fs.push_message(bot, "app")
        fs.push_message(bot, "anonymous")
        fs.push_message(bot, "")
        assert await heard(fs, inbox) == [("from a person", True)]

    assert inbox.messages[0].message_id == message.id


async def test_a_message_that_comes_as_two_events_is_one(fs, ann, chat, channel, inbox, listening):
    async with listening(channel):
        message = fs.say(chat, ann, "once")
        fs.push_message(message)
        await fs.wait_until_heard()

    assert inbox.texts == ["once"]


async def test_a_forward_is_read_with_what_it_holds(fs, ann, chat, channel, inbox, listening):
    bo = fs.user("Bo")
    key = fs.store("plan.pdf", b"%PDF")
    async with listening(channel):
        fs.forward(
            chat,
            ann,
            [
                (bo, "text", {"text": "first thing"}),
                (ann, "post", {"title": "T", "content": [[{"tag": "text", "text": "second"}]]}),
                (bo, "file", {"file_key": key, "file_name": "plan.pdf"}),
            ],
        )
        (message,) = await inbox.wait_for(1)

    assert message.text == "[forwarded messages]\n\nfirst thing\n\nT\nsecond\n\n[file: plan.pdf]"


async def test_a_forward_we_may_not_read_says_so(fs, ann, chat, channel, inbox, listening):
    fs.faults.add("get_message", Refuse(230002, "outside"))
    async with listening(channel):
        fs.forward(chat, ann, [(ann, "text", {"text": "x"})])
        (message,) = await inbox.wait_for(1)

    assert "not allowed" in message.text


async def test_files_of_people_come_as_attachments(fs, ann, chat, channel, inbox, listening):
    async with listening(channel):
        fs.send_file(chat, ann, "Prüfung 検査.pdf", b"%PDF")
        fs.send_image(chat, ann, b"png")
        fs.send_file(chat, ann, "x", b"opus", kind="audio")
        fs.send_file(chat, ann, "trip.mp4", b"film", kind="media")
        messages = await inbox.wait_for(4)

    names = [[file.name for file in message.attachments] for message in messages]
    assert names == [["Prüfung 検査.pdf"], ["image-1.png"], ["voice.opus"], ["trip.mp4"]]
    assert all(message.text == "" for message in messages)
