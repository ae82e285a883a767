"""Whose thread a message joins."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.config.channels import Sessions, SessionScope
from bot.threads import scoped_key, thread_key
from channels.messages import Address, Sender
from tests.bot.messages import DIRECT, GROUP

OTHER_PERSON = replace(GROUP, sender=Sender("8", "Bo"))
OTHER_TOPIC = replace(GROUP, address=replace(GROUP.address, platform_thread="10"))
OTHER_CHAT = replace(GROUP, address=replace(GROUP.address, chat_id="-501"))


@pytest.mark.parametrize(
    ("scope", "same", "different"),
    [
        (SessionScope.PER_USER, [OTHER_CHAT, OTHER_TOPIC], [OTHER_PERSON]),
        (SessionScope.PER_CHAT, [OTHER_PERSON, OTHER_TOPIC], [OTHER_CHAT]),
        (SessionScope.PER_THREAD, [OTHER_PERSON], [OTHER_TOPIC, OTHER_CHAT]),
        (SessionScope.PER_USER_IN_CHAT, [OTHER_TOPIC], [OTHER_PERSON, OTHER_CHAT]),
    ],
)
def test_each_scope_shares_what_it_says(scope, same, different) -> None:
    key = scoped_key(GROUP, scope)
    assert [scoped_key(message, scope) for message in same] == [key] * len(same)
    assert all(scoped_key(message, scope) != key for message in different)


def test_direct_and_group_chats_follow_their_own_setting() -> None:
    sessions = Sessions(direct=SessionScope.PER_USER, group=SessionScope.PER_CHAT)
    assert thread_key(DIRECT, sessions) == scoped_key(DIRECT, SessionScope.PER_USER)
    assert thread_key(GROUP, sessions) == scoped_key(GROUP, SessionScope.PER_CHAT)


@pytest.mark.parametrize("scope", list(SessionScope))
def test_accounts_never_share_a_thread(scope) -> None:
    second = replace(GROUP, address=replace(GROUP.address, account="second"))
    assert scoped_key(GROUP, scope) != scoped_key(second, scope)


ids = st.text(alphabet="ab/:%", min_size=0, max_size=6)
addresses = st.builds(Address, st.just("x"), ids, ids, st.none() | ids.filter(bool))


@given(addresses, addresses, ids, ids)
def test_ids_with_separators_never_run_into_each_other(one, two, first, second) -> None:
    a = replace(GROUP, address=one, sender=Sender(first))
    b = replace(GROUP, address=two, sender=Sender(second))
    if (one.account, one.chat_id, one.platform_thread) != (two.account, two.chat_id, two.platform_thread):
        assert scoped_key(a, SessionScope.PER_THREAD) != scoped_key(b, SessionScope.PER_THREAD)
    if (one.account, one.chat_id, first) != (two.account, two.chat_id, second):
        keys = {scoped_key(message, SessionScope.PER_USER_IN_CHAT) for message in (a, b)}
        assert len(keys) == 2
