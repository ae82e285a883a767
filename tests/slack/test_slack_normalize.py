"""Any event becomes a message, is ignored, or is set aside; nothing else can happen."""

import copy
import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.messages import ChatKind, InboundMessage
from channels.slack.mrkdwn import mentioned, read_text
from channels.slack.normalize import (
    BotIdentity,
    Ignored,
    Known,
    MalformedEventError,
    needs_thread_lookup,
    normalize,
    normalize_command,
    origin,
    people_in,
    read_command,
    read_event,
)

BOT = BotIdentity("U0BOT", "B0BOT", "T07QHTEAM42")
NOBODY = Known({})

PAYLOAD = {
    "type": "event_callback",
    "team_id": "T07QHTEAM42",
    "event_id": "Ev07QH1",
    "authorizations": [{"team_id": "T07QHTEAM42"}],
    "event": {
        "type": "message",
        "user": "U0ANN",
        "text": "<@U0BOT> see <#C07OPS|ops> and <@U0BO>",
        "ts": "1796000000.000100",
        "thread_ts": "1795999999.000900",
        "channel": "C07OPS",
        "channel_type": "channel",
        "files": [{"id": "F0A", "name": "a.txt", "size": 3, "mimetype": "text/plain"}],
        "attachments": [{"is_share": True, "author_name": "Bo", "text": "forwarded &amp; quoted"}],
    },
}
COMMAND = {
    "command": "/hart",
    "text": "new",
    "user_id": "U0ANN",
    "user_name": "ann",
    "channel_id": "C07OPS",
    "trigger_id": "1.2.3",
}


def hear(event, known=NOBODY, **payload):
    found = read_event(PAYLOAD | {"event": event} | payload, BOT)
    return found if isinstance(found, Ignored) else normalize(found, "main", BOT, known)


def said(text, **fields):
    return {
        "type": "message",
        "user": "U0ANN",
        "text": text,
        "ts": "17.000001",
        "channel": "C07OPS",
        **fields,
    }


def test_every_field_finds_its_place():
    event = read_event(PAYLOAD, BOT)
    message = normalize(event, "team", BOT, Known({"U0ANN": "Ann\nLee", "U0BO": "Bo"}))

    assert message.address.account == "team"
    assert message.address.chat_id == "C07OPS"
    assert message.address.platform_thread == "1795999999.000900"
    assert message.sender.name == "Ann Lee"
    assert message.text == "see #ops and @Bo\n\nForwarded from Bo:\n> forwarded & quoted"
    assert message.dedupe_key == "slack:team:T07QHTEAM42:message:C07OPS:1796000000.000100"
    assert message.sent_at == datetime.fromtimestamp(1796000000, UTC)
    assert message.attachments[0].ref == "F0A"
    assert people_in(event, BOT) == {"U0ANN", "U0BO"}
    assert not needs_thread_lookup(event, BOT), "it mentions us"


def test_both_events_of_a_mention_have_one_key():
    mention = copy.deepcopy(PAYLOAD["event"]) | {"type": "app_mention"}
    del mention["channel_type"]

    first, second = hear(PAYLOAD["event"]), hear(mention)

    assert first == second


@pytest.mark.parametrize(
    ("text", "read", "addressed"),
    [
        ("plain", "plain", False),
        ("<@U0BOT>", "", True),
        ("<@U0BOT> !new  start over", "/new  start over", True),
        ("<@U0BOT|hart>: /status", "/status", True),
        ("  !status", "/status", False),
        ("!!! look", "!!! look", False),
        ("!", "!", False),
        ("! new", "! new", False),
        ("wow !new", "wow !new", False),
        ("/etc/hosts is a file", "/etc/hosts is a file", False),
        ("!important:", "!important:", False),
        ("Hey <@U0BOT>, hi", "Hey , hi", True),
        ("one <@U0BOT> two", "one two", True),
        ("<@U0BOT><@U0BOT>", "", True),
        ("a<@U0BOT>b", "ab", True),
        ("&lt;@U0BOT&gt; is how to write it", "<@U0BOT> is how to write it", False),
        ("<@U0UNKNOWN> and <@U0X|x.y>", "@U0UNKNOWN and @x.y", False),
        ("<https://a.example>", "https://a.example", False),
        ("<https://a.example|a.example>", "https://a.example", False),
        ("<https://a.example/|https://a.example>", "https://a.example/", False),
        ("<https://a.example/?x=1&amp;y=2|A &amp; B>", "A & B (https://a.example/?x=1&y=2)", False),
        ("<mailto:a@b.example|a@b.example> <tel:+1|+1>", "a@b.example +1", False),
        ("<#C0A> <#C0A|> <#C0A|ops>", "#C0A #C0A #ops", False),
        ("<!channel> <!here|here> <!everyone>", "@channel @here @everyone", False),
        ("<!subteam^S0A|@ops> <!subteam^S0A>", "@ops @S0A", False),
        ("<!date^1392734382^{date}|18 Feb 2014> <!new^x>", "18 Feb 2014 new^x", False),
        ("<b>bold</b> <>", "<b>bold</b> <>", False),
        ("&amp;lt; &lt;b&gt; &#39;", "&lt; <b> &#39;", False),
        ("nested <a <https://b.example> c>", "nested <a https://b.example c>", False),
    ],
)
def test_a_text_is_read_as_a_person_reads_it(text, read, addressed):
    found = read_text(text, "U0BOT", {})

    assert (found.text, found.addressed) == (read, addressed)


