"""Slack's part of ``channels.yaml``."""

from pathlib import Path

import pytest

from bot.config import ConfigError, load
from bot.config.slack import SlackMode

BOT, APP, SECRET = "xoxb-1-2-abc", "xapp-1-A-2-def", "0f1e2d3c4b5a69788796a5b4c3d2e1f0"


def loaded(folder: Path, text: str, **environ: str):
    (folder / "config.yaml").write_text("version: 1\n")
    (folder / "channels.yaml").write_text(f"version: 1\n{text}\n")
    return load(folder, environ)


def states(settings) -> list[str]:
    return [str(state) for state in settings.channels.states() if state.channel == "slack"]


def account(**keys: str) -> str:
    inner = ", ".join(f"{key}: {value}" for key, value in keys.items())
    return f"channels: {{slack: {{accounts: {{main: {{{inner}}}}}}}}}"


@pytest.mark.parametrize("text", ["", "channels: {slack: }"])
def test_slack_waits_for_its_tokens(text, tmp_path):
    assert states(loaded(tmp_path, text)) == ["slack: off, SLACK_BOT_TOKEN is not set"]
    assert states(loaded(tmp_path, text, SLACK_BOT_TOKEN=BOT)) == ["slack: off, SLACK_APP_TOKEN is not set"]
    assert states(loaded(tmp_path, text, SLACK_BOT_TOKEN=BOT, SLACK_APP_TOKEN=APP)) == ["slack: on"]


def test_http_needs_the_signing_secret_and_no_app_token(tmp_path):
    text = account(mode="http", bot_token=BOT)
    assert states(loaded(tmp_path, text)) == ["slack: off, it has no signing_secret"]

    settings = loaded(tmp_path, account(mode="http", bot_token=BOT, signing_secret=SECRET))

    assert states(settings) == ["slack: on"]
    assert settings.channels.channels.slack.accounts["main"].mode is SlackMode.HTTP


def test_no_secret_is_shown(tmp_path):
    settings = loaded(tmp_path, account(bot_token=BOT, app_token=APP, signing_secret=SECRET))

    shown = repr(settings) + str(settings.channels)
    assert not any(secret in shown for secret in (BOT, APP, SECRET))


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"bot_token": APP}, "it begins with xoxb-"),
        ({"bot_token": "'xoxb-1\\n2'"}, "it begins with xoxb-"),
        ({"app_token": BOT}, "it begins with xapp-"),
        ({"signing_secret": "'has space'"}, "letters and digits"),
        ({"base_url": "https://slack.com"}, "ends with /api/"),
        ({"base_url": "slack.com/api/"}, "ends with /api/"),
        ({"mode": "rtm"}, "socket"),
        ({"access": "{users: ['@ann']}"}, "a member id"),
        ({"access": "{owners: [C012AB3CD]}"}, "a member id"),
        ({"access": "{groups: ['#ops']}"}, "a channel id"),
        ({"token": BOT}, "unknown key"),
    ],
)
def test_what_is_wrong_is_named_and_no_secret_with_it(keys, words, tmp_path):
    with pytest.raises(ConfigError) as caught:
        loaded(tmp_path, account(**keys))

    assert words in str(caught.value)
    assert not any(secret in str(caught.value) for secret in (BOT, APP))


def test_the_address_may_be_written_with_or_without_its_last_slash(tmp_path):
    for url in ("http://127.0.0.1:81/api", "http://127.0.0.1:81/api/"):
        settings = loaded(tmp_path, account(base_url=url))
        assert settings.channels.channels.slack.accounts["main"].base_url == "http://127.0.0.1:81/api/"


def test_two_accounts_cannot_share_an_app(tmp_path):
    one = f"{{bot_token: {BOT}, app_token: {APP}}}"
    with pytest.raises(ConfigError, match="the same app_token"):
        loaded(tmp_path, f"channels: {{slack: {{accounts: {{a: {one}, b: {one}}}}}}}")


def test_turned_on_without_tokens_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="no account can be used: SLACK_BOT_TOKEN is not set"):
        loaded(tmp_path, "channels: {slack: {enabled: true}}")
    assert states(loaded(tmp_path, "channels: {slack: {enabled: false}}", SLACK_BOT_TOKEN=BOT)) == [
        "slack: off, enabled is false"
    ]
