import re
from collections.abc import AsyncIterator
from importlib.resources import files

import pytest_asyncio
from playwright.async_api import Browser, Page

from tests.web.local_hall import LocalServer
from tests.web.page.browser import Look, needs_chromium

pytestmark = needs_chromium

HOSTILE = """# <script>alert(1)</script>

<img src=x onerror=alert(2)> <svg onload=alert(3)> <iframe src="javascript:alert(4)"></iframe>

[one](javascript:alert(5)) [two](JaVaScRiPt:alert(6)) [three](data:text/html,<script>alert(7)</script>)
[four](java\tscript:alert(8)) [five](&#106;avascript:alert(9)) [six]( javascript:alert(10))
[seven](vbscript:x) [eight](file:///etc/passwd) [nine](//evil.example/x) [ten](/logout)
<javascript:alert(11)> ![eleven](https://evil.example/pixel.png) ![](https://evil.example/p.png)

```"><script>alert(12)</script>
</code></pre><script>alert(13)</script>
```

| <b onmouseover=alert(14)>x</b> | y |
|---|---|
| `<script>alert(15)</script>` | [z](javascript:alert(16)) |

[good](https://example.org/a?b=1&c="d") https://example.org/<script>alert(17)</script>
"""


async def test_hostile_markdown_is_inert(server: LocalServer, look: Look) -> None:
    seen = await look(server.url)
    await server.hall.say(server.hall.channels["web"].address("main"), HOSTILE, None)
    await seen.answer("good")
    inside = seen.page.locator("#log .markdown")
    assert await inside.locator("script, img, svg, iframe, object, form, style, b").count() == 0
    for anchor in await inside.locator("a").all():
        assert re.match(r"https?://", await anchor.get_attribute("href") or "")
        assert await anchor.get_attribute("rel") == "noopener noreferrer"
        assert await anchor.get_attribute("target") == "_blank"
    attributes = await inside.evaluate(
        "(node) => [...node.querySelectorAll('*')].flatMap((n) => n.getAttributeNames())"
    )
    assert not [name for name in attributes if name.startswith("on")]
    # What was not understood is still there to be read.
    shown = await inside.inner_text()
    for number in range(1, 18):
        assert f"alert({number})" in shown
    assert seen.complaints == []


async def test_hostile_names_and_questions_are_inert(server: LocalServer, look: Look) -> None:
    markup = "<img src=x onerror=alert(1)>"
    seen = await look(server.url)
    await seen.say(f"file {markup.replace(' ', '_')}.txt content")
    await seen.answer("onerror")
    await seen.say(markup)
    await seen.answer("You said: <img")
    assert await seen.page.locator("#log img").count() == 0
    assert seen.complaints == []


LINK = '<a href="{0}" target="_blank" rel="noopener noreferrer">{1}</a>'
TABLE = (
    '<div class="table" tabindex="0"><table>'
    '<thead><tr><th class="end">a</th><th class="middle">b</th></tr></thead>'
    '<tbody><tr><td class="end">1</td><td class="middle">2</td></tr></tbody></table></div>'
)
RENDERED = {
    "plain": "<p>plain</p>",
    "a\nb": "<p>a<br>b</p>",
    "**a** *b* __c__": "<p><strong>a</strong> <em>b</em> <strong>c</strong></p>",
    "_d_ ~~e~~ `f`": "<p><em>d</em> <del>e</del> <code>f</code></p>",
    "***a***": "<p><strong><em>a</em></strong></p>",
    "**a *b* c**": "<p><strong>a <em>b</em> c</strong></p>",
    "snake_case_name 2 * 3 * 4": "<p>snake_case_name 2 * 3 * 4</p>",
    "**open": "<p>**open</p>",
    r"\*a\* \<b\>": "<p>*a* &lt;b&gt;</p>",
    "``a ` b``": "<p><code>a ` b</code></p>",
    "# A\n\ntext": "<h3>A</h3><p>text</p>",
    "- a\n- b\n  - c\n- d": (
        "<ul><li><p>a</p></li><li><p>b</p><ul><li><p>c</p></li></ul></li><li><p>d</p></li></ul>"
    ),
    "3. a\n4. b": '<ol start="3"><li><p>a</p></li><li><p>b</p></li></ol>',
    "1. a\n\n   more\n\n2. b": "<ol><li><p>a</p><p>more</p></li><li><p>b</p></li></ol>",
    "- a\n\ntext": "<ul><li><p>a</p></li></ul><p>text</p>",
    "> a\n> > b": "<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote>",
    "a\n\n---\n\nb": "<p>a</p><hr><p>b</p>",
    "| a | b |\n|--:|:-:|\n| 1 | 2 |": TABLE,
    "a | b\nc": "<p>a | b<br>c</p>",
    "(see https://example.org/a_b_(c).)": (
        f"<p>(see {LINK.format('https://example.org/a_b_(c)', 'https://example.org/a_b_(c)')}.)</p>"
    ),
    "[**a**](https://example.org/)": f"<p>{LINK.format('https://example.org/', '<strong>a</strong>')}</p>",
    '[a [b] c](https://example.org/ "t")': f"<p>{LINK.format('https://example.org/', 'a [b] c')}</p>",
    "看 https://example.org/。好": (
        f"<p>看 {LINK.format('https://example.org/', 'https://example.org/')}。好</p>"
    ),
}
UNFINISHED = (
    "*a", "**", "_a ", "[", "[a](", "![", "`", "``` ", "> ", "- ", "<", "~~a", "| a ", "\\",
    "https://", "1. ", "[[a]](b", "*a **b ", "`a", "* ", "https://a.b/(",
)  # fmt: skip


@pytest_asyncio.fixture(loop_scope="module")
async def page(browser: Browser) -> AsyncIterator[Page]:
    """A blank page that has the renderer alone."""
    page = await browser.new_page()
    await page.add_script_tag(content=files("channels.web").joinpath("page", "markdown.js").read_text())
    yield page
    await page.close()


async def test_markdown_becomes_the_elements_it_stands_for(page: Page) -> None:
    rendered = {text: await page.evaluate("(text) => markdown(text).innerHTML", text) for text in RENDERED}
    assert rendered == RENDERED


async def test_a_fence_that_is_still_open_is_code_already(page: Page) -> None:
    html = await page.evaluate("(text) => markdown(text).innerHTML", "```py\nprint('<b>')\n  x")
    assert "<pre" in html
    assert "print('&lt;b&gt;')\n  x</code>" in html


async def test_long_unfinished_markdown_does_not_hang_the_page(page: Page) -> None:
    timed = "(text) => { const began = performance.now(); markdown(text); return performance.now() - began; }"
    slow = {}
    for piece in UNFINISHED:
        for text in (piece * (100_000 // len(piece)), f"{piece}\n" * (20_000 // len(piece))):
            took = await page.evaluate(timed, text)
            if took > 2000:
                slow[text[:20]] = took
    assert slow == {}