def test_a_name_cannot_pose_as_something_else():
    known = Known({"U0ANN": "Ann\u202e\n\n" + "x" * 500, "U0BO": "Bo"})

    message = hear(said("hi"), known)

    assert len(message.sender.name) <= 64
    assert "\n" not in message.sender.name
    assert "\u202e" not in message.sender.name


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        ({"type": "reaction_added"}, "not a message"),
        (said("x", subtype="message_changed"), "not written by a person"),
        (said("x", subtype=["file_share"]), "not written by a person"),
        (said("x", bot_id="B0OTHER"), "written by a bot"),
        (said("x", user="U0BOT"), "written by a bot"),
        (said("x", user="USLACKBOT"), "written by a bot"),
        (said(""), "neither text nor a file"),
        (said("<@U0BOT>"), "neither text nor a file"),
        (said(None), "neither text nor a file"),
    ],
)
def test_what_is_not_for_us_is_ignored(event, reason):
    found = hear(event)

    assert isinstance(found, Ignored)
    assert found.reason == reason


@pytest.mark.parametrize("subtype", ["file_share", "me_message", "thread_broadcast"])
def test_what_a_person_wrote_is_heard_whatever_its_kind(subtype):
    assert isinstance(hear(said("x", subtype=subtype)), InboundMessage)


def test_a_direct_chat_is_known_by_its_kind_or_by_its_id():
    assert hear(said("x", channel="D07", channel_type="im")).chat_kind is ChatKind.DIRECT
    assert hear(said("x", channel="D07")).chat_kind is ChatKind.DIRECT
    assert hear(said("x", channel="G07", channel_type="mpim")).chat_kind is ChatKind.GROUP
    assert hear(said("x", channel="C07")).chat_kind is ChatKind.GROUP


def test_a_command_becomes_text_that_begins_with_a_slash():
    for text, read in (
        ("new", "/new"),
        (" new  ideas", "/new  ideas"),
        ("/new", "/new"),
        ("!new", "/new"),
        ("", "/help"),
        (" ", "/help"),
    ):
        command = read_command(COMMAND | {"text": text})
        assert normalize_command(command, "main", BOT).text == read


_SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
_JSON = st.recursive(
    _SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=10
)


def _places(value, path=()):
    yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _places(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _places(inner, (*path, index))


@given(st.sampled_from(list(_places(PAYLOAD))), _JSON, st.booleans())
def test_no_change_of_an_event_breaks_anything_else(path, value, remove):
    payload = copy.deepcopy(PAYLOAD)
    holder, last = payload, None
    for step in path:
        last = (holder, step)
        holder = holder[step]
    if last is None:
        payload = value
    elif remove:
        del last[0][last[1]]
    else:
        last[0][last[1]] = value

    assert origin(payload, "main").channel == "slack"
    try:
        event = read_event(payload, BOT)
    except MalformedEventError:
        return
    if isinstance(event, Ignored):
        return
    people_in(event, BOT)
    needs_thread_lookup(event, BOT)
    message = normalize(event, "main", BOT, NOBODY)
    assert isinstance(message, InboundMessage | Ignored)
    if isinstance(message, InboundMessage):
        json.dumps([message.text, message.sender.id, message.dedupe_key]).encode()
        message.text.encode()


@given(st.text(alphabet="<>@#!|&;UCS0ABOT^ \n/:lt\x00\ud800") | st.text())
def test_any_text_can_be_read_and_reading_takes_nothing_but_tokens_away(text):
    read = read_text(text, "U0BOT", {})

    assert read.addressed == ("U0BOT" in mentioned(text))
    if not set("<>&") & set(text) and not text.strip().startswith("!"):
        assert read.text == text.strip()


def test_reading_takes_linear_time():
    for text in ("<" * 200_000, "<a" * 100_000, "&amp;" * 100_000, "<@U0BOT>" * 20_000):
        read_text(text, "U0BOT", {})
