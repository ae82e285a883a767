from pathlib import Path

from channels.web.security import WebSecurity
from channels.web.uploads import UploadLimits
from tests.web.local_hall import LocalServer, local_server
from tests.web.page.browser import Look, needs_chromium

pytestmark = needs_chromium


async def test_an_answer_is_seen_while_it_is_written_and_after(server: LocalServer, look: Look) -> None:
    server.hall.pause = 0.1
    seen = await look(server.url)
    await seen.say("one two three four five six")
    await seen.page.locator("#live .markdown", has_text="You said: one two").wait_for()
    assert await seen.page.locator("#stop").is_visible()
    await seen.answer("You said: one two three four five six")
    assert await seen.page.locator("#live .entry").count() == 0
    assert not await seen.page.locator("#stop").is_visible()
    assert await seen.texts("#log .said") == ["one two three four five six"]
    assert seen.complaints == []


async def test_tool_calls_are_shown_while_they_run(server: LocalServer, look: Look) -> None:
    server.hall.pause = 0.05
    seen = await look(server.url)
    await seen.say("tools")
    await seen.page.locator(".tools .ok", has_text="Reading notes.md").wait_for()
    await seen.page.locator(".tools .running", has_text="Writing report.md").wait_for()
    await seen.answer("You said: tools")
    assert seen.complaints == []


async def test_a_reload_keeps_history_and_draft(server: LocalServer, look: Look) -> None:
    seen = await look(server.url)
    await seen.say("hello")
    await seen.answer("You said: hello")
    await seen.page.fill("#text", "half a thou")
    await seen.page.reload()
    await seen.answer("You said: hello")
    assert await seen.texts("#log .said") == ["hello"]
    assert await seen.page.input_value("#text") == "half a thou"
    assert seen.complaints == []


async def test_the_hash_chooses_the_chat(server: LocalServer, look: Look) -> None:
    seen = await look(f"{server.url}/#plans")
    await seen.say("in plans")
    await seen.answer("You said: in plans")
    await seen.page.click("#chat-button")
    await seen.page.fill("#chat-new", "other")
    await seen.page.press("#chat-new", "Enter")
    await seen.page.locator("#welcome").wait_for()
    assert await seen.texts("#log .said") == []
    await seen.say("in other")
    await seen.answer("You said: in other")
    await seen.page.click("#chat-button")
    await seen.page.click("#chat-list >> text=plans")
    await seen.answer("You said: in plans")
    assert await seen.texts("#log .said") == ["in plans"]
    assert seen.complaints == []
    assert {message.address.chat_id for message in server.hall.accepted} == {"plans", "other"}


async def test_files_go_in_and_come_out(server: LocalServer, tmp_path: Path, look: Look) -> None:
    (tmp_path / "notes.txt").write_text("some notes")
    seen = await look(server.url)
    await seen.page.set_input_files("#files", tmp_path / "notes.txt")
    assert await seen.texts("#attached .file-name") == ["notes.txt"]
    await seen.say("look at this")
    await seen.answer("notes.txt")
    async with seen.page.expect_download() as started:
        await seen.page.locator("#log .entry.hart a.file").click()
    download = await started.value
    assert download.suggested_filename == "notes.txt"
    assert (await download.path()).read_text() == "some notes"
    assert seen.complaints == []


async def test_files_can_be_dropped_and_pasted(server: LocalServer, look: Look) -> None:
    give = """(kind) => {
        const data = new DataTransfer();
        data.items.add(new File(["content"], kind + ".txt", { type: "text/plain" }));
        const where = document.getElementById("text");
        const event = kind === "paste"
            ? new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true })
            : new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true });
        where.dispatchEvent(event);
    }"""
    seen = await look(server.url)
    await seen.page.evaluate(give, "drop")
    await seen.page.evaluate(give, "paste")
    assert await seen.texts("#attached .file-name") == ["drop.txt", "paste.txt"]
    await seen.page.click("[aria-label='Remove drop.txt']")
    await seen.page.press("#text", "Enter")
    await seen.answer("paste.txt")
    assert seen.complaints == []
    assert [file.name for file in server.hall.accepted[0].attachments] == ["paste.txt"]


