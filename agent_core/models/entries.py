"""Models as they are written down: mappings, or the ``models:`` of a YAML file."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from agent_core.interpolation import InterpolationError, Unset, interpolate
from agent_core.models.errors import ModelConfigError
from agent_core.models.prices import Prices
from agent_core.models.spec import ModelSpec

_OWN = {field.name for field in fields(ModelSpec)} - {"arguments"}


@dataclass(frozen=True, slots=True)
class Entries:
    """What was written down.

    Args:
        specs: The models, in order.
        default: Name of the one to use where none is asked for; None for the first.
    """

    specs: tuple[ModelSpec, ...]
    default: str | None = None


def spec_of(entry: Mapping[str, Any]) -> ModelSpec:
    """Give the model of one entry; what it says beyond a :class:`ModelSpec` are arguments of the class.

    Raises:
        ModelConfigError: ``name`` or ``use`` is missing, or the prices are no numbers.
    """
    name = entry.get("name")
    if not isinstance(name, str) or not name:
        raise ModelConfigError("models: an entry has no name")
    if not isinstance(entry.get("use"), str):
        raise ModelConfigError(f"models: {name}: use is missing, expected package.module:Class")
    own = {key: value for key, value in entry.items() if key in _OWN}
    if isinstance(own.get("prices"), Mapping):
        own["prices"] = _prices(name, own["prices"])
    return ModelSpec(**own, arguments={key: value for key, value in entry.items() if key not in _OWN})


def _prices(name: str, given: Mapping[str, Any]) -> Prices:
    try:
        prices = {key: float(price) for key, price in given.items()}
        return Prices(**prices)
    except (TypeError, ValueError):
        raise ModelConfigError(
            f"models: {name}: prices: expected numbers for input and output, and cached_input if it differs"
        ) from None


def read_entries(file: Path, environ: Mapping[str, str] = os.environ) -> Entries:
    """Read ``models`` and ``agent.default_model`` of a file such as ``config.yaml``. Blocks.

    Args:
        file: The file.
        environ: What ``$NAME`` and ``${NAME:-default}`` in its texts refer to.

    Raises:
        ModelConfigError: It cannot be read, names no model, or refers to a variable that is not set.
    """
    # Imported here: who gives mappings needs no YAML.
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        content = YAML(typ="safe").load(file)
    except (OSError, YAMLError, UnicodeDecodeError) as error:
        said = error.strerror if isinstance(error, OSError) else "is no valid YAML"
        raise ModelConfigError(f"{file}: {said}") from None
    models = content.get("models") if isinstance(content, Mapping) else None
    if not isinstance(models, Sequence) or isinstance(models, str) or not models:
        raise ModelConfigError(f"{file}: names no models")
    agent = content.get("agent")
    default = agent.get("default_model") if isinstance(agent, Mapping) else None
    try:
        resolved = [_resolved(model, environ) for model in models]
    except InterpolationError as error:
        raise ModelConfigError(f"{file}: {error}") from None
    for entry in resolved:
        if not isinstance(entry, Mapping):
            raise ModelConfigError(f"{file}: models: an entry is no mapping")
    return Entries(tuple(spec_of(entry) for entry in resolved), default)


def _resolved(value: Any, environ: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        text = interpolate(value, environ)
        return None if isinstance(text, Unset) else text
    if isinstance(value, Mapping):
        pairs = {key: _resolved(item, environ) for key, item in value.items()}
        # A key without a value counts as not set.
        return {key: item for key, item in pairs.items() if item is not None}
    if isinstance(value, list):
        return [_resolved(item, environ) for item in value]
    return value
