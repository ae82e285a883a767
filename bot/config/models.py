"""The ``models:`` list: which classes answer, and with which arguments."""

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, SecretStr, field_validator, model_validator

from bot.config.masking import unveil, veil
from bot.config.section import Expected, Name, PositiveInt, Section, Text

OPENAI_CLASS = "langchain_openai:ChatOpenAI"
OFFLINE_CLASS = "agent_core.models.offline:OfflineChatModel"
DEFAULT_OPENAI_MODEL = "gpt-4.1-mini"

ClassPath = Annotated[
    str,
    Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*:[A-Za-z_][A-Za-z0-9_]*$"),
    Expected('a class as "package.module:Class", such as "langchain_openai:ChatOpenAI"'),
]


Price = Annotated[
    float,
    Field(ge=0, le=1_000_000, allow_inf_nan=False, strict=True),
    Expected("US dollars for a million tokens"),
]


class PricesConfig(Section):
    """Prices of a model, in US dollars for a million tokens.

    Args:
        input: Prompt tokens.
        output: Generated tokens, thoughts included.
        cached_input: Prompt tokens served from the provider's cache; None if they cost the same.
    """

    input: Price
    output: Price
    cached_input: Price | None = None


class ModelConfig(Section):
    """One chat model.

    Args:
        name: What people and tasks call it. Unique.
        use: The LangChain chat model class, as ``package.module:Class``.
        model: The provider's name of the model, if the class takes one.
        supports_vision: True when it can look at pictures.
        supports_thinking: True when it can reason before it answers.
        thinking_on: Arguments of a call in a mode that thinks, such as ``reasoning_effort``.
        thinking_off: Arguments of a call in one that does not.
        context_window: Tokens it can take, if known.
        prices: What it costs, if known.
        show_reasoning: True to show in chats what it thinks while it does.
        arguments: Every further key of the entry, for the class. Values are secret
            (``SecretStr``, at any depth) where the key's name says so. Whether the class knows
            the keys is checked where it is built.
    """

    name: Name
    use: ClassPath
    model: Text | None = None
    supports_vision: bool = False
    supports_thinking: bool = False
    thinking_on: dict[str, Any] = Field(default_factory=dict)
    thinking_off: dict[str, Any] = Field(default_factory=dict)
    context_window: PositiveInt | None = None
    prices: PricesConfig | None = None
    show_reasoning: bool = False
    arguments: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _gather_arguments(cls, data: Any) -> Any:
        if not isinstance(data, dict) or not isinstance(data.get("arguments", {}), dict):
            return data
        own = {key: value for key, value in data.items() if key in cls.model_fields}
        further = {key: value for key, value in data.items() if key not in cls.model_fields}
        return {**own, "arguments": {**data.get("arguments", {}), **further}}

    @field_validator("arguments")
    @classmethod
    def _veil_secrets(cls, value: dict[str, Any]) -> Any:
        return veil(value)

    def class_arguments(self) -> dict[str, Any]:
        """All arguments for the class, ``model`` included, secrets as plain text. Never show them."""
        own = {} if self.model is None else {"model": self.model}
        plain: dict[str, Any] = unveil(self.arguments)
        return own | plain


def models_from_environment(environ: Mapping[str, str]) -> tuple[ModelConfig, ...]:
    """The models to use when the file names none.

    With ``OPENAI_API_KEY`` one OpenAI-compatible model (``OPENAI_MODEL`` at ``OPENAI_BASE_URL``,
    which may be any server that speaks the protocol); without it the stand-in that needs no server.
    """
    key = environ.get("OPENAI_API_KEY", "").strip()
    if not key:
        return (ModelConfig(name="offline", use=OFFLINE_CLASS),)
    model = environ.get("OPENAI_MODEL", "").strip() or DEFAULT_OPENAI_MODEL
    arguments: dict[str, Any] = {"api_key": SecretStr(key)}
    if base_url := environ.get("OPENAI_BASE_URL", "").strip():
        arguments["base_url"] = base_url
    return (ModelConfig(name=_as_name(model), use=OPENAI_CLASS, model=model, arguments=arguments),)


def _as_name(model: str) -> str:
    """A provider's model name, such as ``org/model:tag``, as a name people can type."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", model).strip("-._")
    return name[:64] or "openai"
