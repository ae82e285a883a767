"""The manifest asks for what the channel uses, and for nothing else."""

from pathlib import Path

from ruamel.yaml import YAML

from tests.emulators.slack.world import SCOPES

DOCS = Path(__file__).parents[2] / "docs"
MANIFEST = YAML(typ="safe").load((DOCS / "slack-manifest.yaml").read_text())

NEEDED_BY_EVENT = {
    "app_mention": "app_mentions:read",
    "message.channels": "channels:history",
    "message.groups": "groups:history",
    "message.im": "im:history",
    "message.mpim": "mpim:history",
}


def test_the_scopes_are_those_that_all_tests_run_with():
    assert set(MANIFEST["oauth_config"]["scopes"]["bot"]) == SCOPES
    assert "user" not in MANIFEST["oauth_config"]["scopes"]


def test_every_event_has_its_scope():
    events = MANIFEST["settings"]["event_subscriptions"]["bot_events"]

    assert set(events) == set(NEEDED_BY_EVENT)
    assert {NEEDED_BY_EVENT[event] for event in events} <= SCOPES


def test_people_can_write_directly_and_use_the_command():
    features = MANIFEST["features"]

    assert features["app_home"]["messages_tab_enabled"]
    assert not features["app_home"]["messages_tab_read_only_enabled"]
    assert [command["command"] for command in features["slash_commands"]] == ["/hart"]
    assert MANIFEST["settings"]["socket_mode_enabled"]


def test_every_scope_is_explained():
    explained = (DOCS / "slack.md").read_text()

    assert all(f"`{scope}`" in explained for scope in SCOPES | {"connections:write"})
