"""Who is heard."""

from dataclasses import replace

import pytest

from bot.access import Heard, Refused, Standing, Unheard, Unpaired, decide, dismissed, role_of
from bot.config.channels import OPEN_ACCESS, Access, DmPolicy, GroupPolicy, MentionPolicy, Role
from channels.messages import Sender
from tests.bot.messages import DIRECT, GROUP

OPEN = Access(dm=DmPolicy.OPEN, group=GroupPolicy.OPEN, acknowledge_open=True)
LISTED = Access(dm=DmPolicy.ALLOWLIST)
THREAD = Access(groups=("-500",), mention=MentionPolicy.THREAD)
UNADDRESSED = replace(GROUP, addressed=False)
IN_NO_THREAD = replace(UNADDRESSED, address=replace(GROUP.address, platform_thread=None))
TAKING_PART = Standing(taking_part=True)


def test_the_default_hears_nobody_and_offers_a_code_to_whoever_writes_directly() -> None:
    assert decide(DIRECT, Access()) == Unpaired()
    assert isinstance(decide(GROUP, Access()), Refused)


def test_a_refusal_names_the_id_to_put_on_the_list() -> None:
    direct, group = decide(DIRECT, LISTED), decide(GROUP, Access())
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
    assert decide(message, access) == Heard(Role.MEMBER)


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


@pytest.mark.parametrize("people", ["users", "admins", "owners"])
def test_a_person_on_the_direct_list_opens_no_group(people: str) -> None:
    assert isinstance(decide(GROUP, Access.model_validate({people: ["7"]})), Refused)


class TestRoles:
    @pytest.mark.parametrize(
        ("access", "granted", "role"),
        [
            (Access(), None, None),
            (Access(users=("7",)), None, Role.MEMBER),
            (Access(admins=("7",)), None, Role.ADMIN),
            (Access(owners=("7",), users=("7",)), None, Role.OWNER),
            (Access(), Role.ADMIN, Role.ADMIN),
            (Access(users=("7",)), Role.OWNER, Role.OWNER),
            (Access(owners=("7",)), Role.MEMBER, Role.OWNER),
            (LISTED, Role.OWNER, None),
            (LISTED.model_copy(update={"users": ("7",)}), Role.OWNER, Role.MEMBER),
        ],
    )
    def test_the_highest_counts_and_codes_do_not_where_only_the_list_does(
        self, access: Access, granted: Role | None, role: Role | None
    ) -> None:
        assert role_of("7", access, granted) is role

    def test_each_may_do_what_those_below_may(self) -> None:
        may = [[one.covers(needed) for needed in Role] for one in Role]
        assert may == [[True, True, True], [False, True, True], [False, False, True]]

    def test_whoever_was_let_in_is_heard_directly_and_keeps_the_role_in_groups(self) -> None:
        granted = Standing(granted=Role.ADMIN)
        assert decide(DIRECT, Access(), granted) == Heard(Role.ADMIN)
        assert decide(GROUP, Access(groups=("-500",)), granted) == Heard(Role.ADMIN)
        assert isinstance(decide(GROUP, Access(), granted), Refused)

    def test_whoever_sits_at_this_machine_owns_it(self) -> None:
        assert decide(replace(DIRECT, sender=Sender("local")), OPEN_ACCESS) == Heard(Role.OWNER)
        assert decide(DIRECT, OPEN_ACCESS) == Heard(Role.MEMBER)


class TestThreads:
    def test_where_hart_takes_part_a_message_need_not_address_it(self) -> None:
        assert decide(UNADDRESSED, THREAD, TAKING_PART) == Heard(Role.MEMBER)
        assert isinstance(decide(UNADDRESSED, THREAD), Unheard)

    def test_this_opens_no_group_and_no_chat_outside_a_thread(self) -> None:
        unlisted = THREAD.model_copy(update={"groups": ()})
        assert isinstance(decide(UNADDRESSED, unlisted, TAKING_PART), Unheard)
        assert isinstance(decide(IN_NO_THREAD, THREAD, TAKING_PART), Unheard)
        assert isinstance(decide(GROUP, unlisted, TAKING_PART), Refused)

    def test_where_a_mention_is_required_taking_part_changes_nothing(self) -> None:
        required = Access(groups=("-500",))
        assert isinstance(decide(UNADDRESSED, required, TAKING_PART), Unheard)

    def test_most_talk_is_dismissed_with_no_look_at_the_ledger(self) -> None:
        required = Access(groups=("-500",))
        assert dismissed(UNADDRESSED, required)
        assert dismissed(IN_NO_THREAD, THREAD)
        assert dismissed(UNADDRESSED, THREAD) is None
        assert dismissed(replace(DIRECT, sender=Sender("7", is_bot=True)), OPEN)
        assert dismissed(DIRECT, Access()) is None
