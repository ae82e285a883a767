"""The models: what the file says, and what the environment gives when it says nothing."""

from collections.abc import Callable

import pytest

from bot.config import ModelConfig, Settings, models_from_environment

Load = Callable[..., Settings]
Lines = Callable[..., list[str]]


def test_without_anything_there_is_the_stand_in() -> None:
    (model,) = models_from_environment({})
    assert (model.name, model.use) == ("offline", "agent_core.models.offline:OfflineChatModel")
    assert model.class_arguments() == {}


def test_a_key_gives_one_openai_model() -> None:
    (model,) = models_from_environment({"OPENAI_API_KEY": "k1"})
    assert (model.name, model.use) == ("gpt-4.1-mini", "langchain_openai:ChatOpenAI")
    assert model.class_arguments() == {"model": "gpt-4.1-mini", "api_key": "k1"}


def test_address_and_model_of_the_openai_server_can_be_set() -> None:
    environ = {
        "OPENAI_API_KEY": "k1",
        "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
        "OPENAI_MODEL": "org/large:8b",
    }
    (model,) = models_from_environment(environ)
    assert model.name == "org-large-8b"
    assert model.class_arguments() == {
        "model": "org/large:8b",
        "api_key": "k1",
        "base_url": "http://127.0.0.1:9/v1",
    }


@pytest.mark.parametrize("name", ["/", "…", "-x-", "a" * 200, "日本"])
def test_any_model_of_the_environment_gets_a_name_that_can_be_used(name: str) -> None:
    (model,) = models_from_environment({"OPENAI_API_KEY": "k1", "OPENAI_MODEL": name})
    assert model.model == name
    assert ModelConfig.model_validate({"name": model.name, "use": model.use}).name == model.name


def test_empty_variables_count_as_not_set() -> None:
    assert models_from_environment({"OPENAI_API_KEY": " "})[0].name == "offline"
    environ = {"OPENAI_API_KEY": "k1", "OPENAI_BASE_URL": "", "OPENAI_MODEL": ""}
    assert models_from_environment(environ) == models_from_environment({"OPENAI_API_KEY": "k1"})


@pytest.mark.parametrize("config", [None, "", "models:", "models: []"])
def test_the_environment_decides_when_the_file_names_no_model(settings: Load, config: str | None) -> None:
    assert settings(config).config.default_model == "offline"
    assert settings(config, OPENAI_API_KEY="k1", OPENAI_MODEL="big").config.default_model == "big"


def test_models_of_the_file_stand_alone(settings: Load) -> None:
    config = settings("models: [{name: a, use: 'm:C'}, {name: b, use: 'm:C'}]", OPENAI_API_KEY="k1").config
    assert [model.name for model in config.models] == ["a", "b"]
    assert config.default_model == "a"


def test_the_default_model_can_be_named(settings: Load) -> None:
    models = "[{name: a, use: 'm:C'}, {name: b, use: 'm:C'}]"
    assert settings(f"models: {models}\nagent: {{default_model: b}}").config.default_model == "b"


def test_further_keys_are_arguments_of_the_class(settings: Load) -> None:
    config = settings(
        """\
        models:
          - name: main
            use: langchain_openai:ChatOpenAI
            model: big
            api_key: $KEY
            temperature: 0.2
            max_tokens: 4096
            timeout: ${TIMEOUT:-}
            stop:
            extra_body: {thinking: true, session_token: $KEY, note: "${NOTE:-}"}
        """,
        KEY="k1",
    ).config
    assert config.models[0].class_arguments() == {
        "model": "big",
        "api_key": "k1",
        "temperature": 0.2,
        "max_tokens": 4096,
        "extra_body": {"thinking": True, "session_token": "k1"},
    }


def test_faulty_models_are_named(lines: Lines) -> None:
    assert lines(
        """\
        models:
          - {name: "a b", use: "m:C"}
          - {name: b, use: "os.system"}
          - {name: c}
          - {name: d, use: "m:C", context_window: 0, supports_vision: 3, supports_thinking: perhaps}
          - text
        agent: {default_model: x}
        """
    ) == [
        'config.yaml:3: models[0].name: found "a b", expected up to 64 letters, digits, dots, dashes or '
        "underscores, starting with a letter or digit",
        'config.yaml:4: models[1].use: found "os.system", expected a class as "package.module:Class", '
        "such as "
        '"langchain_openai:ChatOpenAI"',
        'config.yaml:5: models[2].use: is missing, expected a class as "package.module:Class", such as '
        '"langchain_openai:ChatOpenAI"',
        "config.yaml:6: models[3].supports_vision: found 3, expected true or false",
        'config.yaml:6: models[3].supports_thinking: found "perhaps", expected true or false',
        "config.yaml:6: models[3].context_window: found 0, expected a whole number of 1 or more",
        "config.yaml:7: models[4]: found text, expected a mapping with keys out of arguments, "
        "context_window, "
        "model, name, prices, show_reasoning, supports_thinking, supports_vision, thinking_off, thinking_on, "
        "use",
    ]


def test_a_required_key_whose_variable_is_empty_has_no_value(lines: Lines) -> None:
    (line,) = lines("models: [{name: a, use: '${CLASS:-}'}]")
    assert line.startswith("config.yaml:2: models[0].use: has no value, expected a class")


def test_names_are_unique_and_references_are_checked_beside_other_problems(lines: Lines) -> None:
    assert lines(
        """\
        models:
          - {name: small, use: "m:C"}
          - {name: large, use: "m:C"}
          - name: small
            use: "m:C"
        agent: {default_model: smal}
        limits: {attempts: 0}
        tasks:
          - {name: t, schedule: {every: 1h}, prompt: x, targets: [{channel: web, chat: a}], model: big}
        """
    ) == [
        "config.yaml:8: limits.attempts: found 0, expected a whole number of 1 or more",
        'config.yaml:5: models[2].name: found "small" a second time, expected another name',
        'config.yaml:7: agent.default_model: found "smal", which is no model here; did you mean "small"?',
        'config.yaml:10: tasks[0].model: found "big", which is no model here; accepted: large, small',
    ]


def test_a_tasks_model_is_not_checked_while_the_environment_decides_the_models(settings: Load) -> None:
    task = "{name: t, schedule: {every: 1h}, prompt: x, targets: [{channel: web, chat: a}], model: big}"
    assert settings(f"tasks: [{task}]").config.tasks[0].model == "big"


def test_prices_are_numbers_of_dollars(settings: Load, lines: Lines) -> None:
    entry = "models: [{name: a, use: 'm:C', show_reasoning: true, prices: {input: 2, output: 10.5}}]"
    (model,) = settings(entry).config.models
    assert model.prices is not None
    assert (model.prices.input, model.prices.output, model.prices.cached_input) == (2, 10.5, None)
    assert model.show_reasoning
    assert lines("models: [{name: a, use: 'm:C', prices: {input: -1, output: x}}]") == [
        "config.yaml:2: models[0].prices.input: found -1, expected US dollars for a million tokens",
        'config.yaml:2: models[0].prices.output: found "x", expected US dollars for a million tokens',
    ]
