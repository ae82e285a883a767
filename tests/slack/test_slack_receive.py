"""What people write is stored before Slack is told so, whatever happens in between."""

import asyncio


async def test_a_direct_message_reaches_the_inbox(slack, ann, channel, inbox, listening):
    async with listening(channel):
        written = slack.say(slack.dm(ann), ann, "Good morning")
        (message,) = await inbox.wait_for(1)
        await slack.wait_until_heard()

    assert message.text == "Good morning"
    assert message.address.chat_id == slack.dm(ann).id
    assert message.address.platform_thread is None
    assert message.sender.name == "Ann Lee"
    assert message.message_id == written["ts"]
    assert message.addressed
