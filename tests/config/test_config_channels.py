"""channels.yaml: which accounts are on and why not, whose thread a message joins, and who is heard."""

from collections.abc import Callable

import pytest

from bot.config import ChannelsConfig, DmPolicy, GroupPolicy, MentionPolicy, Role, SessionScope, Settings

Load = Callable[..., Settings]
Lines = Callable[..., list[str]]


def states(settings: Settings) -> list[str]:
    return [str(state) for state in settings.channels.states()]


@pytest.mark.parametrize("channels", [None, "", "channels:", "channels: {telegram: }"])
def test_by_default_web_and_console_are_on_and_the_platforms_wait_for_their_tokens(
    settings: Load, channels: str | None
) -> None:
    assert states(settings(channels=channels)) == [
        "web: on",
        "console: on",
        "telegram: off, TELEGRAM_BOT_TOKEN is not set",
        "slack: off, SLACK_BOT_TOKEN is not set",
        "feishu: off, FEISHU_APP_ID is not set",
    ]
    with_token = settings(channels=channels, TELEGRAM_BOT_TOKEN="12:abc")
    assert [state.channel for state in with_token.channels.enabled()] == ["web", "console", "telegram"]
    token = with_token.channels.channels.telegram.accounts["main"].token
    assert token is not None
    assert token.get_secret_value() == "12:abc"


def test_the_model_alone_has_the_same_defaults() -> None:
    assert [str(state) for state in ChannelsConfig().states()][2:] == [
        "telegram: off, TELEGRAM_BOT_TOKEN is not set",
        "slack: off, SLACK_BOT_TOKEN is not set",
        "feishu: off, FEISHU_APP_ID is not set",
    ]


def test_each_account_that_is_off_says_why(settings: Load) -> None:
    found = settings(
        channels="""\
        channels:
          web: {enabled: false}
          telegram:
            accounts:
              main: {token: "${MAIN_TOKEN:-}"}
              team: {token: $TEAM_TOKEN}
              bare:
                base_url: http://127.0.0.1:8081/
        """,
        TEAM_TOKEN="12:abc",
    )
    assert states(found) == [
        "web: off, enabled is false",
        "console: on",
        "telegram: off, MAIN_TOKEN is not set",
        "telegram/team: on",
        "telegram/bare: off, it has no token",
        "slack: off, SLACK_BOT_TOKEN is not set",
        "feishu: off, FEISHU_APP_ID is not set",
    ]
    assert found.channels.channels.telegram.accounts["bare"].base_url == "http://127.0.0.1:8081"


def test_telegram_can_be_turned_off_in_spite_of_its_token(settings: Load) -> None:
    found = settings(channels="channels: {telegram: {enabled: false}}", TELEGRAM_BOT_TOKEN="12:abc")
    assert "telegram: off, enabled is false" in states(found)


def test_telegram_turned_on_without_a_token_is_refused(lines: Lines) -> None:
    assert lines(channels="channels: {telegram: {enabled: true}}") == [
        "channels.yaml:2: channels.telegram: enabled is true, but no account can be used: "
        "TELEGRAM_BOT_TOKEN is not set"
    ]


@pytest.mark.parametrize("token", ["12:a/../b", "12 abc", "abc", "12:abc\n", "12:abc?x=1"])
@pytest.mark.parametrize(
    "channels", [None, "channels: {telegram: {accounts: {main: {token: $TELEGRAM_BOT_TOKEN}}}}"]
)
def test_a_token_that_would_change_the_address_is_refused_and_not_shown(
    lines: Lines, channels: str | None, token: str
) -> None:
    (line,) = lines(channels=channels, TELEGRAM_BOT_TOKEN=token)
    assert "channels.telegram.accounts.main.token: found a value" in line
    assert "expected a bot token as BotFather gives it" in line
    assert token not in line


def test_sessions_have_defaults_for_each_channel(settings: Load) -> None:
    channels = settings().channels
    for name, direct in (("web", "per_chat"), ("console", "per_chat"), ("telegram", "per_user")):
        sessions = channels.sessions(name, "main")
        assert (sessions.direct, sessions.group) == (SessionScope(direct), SessionScope.PER_THREAD)


def test_sessions_can_be_set_for_an_account(settings: Load) -> None:
    channels = settings(
        channels="""\
        channels:
          web: {sessions: {direct: per_thread}}
          telegram: {accounts: {team: {sessions: {group: per_user_in_chat}}}}
        """
    ).channels
    assert channels.sessions("web", "main").direct is SessionScope.PER_THREAD
    assert channels.sessions("telegram", "team").group is SessionScope.PER_USER_IN_CHAT
    assert channels.sessions("telegram", "team").direct is SessionScope.PER_USER