async def test_enter_sends_and_shift_enter_does_not(server: LocalServer, look: Look) -> None:
    seen = await look(server.url)
    await seen.page.locator("#text").press_sequentially("first")
    low = (await seen.page.locator("#text").bounding_box() or {})["height"]
    await seen.page.keyboard.press("Shift+Enter")
    await seen.page.locator("#text").press_sequentially("second")
    assert (await seen.page.locator("#text").bounding_box() or {})["height"] > low
    await seen.page.keyboard.press("Enter")
    await seen.answer("You said: first")
    assert server.hall.accepted[0].text == "first\nsecond"


async def test_commands_are_offered_and_chosen_by_keyboard(server: LocalServer, look: Look) -> None:
    seen = await look(server.url)
    text = seen.page.locator("#text")
    await text.press_sequentially("/s")
    assert await seen.texts("#hints b") == ["/status", "/stop"]
    assert await text.get_attribute("aria-expanded") == "true"
    await seen.page.keyboard.press("ArrowDown")
    assert await text.get_attribute("aria-activedescendant") == "hint-1"
    await seen.page.keyboard.press("Escape")
    assert not await seen.page.locator("#hints").is_visible()
    await seen.page.keyboard.press("Backspace")
    await text.press_sequentially("wh")
    await seen.page.keyboard.press("Backspace")
    await text.fill("/wh")
    await seen.page.keyboard.press("Tab")
    assert await text.input_value() == "/whoami"
    await seen.page.keyboard.press("Enter")
    await seen.answer("You asked for /whoami.")
    assert seen.complaints == []


async def test_stop_ends_the_run(server: LocalServer, look: Look) -> None:
    seen = await look(server.url)
    await seen.say("wait")
    await seen.page.locator("#live .markdown", has_text="You said: wait").wait_for()
    await seen.page.click("#stop")
    await seen.answer("Stopped.")
    await seen.page.locator("#stop").wait_for(state="hidden")
    assert await seen.page.locator("#live .entry").count() == 0
    assert seen.complaints == []


async def test_a_run_is_seen_to_go_on_after_a_command_and_a_reload(server: LocalServer, look: Look) -> None:
    seen = await look(server.url)
    await seen.say("wait")
    await seen.page.locator("#live .markdown", has_text="You said: wait").wait_for()
    await seen.say("/status")
    await seen.answer("You asked for /status.")
    assert await seen.page.locator("#stop").is_visible()
    await seen.page.reload()
    await seen.page.locator("#live .markdown", has_text="You said: wait").wait_for()
    assert await seen.page.locator("#stop").is_visible()


async def test_what_comes_unasked_is_shown_and_read_out(server: LocalServer, look: Look) -> None:
    seen = await look(server.url)
    await seen.page.locator("#welcome").wait_for()
    await server.hall.say(server.hall.channels["web"].address("main"), "Your digest", None)
    await seen.answer("Your digest")
    await seen.page.locator("[role=log][aria-live=polite] #log").wait_for()
    assert await seen.page.locator("#live").get_attribute("aria-live") == "off"
    assert not await seen.page.locator("#welcome").is_visible()


async def test_messages_written_while_the_server_is_away_arrive_once(server: LocalServer, look: Look) -> None:
    seen = await look(server.url)
    await seen.say("before")
    await seen.answer("You said: before")
    await server.stop()
    await seen.page.locator("#connection", has_text="Reconnecting").wait_for()
    await seen.say("during")
    await seen.say("also during")
    await seen.page.locator("#pending .fate", has_text="Waiting for the connection").first.wait_for()
    await server.start()
    await seen.answer("You said: during")
    await seen.answer("You said: also during")
    assert await seen.texts("#connection") == [""]
    assert await seen.texts("#pending li") == []
    assert [message.text for message in server.hall.accepted] == ["before", "during", "also during"]


