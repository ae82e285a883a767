"""The configured models: checked at start, built once each."""

import difflib
import importlib
import inspect
import re
from collections.abc import Mapping, Sequence
from typing import Any

import httpx
from langchain_core.language_models import BaseChatModel
from pydantic import ValidationError

from agent_core.models.errors import ModelConfigError
from agent_core.models.plain_requests import PlainCompletions
from agent_core.models.prices import Prices
from agent_core.models.spec import ModelSpec

_CONNECT_SECONDS = 10.0
# A thinking model may say nothing for minutes between two pieces; the default of 120 s is short.
_CHUNK_SECONDS = 240.0


class ModelCatalog:
    """The models people can choose from.

    Args:
        specs: At least one; names are unique.
        default: Name of the model that is used when none was chosen; None means the first.
        timeout_seconds: How long one call may take, for classes that take a timeout.

    Raises:
        ModelConfigError: No model, two of one name, or an unknown default.
    """

    def __init__(self, specs: Sequence[ModelSpec], default: str | None, timeout_seconds: float) -> None:
        self._specs: dict[str, ModelSpec] = {}
        for spec in specs:
            if spec.name in self._specs:
                raise ModelConfigError(f"models: {spec.name!r} is there twice")
            self._specs[spec.name] = spec
        if not self._specs:
            raise ModelConfigError("models: none is configured")
        self._default = default if default is not None else next(iter(self._specs))
        if self._default not in self._specs:
            raise ModelConfigError(
                f"agent.default_model: {self._default!r} is not a configured model"
                + _suggest(self._default, self._specs)
            )
        self._timeout = timeout_seconds
        self._built: dict[str, BaseChatModel] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """All names, in configured order."""
        return tuple(self._specs)

    @property
    def default(self) -> str:
        """Name of the model to use when none was chosen."""
        return self._default

    def spec(self, name: str) -> ModelSpec:
        """Give what is configured for ``name``.

        Raises:
            ModelConfigError: There is no such model.
        """
        try:
            return self._specs[name]
        except KeyError:
            raise ModelConfigError(
                f"models: {name!r} is not a configured model" + _suggest(name, self._specs)
            ) from None

    def get(self, name: str) -> BaseChatModel:
        """Give the model, building it at the first call.

        The first call may take seconds, since it imports the provider's library.

        Raises:
            ModelConfigError: As :meth:`check`, for this one model.
        """
        if name not in self._built:
            self._built[name] = _build(self.spec(name), self._timeout)
        return self._built[name]

    def can_see(self, model: BaseChatModel) -> bool:
        """Tell whether a model that :meth:`get` gave reads pictures."""
        spec = self._spec_of(model)
        return spec is not None and spec.supports_vision

    def thinking_arguments(self, model: BaseChatModel, thinks: bool) -> Mapping[str, Any]:
        """Give what to add to a call of a model that :meth:`get` gave, so that it thinks or does not."""
        spec = self._spec_of(model)
        if spec is None or not spec.supports_thinking:
            return {}
        return spec.thinking_on if thinks else spec.thinking_off

    def prices(self, model: BaseChatModel) -> Prices | None:
        """Give what a model that :meth:`get` gave costs, if that is known."""
        spec = self._spec_of(model)
        return spec.prices if spec is not None else None

    def _spec_of(self, model: BaseChatModel) -> ModelSpec | None:
        return next((self._specs[name] for name, built in self._built.items() if built is model), None)

    def check(self) -> None:
        """Build every model.

        Raises:
            ModelConfigError: A class is missing or is no chat model, an argument is unknown to it,
                or it refuses the arguments.
        """
        for name in self._specs:
            self.get(name)


def _build(spec: ModelSpec, timeout_seconds: float) -> BaseChatModel:
    cls = _resolve(spec)
    _refuse_unknown_arguments(spec, cls)
    arguments = {**_defaults(cls, timeout_seconds, spec.arguments), **spec.arguments}
    try:
        model = cls(**arguments)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(str(part) for part in problem['loc']) or 'arguments'}: {problem['msg']}"
            for problem in error.errors(include_url=False, include_context=False, include_input=False)
        )
        raise _config_error(spec, problems) from None
    except Exception as error:  # noqa: BLE001 - a class of the operator's choice may raise anything
        raise _config_error(spec, f"{type(error).__name__}: {error}") from None
    if _is_openai(cls):
        completions: Any = model
        completions.async_client = PlainCompletions(completions.async_client)
    return model


def _is_openai(cls: type[BaseChatModel]) -> bool:
    # Known by its name, so that nothing imports langchain_openai (seconds) before it is wanted.
    return any(base.__name__ == "BaseChatOpenAI" for base in cls.__mro__)


def _resolve(spec: ModelSpec) -> type[BaseChatModel]:
    module_name, colon, class_name = spec.use.partition(":")
    if not (colon and module_name and class_name):
        raise _config_error(spec, f"use is {spec.use!r}, expected package.module:Class")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise _config_error(spec, f"use: there is no module {error.name!r}; is it installed?") from None
    except Exception as error:  # noqa: BLE001 - importing runs code of the operator's choice
        raise _config_error(
            spec, f"use: {module_name} cannot be imported: {type(error).__name__}: {error}"
        ) from None
    found = getattr(module, class_name, None)
    if found is None:
        classes = [name for name, value in vars(module).items() if isinstance(value, type)]
        raise _config_error(
            spec, f"use: {module_name} has no class {class_name!r}" + _suggest(class_name, classes)
        )
    if not (isinstance(found, type) and issubclass(found, BaseChatModel)):
        raise _config_error(spec, f"use: {spec.use} is not a chat model class")
    if inspect.isabstract(found):
        raise _config_error(spec, f"use: {spec.use} is an abstract class; name one that can be built")
    return found


def _refuse_unknown_arguments(spec: ModelSpec, cls: type[BaseChatModel]) -> None:
    fields = cls.model_fields
    known = {*fields, *(field.alias for field in fields.values() if field.alias)}
    for name in spec.arguments:
        if name not in known:
            raise _config_error(
                spec, f"{cls.__name__} has no argument {name!r}" + _suggest(name, sorted(known))
            )


def _defaults(cls: type[BaseChatModel], timeout_seconds: float, given: Mapping[str, Any]) -> dict[str, Any]:
    if not _is_openai(cls):
        return {}
    defaults: dict[str, Any] = {
        # Off by default with a base_url of one's own; without it no tokens are reported.
        "stream_usage": True,
        "timeout": httpx.Timeout(timeout_seconds, connect=_CONNECT_SECONDS),
        # Retries are ours (middlewares.llm_error_handling.py): both together would multiply.
        "max_retries": 0,
        "stream_chunk_timeout": min(_CHUNK_SECONDS, timeout_seconds),
    }
    if "request_timeout" in given:
        del defaults["timeout"]
    return defaults


def _config_error(spec: ModelSpec, problem: str) -> ModelConfigError:
    line = re.sub(r"\s+", " ", spec.redact(problem)).strip()
    return ModelConfigError(f"models: {spec.name}: {line[:500]}")


def _suggest(name: str, known: Mapping[str, Any] | Sequence[str]) -> str:
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
