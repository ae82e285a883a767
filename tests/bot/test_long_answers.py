"""A very long answer is a short message and a file, where it would take too many messages."""

from bot.drafts import FileDraft
from bot.engine.answers import MOST_PIECES, answer_drafts, goes_as_file, opening
from bot.store.runs import Turn
from channels.messages import Address
from channels.telegram.render import split
from tests.bot.messages import DIRECT

CHAT = DIRECT.address
PAGE = Address("web", "main", "1")
WHOLE = FileDraft("outbox/r/answer.md", "answer.md", "text/markdown", 9)
CHART = FileDraft("outbox/r/00-chart.png", "chart.png", "image/png", 9)
LONG = "# Report\n\n" + "Some words of it. " * 2000


def turn(*targets):
    return Turn("r", 1, "t", DIRECT, targets, True, True, None, None, 1, False, None, True)


def by_platform(address, text):
    return split(text) if address.channel == "telegram" else [text]


def test_an_answer_of_a_few_messages_is_posted_whole():
    answer = "word " * 3000

    assert 2 <= len(split(answer)) <= MOST_PIECES
    assert not goes_as_file(turn(CHAT), answer, by_platform)


def test_a_longer_one_is_its_beginning_the_file_and_then_the_other_files():
    assert goes_as_file(turn(CHAT), LONG, by_platform)

    drafts = answer_drafts(turn(CHAT), LONG, [CHART], by_platform, WHOLE)

    assert [draft.file for draft in drafts] == [None, WHOLE, CHART]
    assert [draft.final for draft in drafts] == [False, False, True]
    assert [draft.quote for draft in drafts] == [True, False, False]
    text = drafts[0].text
    assert text is not None
    assert text.startswith("# Report\n\nSome words of it.")
    assert "all 36,010 characters are in the file answer.md" in text


def test_a_target_that_can_show_all_of_it_gets_all_of_it():
    drafts = answer_drafts(turn(CHAT, PAGE), LONG, [], by_platform, WHOLE)

    assert [(draft.address, draft.file, draft.text == LONG) for draft in drafts] == [
        (CHAT, None, False),
        (CHAT, WHOLE, False),
        (PAGE, None, True),
    ]


def test_the_beginning_is_short_and_closes_its_code():
    text = opening("Look:\n\n```py\n" + "x = 1\n" * 5000 + "```")

    assert len(text) < 800
    assert text.count("```") == 2
