"""Wrong model entries are refused at start, with words that help and no secrets."""

import subprocess
import sys
from typing import Any

import pytest

from agent_core.models.catalog import ModelCatalog
from agent_core.models.errors import ModelConfigError
from agent_core.models.offline import OfflineChatModel
from agent_core.models.spec import ModelSpec

OFFLINE = "agent_core.models.offline:OfflineChatModel"
OPENAI = "langchain_openai:ChatOpenAI"
SECRET = "hidden-value-1234567"


def one(use: str, **arguments: Any) -> ModelCatalog:
    return ModelCatalog([ModelSpec("m", use, arguments)], None, 600)


@pytest.mark.parametrize(
    ("use", "arguments", "said"),
    [
        ("nocolon", {}, "expected package.module:Class"),
        ("no_such_package.x:Y", {}, "there is no module 'no_such_package'"),
        ("langchain_openai:ChatOpenAi", {}, "did you mean 'ChatOpenAI'?"),
        ("pathlib:Path", {}, "is not a chat model class"),
        ("langchain_core.language_models:BaseChatModel", {}, "is an abstract class"),
        (OPENAI, {"api_key": SECRET, "modle": "x"}, "has no argument 'modle'; did you mean 'model'?"),
        (OPENAI, {"api_key": SECRET, "temperature": "hot " + SECRET}, "temperature"),
        (OFFLINE, {"word_seconds": "soon"}, "word_seconds"),
    ],
)
def test_a_wrong_entry_is_refused_in_one_line(use: str, arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(ModelConfigError) as caught:
        one(use, **arguments).check()
    text = str(caught.value)
    assert text.startswith("models: m: ")
    assert said in text
    assert "\n" not in text
    assert SECRET not in text
    assert caught.value.__cause__ is None


def test_a_missing_key_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ModelConfigError, match="OPENAI_API_KEY"):
        one(OPENAI, model="x").check()


def test_openai_models_stream_usage_and_leave_retries_to_us() -> None:
    model: Any = one(OPENAI, model="x", api_key=SECRET).get("m")
    assert model.stream_usage is True
    assert model.max_retries == 0
    assert model.request_timeout.connect == 10
    assert model.request_timeout.read == 600
    assert model.stream_chunk_timeout == 240
    given: Any = one(OPENAI, model="x", api_key=SECRET, max_retries=4, timeout=5).get("m")
    assert given.max_retries == 4


def test_a_model_is_built_once() -> None:
    models = one(OFFLINE)
    assert models.get("m") is models.get("m")
    assert isinstance(models.get("m"), OfflineChatModel)


def test_names_and_default() -> None:
    specs = [ModelSpec("a", OFFLINE), ModelSpec("b", OFFLINE)]
    assert ModelCatalog(specs, None, 1).default == "a"
    assert ModelCatalog(specs, "b", 1).default == "b"
    assert ModelCatalog(specs, "b", 1).names == ("a", "b")
    for bad in (([], None), (specs, "c"), ([*specs, specs[0]], None)):
        with pytest.raises(ModelConfigError):
            ModelCatalog(*bad, 1)
    with pytest.raises(ModelConfigError, match="did you mean"):
        ModelCatalog([ModelSpec("gpt-large", OFFLINE)], None, 1).spec("gpt-larg")


def test_no_secret_shows_in_a_spec() -> None:
    spec = ModelSpec("m", OPENAI, {"api_key": SECRET, "default_headers": {"X-Pass": SECRET[::-1]}})
    assert SECRET not in repr(spec)
    assert (
        spec.redact(f"{SECRET} and {SECRET[::-1]} and sk-abcdef123 end")
        == "******** and ******** and ******** end"
    )


def test_openai_is_imported_only_when_a_model_needs_it() -> None:
    code = (
        "import sys, agent_core.runtime, agent_core.models.catalog as c, agent_core.models.spec as s;"
        f"c.ModelCatalog([s.ModelSpec('m', '{OFFLINE}')], None, 1).check();"
        "sys.exit('langchain_openai' in sys.modules or 'openai' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