@pytest.mark.parametrize(
    ("channel", "account"), [("signal", "main"), ("web", "other"), ("telegram", "other")]
)
def test_what_is_not_there_has_no_sessions_and_no_access(settings: Load, channel: str, account: str) -> None:
    channels = settings().channels
    with pytest.raises(KeyError):
        channels.sessions(channel, account)
    with pytest.raises(KeyError):
        channels.access(channel, account)


def test_by_default_telegram_hears_nobody_and_this_machine_is_heard(settings: Load) -> None:
    channels = settings().channels
    telegram = channels.access("telegram", "main")
    assert (telegram.dm, telegram.users, telegram.owners, telegram.admins) == (DmPolicy.PAIRING, (), (), ())
    assert (telegram.group, telegram.groups, telegram.mention) == (
        GroupPolicy.ALLOWLIST,
        (),
        MentionPolicy.REQUIRED,
    )
    assert channels.access("web", "main").dm is DmPolicy.OPEN
    assert channels.access("console", "main").dm is DmPolicy.OPEN


def test_ids_may_be_written_as_numbers_or_text_and_empty_variables_add_nobody(settings: Load) -> None:
    access = settings(
        channels="""\
        channels:
          telegram:
            accounts:
              main:
                access:
                  users: [123, "456", $OWNER, "${SECOND:-}"]
                  groups: [-100123]
        """,
        OWNER="789",
    ).channels.access("telegram", "main")
    assert access.users == ("123", "456", "789")
    assert access.groups == ("-100123",)


def test_open_access_must_be_acknowledged(lines: Lines, settings: Load) -> None:
    template = "channels: {{telegram: {{accounts: {{main: {{access: {{{}}}}}}}}}}}"
    for policies, names in (
        ("dm: open", "dm"),
        ("group: open", "group"),
        ("dm: open, group: open", "dm and group"),
    ):
        (line,) = lines(channels=template.format(policies))
        assert line == (
            f"channels.yaml:2: channels.telegram.accounts.main.access: {names}: open lets anyone who "
            "finds the bot "
            "use it, its tools and your model; list people instead, or add acknowledge_open: true if you "
            "mean it"
        )
        meant = settings(channels=template.format(f"{policies}, acknowledge_open: true"))
        assert meant.channels.access("telegram", "main").acknowledge_open


def test_faulty_channels_are_named(lines: Lines) -> None:
    assert lines(
        channels="""\
        channels:
          telegrm: {}
          telegram:
            accounts:
              main:
                base_url: ftp://host
                access:
                  dm: everyone
                  users: ["@ann", true, [1]]
                  mention: optinal
              "two words": {}
              other: {base_url: "https://user:hunter2@host"}
              plain: 12:hunter2
          web: on
        """
    ) == [
        'channels.yaml:3: channels.telegrm: unknown key; did you mean "telegram"?',
        'channels.yaml:7: channels.telegram.accounts.main.base_url: found "ftp://host", expected an '
        "address such as "
        "https://host or http://host:port, without a password in it",
        'channels.yaml:9: channels.telegram.accounts.main.access.dm: found "everyone", expected one of '
        "pairing, allowlist, open",
        'channels.yaml:10: channels.telegram.accounts.main.access.users[0]: found "@ann", expected a '
        "number; @names "
        "are not accepted",
        "channels.yaml:10: channels.telegram.accounts.main.access.users[1]: found true, expected a "
        "number; @names are "
        "not accepted",
        "channels.yaml:10: channels.telegram.accounts.main.access.users[2]: found a list, expected a "
        "number; @names "
        "are not accepted",
        'channels.yaml:11: channels.telegram.accounts.main.access.mention: found "optinal", expected one '
        "of required, "
        "thread, optional",
        "channels.yaml:12: channels.telegram.accounts.two words: not a name that can be used here, "
        "expected up to 64 "
        "letters, digits, dots, dashes or underscores, starting with a letter or digit",
        'channels.yaml:13: channels.telegram.accounts.other.base_url: found "https://********@host", '
        "expected an "
        "address such as https://host or http://host:port, without a password in it",
        "channels.yaml:14: channels.telegram.accounts.plain: found text, expected a mapping with keys "
        "out of access, "
        "base_url, pacing, sessions, token",
        "channels.yaml:15: channels.web: found text, expected a mapping with keys out of enabled, sessions",
    ]


def test_roles_and_commands_can_be_given(settings: Load, lines: Lines) -> None:
    template = "channels: {{telegram: {{accounts: {{main: {{access: {{{}}}}}}}}}}}"
    access = settings(
        channels=template.format("owners: [1], admins: [2, 3], commands: {stop: admin}")
    ).channels.access("telegram", "main")
    assert (access.owners, access.admins, access.commands) == (("1",), ("2", "3"), {"stop": Role.ADMIN})
    found = lines(channels=template.format('owners: ["@ann"], commands: {stop: boss, "/new": admin}'))
    assert ["owners[0]" in found[0], "owner, admin, member" in found[1], "without its slash" in found[2]] == [
        True,
        True,
        True,
    ]
