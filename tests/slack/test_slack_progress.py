"""A reaction tells that an answer is on its way, and does no harm when it cannot."""

import asyncio
import logging

import pytest

from channels.messages import Address
from channels.pacing import Limit, Per
from channels.views import Phase, RunView
from tests.emulators.slack import (
    DropBefore,
    RawAnswer,
    Refuse,
    bad_gateway,
    too_many,
)


@pytest.fixture
def home(slack, ann):
    return slack.dm(ann)


async def test_the_message_being_answered_bears_a_reaction_until_the_end(slack, ann, channel, home):
    asked = slack.say(home, ann, "?")
    here = Address("slack", "main", home.id)
    mark = slack.reactions.setdefault((home.id, asked["ts"]), set())

    await channel.show(here, RunView("r", asked["ts"]))
    assert mark == {"eyes"}
    for phase in (Phase.WORKING, Phase.ANSWERING):
        await channel.show(here, RunView("r", asked["ts"], phase))
    assert slack.count("reactions.add") == 1
    await channel.show(here, RunView("r", asked["ts"], Phase.DONE))
    await channel.show(here, RunView("r", asked["ts"], Phase.DONE))

    assert mark == set()
    assert slack.count("reactions.remove") == 1


async def test_a_run_that_goes_on_after_a_restart_clears_the_reaction_of_the_first(slack, ann, build, home):
    asked = slack.say(home, ann, "?")
    here = Address("slack", "main", home.id)
    await build().show(here, RunView("r", asked["ts"]))
    second = build()
    await second.show(here, RunView("r", asked["ts"]))
    await second.show(here, RunView("r", asked["ts"], Phase.DONE))

    assert slack.reactions[home.id, asked["ts"]] == set()


@pytest.mark.parametrize(
    "fault",
    [DropBefore(), bad_gateway(), RawAnswer(b"?"), Refuse("message_not_found"), Refuse("new"), too_many(9)],
    ids=repr,
)
async def test_progress_that_cannot_be_shown_does_no_harm(fault, slack, ann, channel, home):
    asked = slack.say(home, ann, "?")
    here = Address("slack", "main", home.id)
    slack.faults.add("reactions.add", fault)
    slack.faults.add("reactions.remove", fault)

    await channel.show(here, RunView("r", asked["ts"]))
    await channel.show(here, RunView("r", asked["ts"], Phase.DONE))
    await channel.show(here, RunView("r", None))
    await channel.show(here, RunView("r", "7.8.trigger-id"))
    async with slack.offline():
        await channel.show(here, RunView("r", "1.000001"))


async def test_a_missing_scope_for_reactions_is_told_once(slack, ann, channel, home, seconds, caplog):
    caplog.set_level(logging.WARNING)
    slack.scopes.discard("reactions:write")
    here = Address("slack", "main", home.id)
    for _ in range(3):
        asked = slack.say(home, ann, "?")
        await channel.show(here, RunView("r", asked["ts"]))
        await channel.show(here, RunView("r", asked["ts"], Phase.DONE))
        seconds.now += 4000

    assert sum("reactions:write" in line for line in caplog.messages) == 1


async def test_after_a_rate_limit_no_reaction_is_tried_for_a_while(slack, ann, channel, home, seconds):
    slack.faults.add("reactions.add", too_many(9))
    here = Address("slack", "main", home.id)
    marks = [slack.say(home, ann, "?")["ts"] for _ in range(3)]
    await channel.show(here, RunView("r", marks[0]))
    await channel.show(here, RunView("r", marks[1]))
    assert slack.count("reactions.add") == 1
    seconds.now += 10
    await channel.show(here, RunView("r", marks[2]))

    assert slack.reactions[home.id, marks[2]] == {"eyes"}


async def test_a_reaction_that_must_wait_is_left_out_and_one_that_ends_waits(
    slack, ann, build, home, seconds
):
    methods = frozenset({"reactions.add", "reactions.remove"})
    channel = build(limits=(Limit(Per.METHOD, 1, 4, methods=methods),))
    here = Address("slack", "main", home.id)
    first, second = (slack.say(home, ann, "?")["ts"] for _ in range(2))
    await channel.show(here, RunView("r", first))
    await channel.show(here, RunView("r", second))
    await channel.show(here, RunView("r", first, Phase.DONE))
    seconds.now += 5
    await channel.show(here, RunView("r", second))
    ending = asyncio.create_task(channel.show(here, RunView("r", second, Phase.DONE)))
    await ending

    assert slack.reactions[home.id, first] == set()
    assert slack.reactions[home.id, second] == set()
    assert slack.count("reactions.add") == 2
