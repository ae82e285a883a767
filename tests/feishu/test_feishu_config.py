"""channels.yaml: Feishu's accounts, which of them are on, and what is refused."""

import pytest

from bot.channel_factory import build_channels
from bot.config import ConfigError, load
from bot.home import Home
from channels.feishu.channel import KEY_GOOD_FOR

SECRET = "A1b2C3d4E5f6A1b2C3d4E5f6A1b2C3d4"
GOOD = {"FEISHU_APP_ID": "cli_a1b2c3d4e5f60708", "FEISHU_APP_SECRET": SECRET}


@pytest.fixture
def settings(tmp_path):
    def read(account=None, **variables):
        if account is not None:
            lines = "".join(f"        {line}\n" for line in account.splitlines())
            text = f"version: 1\nchannels:\n  feishu:\n    accounts:\n      main:\n{lines}"
            (tmp_path / "channels.yaml").write_text(text)
        return load(tmp_path, variables)

    return read


def feishu(settings):
    return settings.channels.channels.feishu


def states(settings):
    return [str(state) for state in settings.channels.states() if state.channel == "feishu"]


@pytest.mark.parametrize(
    ("variables", "state"),
    [
        ({}, "feishu: off, FEISHU_APP_ID is not set"),
        ({"FEISHU_APP_ID": "cli_1"}, "feishu: off, FEISHU_APP_SECRET is not set"),
        (GOOD, "feishu: on"),
    ],
)
def test_without_a_file_the_environment_decides(variables, state, settings):
    assert states(settings(**variables)) == [state]


@pytest.mark.parametrize(
    ("domain", "address"),
    [
        ("feishu", "https://open.feishu.cn"),
        ("lark", "https://open.larksuite.com"),
        ("https://gateway.example/", "https://gateway.example"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("http://localhost:8080", "http://localhost:8080"),
    ],
)
def test_a_domain_is_a_name_or_an_address(domain, address, settings):
    account = f"app_id: $FEISHU_APP_ID\napp_secret: $FEISHU_APP_SECRET\ndomain: {domain}"

    assert feishu(settings(account, **GOOD)).accounts["main"].domain == address


@pytest.mark.parametrize(
    "line",
    [
        "domain: http://open.feishu.cn",
        "domain: http://localhost.evil.example",
        "domain: http://127.0.0.1.evil.example",
        "domain: http://localhost@evil.example",
        "domain: larksuite",
        "domain: ftp://x",
        "app_id: cli/../x",
        "app_id: bot",
        'app_secret: "with space"',
        "access: {users: [u_1]}",
        "access: {owners: [oc_1]}",
        "access: {groups: [ou_1]}",
        "reconnect_after_silence: 0",
        "unknown: 1",
    ],
)
def test_what_cannot_be_is_refused_with_its_line(line, settings):
    with pytest.raises(ConfigError) as caught:
        settings(line, **GOOD)

    assert "channels.yaml:6" in str(caught.value)


def test_a_secret_is_not_shown(settings):
    bad = SECRET + "!"
    with pytest.raises(ConfigError) as caught:
        settings(
            "app_id: $FEISHU_APP_ID\napp_secret: $FEISHU_APP_SECRET", **GOOD | {"FEISHU_APP_SECRET": bad}
        )
    assert SECRET not in str(caught.value)

    assert SECRET not in repr(settings("app_id: $FEISHU_APP_ID\napp_secret: $FEISHU_APP_SECRET", **GOOD))


def test_turned_on_without_credentials_it_is_refused(tmp_path):
    (tmp_path / "channels.yaml").write_text("version: 1\nchannels: {feishu: {enabled: true}}\n")
    with pytest.raises(ConfigError, match="FEISHU_APP_ID is not set"):
        load(tmp_path, {})


def test_turned_off_it_stays_off_in_spite_of_credentials(tmp_path):
    (tmp_path / "channels.yaml").write_text("version: 1\nchannels: {feishu: {enabled: false}}\n")

    assert states(load(tmp_path, GOOD)) == ["feishu: off, enabled is false"]


async def test_each_account_that_is_on_becomes_a_channel(settings, tmp_path):
    found = settings("app_id: $FEISHU_APP_ID\napp_secret: $FEISHU_APP_SECRET", **GOOD)
    channels = [one for one in build_channels(found, Home(tmp_path), None) if one.name == "feishu"]

    assert [(one.account, one.exclusive, one.idempotent_for) for one in channels] == [
        ("main", False, KEY_GOOD_FOR)
    ]
    for channel in channels:
        await channel.close()
