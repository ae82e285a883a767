"""The way of one message, end to end: Telegram, engine, agent, model server, and back."""

import asyncio

from tests.emulators.openai import Call, OpenAIEmulator, Reply
from tests.emulators.telegram import TelegramEmulator
from tests.hart import Site, hart_on


async def test_a_message_gets_its_answer(
    site: Site, openai: OpenAIEmulator, telegram: TelegramEmulator
) -> None:
    site.use_openai(openai)
    site.use_telegram(telegram)
    ada = telegram.user(7, "Ada")
    chat = telegram.private_chat(ada)
    async with hart_on(site):
        telegram.say(chat, ada, "hello")
        (sent,) = await telegram.wait_for_sent(1)
    assert sent.text == "answer to: hello"
    assert sent.chat_id == chat.id


async def test_messages_of_one_thread_are_answered_in_order(
    site: Site, openai: OpenAIEmulator, telegram: TelegramEmulator
) -> None:
    site.use_openai(openai)
    site.use_telegram(telegram)
    ada = telegram.user(7, "Ada")
    chat = telegram.private_chat(ada)
    async with hart_on(site):
        for number in range(8):
            telegram.say(chat, ada, f"m{number}")
        sent = await telegram.wait_for_sent(8, timeout=30)
    assert [one.text for one in sent] == [f"answer to: m{number}" for number in range(8)]


async def test_a_file_the_agent_presents_reaches_the_chat(
    site: Site, openai: OpenAIEmulator, telegram: TelegramEmulator
) -> None:
    path = "/mnt/user-data/outputs/notes.md"

    def model(request):
        results = request.tool_results()
        if not results:
            return Reply(calls=(Call("write_file", {"path": path, "content": "# Notes\n"}),))
        if len(results) == 1:
            return Reply(calls=(Call("present_files", {"paths": [path]}),))
        return Reply("Here it is.")

    openai.responder = model
    site.use_openai(openai)
    site.use_telegram(telegram)
    ada = telegram.user(7, "Ada")
    chat = telegram.private_chat(ada)
    async with hart_on(site):
        telegram.say(chat, ada, "write notes")
        text, document = await telegram.wait_for_sent(2)
    assert text.text == "Here it is."
    assert (document.file_name, document.document) == ("notes.md", b"# Notes\n")


async def test_threads_run_side_by_side(
    site: Site, openai: OpenAIEmulator, telegram: TelegramEmulator
) -> None:
    both = asyncio.Barrier(2)

    async def model(request):
        await both.wait()
        return Reply("together")

    openai.responder = model
    site.use_openai(openai)
    site.use_telegram(telegram)
    async with hart_on(site):
        for number in (1, 2):
            user = telegram.user(number, f"U{number}")
            telegram.say(telegram.private_chat(user), user, "hi")
        sent = await telegram.wait_for_sent(2)
    assert {one.text for one in sent} == {"together"}