async def test_an_unsent_message_survives_a_reload_with_its_id(server: LocalServer, look: Look) -> None:
    seen = await look(server.url)
    await seen.page.locator("#welcome").wait_for()
    server.hall.available = False
    await seen.say("keep me")
    await seen.page.locator("#pending .fate", has_text="could not be stored").wait_for()
    message_id = await seen.page.locator("#pending li").get_attribute("data-message")
    await seen.page.reload()
    await seen.page.locator("#pending li", has_text="keep me").wait_for()
    server.hall.available = True
    await seen.answer("You said: keep me")
    assert [message.message_id for message in server.hall.accepted] == [message_id]


async def test_a_refused_message_can_be_edited(tmp_path: Path, look: Look) -> None:
    limits = UploadLimits(text_bytes=2048)
    async with local_server(tmp_path, limits=limits) as server:
        seen = await look(server.url)
        await seen.say("x" * 3000)
        await seen.page.locator("#pending .problem", has_text="2 KB").wait_for()
        await seen.page.click("#pending >> text=Edit")
        assert len(await seen.page.input_value("#text")) == 3000
        await seen.say("short")
        await seen.answer("You said: short")
        assert await seen.texts("#pending li") == []
    assert [message.text for message in server.hall.accepted] == ["short"]


async def test_what_would_be_refused_is_said_before_it_is_sent(server: LocalServer, look: Look) -> None:
    seen = await look(server.url)
    await seen.say("x" * 110_000)
    await seen.page.locator("#notice", has_text="100 KB").wait_for()
    assert len(await seen.page.input_value("#text")) == 110_000
    files = [{"name": f"{n}.txt", "mimeType": "text/plain", "buffer": b"x"} for n in range(11)]
    await seen.page.set_input_files("#files", files)
    await seen.page.locator("#notice", has_text="10 files").wait_for()
    assert seen.complaints == []
    assert server.hall.accepted == []


async def test_earlier_messages_are_loaded_on_request(server: LocalServer, look: Look) -> None:
    address = server.hall.channels["web"].address("main")
    for number in range(120):
        await server.hall.say(address, f"note {number}.", None)
    seen = await look(server.url)
    await seen.answer("note 119.")
    assert await seen.page.locator("#log .entry").count() == 50
    await seen.page.click("#earlier")
    await seen.answer("note 0.")
    assert await seen.page.locator("#log .entry").count() == 120
    assert not await seen.page.locator("#earlier").is_visible()
    assert seen.complaints == []


async def test_a_reader_who_scrolled_up_is_left_alone(server: LocalServer, look: Look) -> None:
    address = server.hall.channels["web"].address("main")
    for number in range(40):
        await server.hall.say(address, f"note {number}.", None)
    seen = await look(server.url)
    await seen.answer("note 39.")
    await seen.page.evaluate("document.getElementById('scroll').scrollTop = 0")
    await seen.page.locator("#latest").wait_for()
    await server.hall.say(address, "something new", None)
    await seen.answer("something new")
    assert await seen.page.evaluate("document.getElementById('scroll').scrollTop") == 0
    await seen.page.click("#latest")
    await seen.page.locator("#latest").wait_for(state="hidden")


async def test_the_token_is_asked_for_once(tmp_path: Path, look: Look) -> None:
    security = WebSecurity(token="open sesame")
    async with local_server(tmp_path, security) as server:
        seen = await look(f"{server.url}/#plans")
        await seen.page.fill("#token", "wrong")
        await seen.page.press("#token", "Enter")
        await seen.page.locator("#problem", has_text="The token is wrong.").wait_for()
        await seen.page.fill("#token", "open sesame")
        await seen.page.press("#token", "Enter")
        await seen.say("hello")
        await seen.answer("You said: hello")
        await seen.page.reload()
        await seen.answer("You said: hello")
        assert await seen.page.evaluate("document.cookie") == ""
    assert server.hall.accepted[0].address.chat_id == "plans"


async def test_two_windows_show_the_same_chat(server: LocalServer, look: Look) -> None:
    seen = await look(server.url)
    other = await look(server.url, beside=seen)
    await seen.say("hello")
    await other.answer("You said: hello")
    assert await other.texts("#log .said") == ["hello"]
    assert len(server.hall.accepted) == 1
