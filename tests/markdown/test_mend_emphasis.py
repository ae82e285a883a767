"""Bold beside Chinese, Japanese and Korean punctuation, where somebody else renders the Markdown."""

import pyromark
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channels.feishu.render import text_forms
from channels.markdown.emphasis import GAP, mend_emphasis, most_gaps
from channels.markdown.outline import OPTIONS
from channels.messages import Address, OutboundMessage, OutboundText
from channels.slack.render import post_message

HOSTILE = st.text(alphabet="*~`_重点：“”、内a \n\\<>[]()")


def bold(markdown: str) -> list[str]:
    """What a CommonMark renderer shows in bold."""
    found: list[str] = []
    depth = 0
    for event in pyromark.events(markdown, options=OPTIONS):
        match event:
            case {"Start": "Strong"}:
                depth += 1
                found.append("")
            case {"End": "Strong"}:
                depth -= 1
            case {"Text": str(text)} if depth:
                found[-1] += text
    return [text.replace(GAP, "") for text in found]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("**重点：**内容", ["重点："]),
        ("内容**“重点”**内容", ["“重点”"]),
        ("これは**「重要」**です", ["「重要」"]),
        ("**안내:**내용", ["안내:"]),
        ("- **第一、**二\n- **三。**四", ["第一、", "三。"]),
    ],
)
def test_it_is_bold(text: str, wanted: list[str]) -> None:
    assert bold(text) != wanted, "CommonMark alone does not show it"
    assert bold(mend_emphasis(text)) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "**bold**",
        "plain：内",
        "`**重点：**内容`",
        "```\n**重点：**内容\n```",
        "    **重点：**内容",
        "<a x='**重点：**内容'>",
    ],
)
def test_what_needs_no_help_and_code_stay_as_they_are(text: str) -> None:
    assert mend_emphasis(text) == text


@settings(deadline=None)
@given(HOSTILE)
def test_nothing_but_gaps_is_added_and_no_more_than_was_reckoned_with(text: str) -> None:
    mended = mend_emphasis(text)
    assert mended.replace(GAP, "") == text
    assert mended.count(GAP) <= most_gaps(text)


def test_slack_and_feishu_are_sent_what_shows_in_bold() -> None:
    text = "**重点：**内容"
    message = OutboundMessage(Address("slack", "main", "C07OPS"), "k", OutboundText(text))
    assert bold(str(post_message(message, text).params["markdown_text"])) == ["重点："]
    card, post, plain = text_forms(text)
    assert all(mend_emphasis(text) in form.content for form in (card, post))
    assert text in plain.content
