"""A very long answer reaches the chat as a file with every character of it."""

from tests.emulators.openai import OpenAIEmulator, Reply
from tests.emulators.telegram import TelegramEmulator
from tests.hart import Site, hart_on


async def test_200_kb_arrive_as_a_beginning_and_a_file(
    site: Site, openai: OpenAIEmulator, telegram: TelegramEmulator
) -> None:
    answer = "# Report\n\n" + "**Grüße**, 世界. " * 10_000
    openai.responder = lambda request: Reply(answer, chunk_size=20_000)
    site.use_openai(openai)
    site.use_telegram(telegram)
    ada = telegram.user(7, "Ada")
    async with hart_on(site):
        telegram.say(telegram.private_chat(ada), ada, "all of it")
        text, document = await telegram.wait_for_sent(2, timeout=60)
    assert text.text.startswith("Report")
    assert document.file_name == "answer.md"
    assert document.document is not None
    assert document.document.decode().strip() == answer.strip()
