"""No secret is seen in anything that people or logs get to see."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr, ValidationError

from bot.cli.config import effective_yaml
from bot.config import Config, ConfigError, ModelConfig, Settings, StorageConfig, load
from bot.config.masking import MASK, mask_urls, masked, unveil, veil
from tests.config.conftest import Write

Load = Callable[..., Settings]

CONFIG = """\
models:
  - name: main
    use: langchain_openai:ChatOpenAI
    api_key: hunter2-a
    base_url: https://user:hunter2-b@host/v1
    azure_ad_token: $SECRET
    max_tokens: 77
    default_headers: {Authorization: Bearer hunter2-d, X-Team: blue, X-Auth: [hunter2-e]}
    password: 20481024
    default_query: {url: "https://host/?api_key=hunter2-f&v=2"}
storage: {url: "postgres://hart:hunter2-g@db/hart?sslpassword=hunter2-h"}
server: {token: hunter2-i}
"""
CHANNELS = "channels: {telegram: {accounts: {main: {token: 12:hunter2-j}}}}"
ENVIRONMENT = {"SECRET": "hunter2-c"}


def test_text_forms_of_the_settings_show_no_secret(settings: Load) -> None:
    found = settings(CONFIG, CHANNELS, **ENVIRONMENT)
    for part in (
        found,
        found.config,
        found.config.models[0],
        found.config.models[0].arguments,
        found.channels,
    ):
        for text in (str(part), repr(part), f"{part}"):
            assert "hunter2" not in text
            assert "20481024" not in text
    assert "hunter2" not in found.config.model_dump_json()


def test_show_masks_secrets_and_keeps_the_rest(settings: Load) -> None:
    shown = effective_yaml(settings(CONFIG, CHANNELS, **ENVIRONMENT))
    assert "hunter2" not in shown
    assert "20481024" not in shown
    for kept in (
        "max_tokens: 77",
        "X-Team: blue",
        f"base_url: https://{MASK}@host/v1",
        f"url: https://host/?api_key={MASK}&v=2",
        f"url: postgresql://{MASK}@db/hart?sslpassword={MASK}",
    ):
        assert kept in shown


def test_show_masks_secrets_of_the_environment(settings: Load) -> None:
    shown = effective_yaml(
        settings(
            OPENAI_API_KEY="hunter2", DATABASE_URL="postgres://u:hunter2@h/d", TELEGRAM_BOT_TOKEN="1:hunter2"
        )
    )
    assert "hunter2" not in shown
    assert f"url: postgresql://{MASK}@h/d" in shown


def test_the_user_of_a_secret_gets_it(settings: Load) -> None:
    found = settings(CONFIG, CHANNELS, **ENVIRONMENT)
    arguments = found.config.models[0].class_arguments()
    assert arguments["api_key"] == "hunter2-a"
    assert arguments["base_url"] == "https://user:hunter2-b@host/v1"
    assert arguments["azure_ad_token"] == "hunter2-c"
    assert arguments["default_headers"]["X-Auth"] == ["hunter2-e"]
    url = found.config.storage.url
    assert url is not None
    assert url.get_secret_value() == "postgresql://hart:hunter2-g@db/hart?sslpassword=hunter2-h"


@pytest.mark.parametrize(
    "config",
    [
        "storage: {url: 'mysql://u:hunter2@h/d'}",
        "storage: {url: 'postgresql://u:hunter2/x@h/d'}",
        "storage: {url: 'postgresql://u:p@h:hunter2/d'}",
        "storage: {url: [hunter2]}",
        "storage: 'postgresql://u:hunter2@h/d'",
        "server: {token: 'hunter2 with spaces'}",
        "server: {token: {x: hunter2}}",
        "server: hunter2",
        "server: {tokn: hunter2}",
        "server: {port: $SECRET}",
        "server: {host: 'a $SECRET'}",
        "server: {port: '${NONE:-hunter2}'}",
        "agent: {default_model: $SECRET}",
        "models: [hunter2]",
        "models: {api_key: hunter2}",
        "models: [{name: a, use: 'm:C', api_key: 'hunter2 $'}]",
        "models: [{name: a, use: 'm:C', api_key: hunter2, api_key: hunter2}]",
        "models: [{name: a, api_key: hunter2}]",
        "models: [{name: $SECRET, use: 'm:C'}, {name: $SECRET, use: 'm:C'}]",
        "models:\n  - api_key: hunter2: x",
        "models:\n  - api_key: !hunter2 x",
        "models:\n  - api_key: *hunter2",
        "models:\n  - api_key: 'hunter2",
        'models:\n  - api_key: "hunter2\x07"',
        "tasks: [{name: t, schedule: {cron: $SECRET}, zone: $SECRET, prompt: x, targets: [$SECRET]}]",
        "tasks: [{targets: [{channel: $SECRET, account: $SECRET, chat: c}]}]",
        "tools: {feeds: {allow_files: sk-abcdefghij0123456789hunter2}}",
        "limits: {attempts: sk-abcdefghij0123456789hunter2}",
    ],
)
def test_problems_show_no_secret(write: Write, config: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(write(config), {"SECRET": "hunter2"})
    seen: BaseException | None = caught.value
    assert caught.value.problems
    while seen is not None:
        assert "hunter2" not in f"{seen} {seen!r}"
        seen = seen.__cause__ or seen.__context__


def test_a_faulty_database_address_in_the_environment_is_named_and_not_shown(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, {"DATABASE_URL": "mysql://u:hunter2@h/d"})
    assert str(caught.value) == (
        "environment: DATABASE_URL: expected an address such as postgresql://user:password@host:5432/database"
    )


def test_pydantics_own_errors_show_no_secret() -> None:
    for model, data in (
        (StorageConfig, {"url": "mysql://u:hunter2@h/d"}),
        (ModelConfig, {"name": "a", "use": ["hunter2"], "api_key": "hunter2"}),
        (Config, {"server": {"token": "hunter2 x"}}),
    ):
        with pytest.raises(ValidationError) as caught:
            model.model_validate(data)
        assert "hunter2" not in str(caught.value)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.just("hunter2") | st.just("https://u:hunter2@h"),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(["api_key", "note", "Token", "x"]), inner)
    ),
)


@given(VALUES)
def test_what_lies_under_a_secret_name_is_masked_at_any_depth_and_still_reaches_its_user(
    value: object,
) -> None:
    veiled = veil({"secret": value})
    assert "hunter2" not in repr(veiled)
    assert "hunter2" not in repr(masked(veiled))
    assert repr(unveil(veiled)).count("hunter2") == repr(value).count("hunter2")


@given(st.text(st.characters(codec="ascii", categories=["L", "N", "P"])))
def test_the_user_part_of_a_url_is_masked_whatever_is_in_it(password: str) -> None:
    assert mask_urls(f"see postgresql://u:{password}@host/db now") == f"see postgresql://{MASK}@host/db now"


def test_the_mask_does_not_tell_the_length() -> None:
    assert masked(SecretStr("x")) == masked(SecretStr("x" * 99)) == MASK
