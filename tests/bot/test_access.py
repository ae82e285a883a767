"""Who is heard."""

from dataclasses import replace

import pytest

from bot.access import Heard, Refused, Unheard, decide
from bot.config.channels import Access, DmPolicy, GroupPolicy, MentionPolicy
from channels.messages import Sender
from tests.bot.messages import DIRECT, GROUP

OPEN = Access(dm=DmPolicy.OPEN, group=GroupPolicy.OPEN, acknowledge_open=True)
UNADDRESSED = replace(GROUP, addressed=False)


def test_the_default_hears_nobody() -> None:
    assert isinstance(decide(DIRECT, Access()), Refused)
    assert isinstance(decide(GROUP, Access()), Refused)


def test_a_refusal_names_the_id_to_put_on_the_list() -> None:
    direct, group = decide(DIRECT, Access()), decide(GROUP, Access())
    assert isinstance(direct, Refused)
    assert "`7`" in direct.reply
    assert isinstance(group, Refused)
    assert "`-500`" in group.reply


@pytest.mark.parametrize(
    ("message", "access"),
    [
        (DIRECT, Access(users=("7",))),
        (DIRECT, OPEN),
        (GROUP, Access(groups=("-500",))),
        (GROUP, OPEN),
        (UNADDRESSED, Access(groups=("-500",), mention=MentionPolicy.OPTIONAL)),
    ],
)
def test_whoever_is_on_the_list_is_heard(message, access) -> None:
    assert decide(message, access) == Heard()


@pytest.mark.parametrize(
    ("message", "access"),
    [
        (UNADDRESSED, Access(groups=("-500",))),
        (UNADDRESSED, OPEN),
        (UNADDRESSED, Access(mention=MentionPolicy.OPTIONAL)),
        (GROUP, Access(group=GroupPolicy.OFF, groups=("-500",))),
        (replace(DIRECT, sender=Sender("7", is_bot=True)), OPEN),
        (replace(GROUP, sender=Sender("7", is_bot=True)), OPEN),
    ],
)
def test_what_is_not_meant_for_us_gets_no_word(message, access) -> None:
    assert isinstance(decide(message, access), Unheard)


def test_a_person_on_the_direct_list_opens_no_group() -> None:
    assert isinstance(decide(GROUP, Access(users=("7",))), Refused)
