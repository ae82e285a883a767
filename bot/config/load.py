"""Reads the configuration of a directory."""

import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, SecretStr, ValidationError

from agent_core.skills.loader import load_skills
from agent_core.skills.skill import SkillSet
from bot.config.channels_file import ChannelsConfig
from bot.config.config_file import Config, StorageConfig, normalise_postgres_url
from bot.config.document import Document, read_document
from bot.config.dotenv import parse_dotenv
from bot.config.explain import explain, found_at
from bot.config.models import models_from_environment
from bot.config.problems import ConfigError, Problem, printable
from bot.config.rules import broken_rules

CONFIG_FILE = "config.yaml"
CHANNELS_FILE = "channels.yaml"
ENV_FILE = ".env"

MAX_FILE_BYTES = 1024 * 1024
"""Larger files are refused before they are parsed."""

VERSION = 1
"""The format of both files that this code reads."""

_Root = TypeVar("_Root", bound=BaseModel)


class Settings(BaseModel):
    """All that the operator decided.

    Args:
        directory: Where the files are, or would be; absolute.
        config: ``config.yaml``.
        channels: ``channels.yaml``.
    """

    model_config = ConfigDict(frozen=True)

    directory: Path
    config: Config
    channels: ChannelsConfig

    @property
    def skills_directory(self) -> Path | None:
        """Where the skills are; None if there is no such directory."""
        return _skills_directory(self.directory)

    def feed_directories(self) -> tuple[Path, ...]:
        """The directories whose files the feed reader may open; they need not exist."""
        return tuple((self.directory / name).resolve() for name in self.config.tools.feeds.allow_files)


def load(directory: Path, environ: Mapping[str, str]) -> Settings:
    """Read ``config.yaml``, ``channels.yaml`` and ``.env``, each optional.

    Args:
        directory: Where they are.
        environ: The process's environment. It wins over ``.env``.

    Raises:
        ConfigError: With every problem of all the files.
    """
    variables, problems = _variables(directory, environ)
    config = _read(directory, CONFIG_FILE, Config, variables)
    channels = _read(directory, CHANNELS_FILE, ChannelsConfig, variables)
    effective, faults = with_environment(config.value, variables)
    problems += [*config.problems, *faults]
    rule_faults = broken_rules(
        effective,
        None if channels.problems else channels.value,
        models_given=_gives_models(config.value),
        skills=_named_skills(directory, effective),
        unusable=config.unusable,
    )
    for fault in rule_faults:
        message = f"found {found_at(config.document, fault.path)}{fault.expected}"
        problems.append(Problem(CONFIG_FILE, message, config.document.line(fault.path), fault.path))
    problems += channels.problems
    if problems:
        raise ConfigError(problems)
    return Settings(directory=directory.resolve(), config=effective, channels=channels.value)


def _skills_directory(directory: Path) -> Path | None:
    skills = (directory / "skills").resolve()
    return skills if skills.is_dir() else None


def _named_skills(directory: Path, config: Config) -> SkillSet | None:
    """The skills there are; None where no kind of subagents names any, which is the usual case."""
    named = any(kind.skills for kind in config.subagents.kinds)
    return load_skills(_skills_directory(directory)) if named else None


def with_environment(config: Config, variables: Mapping[str, str]) -> tuple[Config, list[Problem]]:
    """Fill what the file leaves open from the environment: the models, and the storage address.

    Returns:
        The configuration to use, and what is wrong with the variables.
    """
    changes: dict[str, Any] = {}
    problems: list[Problem] = []
    if not _gives_models(config):
        changes["models"] = models_from_environment(variables)
    if config.storage.url is None and (url := variables.get("DATABASE_URL", "").strip()):
        try:
            changes["storage"] = StorageConfig(url=normalise_postgres_url(SecretStr(url)))
        except ValueError:
            message = (
                "DATABASE_URL: expected an address such as postgresql://user:password@host:5432/database"
            )
            problems.append(Problem("environment", message))
    return config.model_copy(update=changes), problems


def _gives_models(config: Config) -> bool:
    return "models" in config.model_fields_set and bool(config.models)


def environment(directory: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """The environment with the variables of ``.env`` added. What is set already stays.

    Raises:
        ConfigError: The directory or its ``.env`` cannot be read.
    """
    variables, problems = _variables(directory, environ)
    if problems:
        raise ConfigError(problems)
    return variables


def _variables(directory: Path, environ: Mapping[str, str]) -> tuple[dict[str, str], list[Problem]]:
    if not directory.is_dir():
        message = "is not a directory" if directory.exists() else "there is no such directory"
        raise ConfigError([Problem(printable(str(directory), limit=200), message)])
    text, problem = _text(directory, ENV_FILE)
    if text is None:
        return dict(environ), [problem] if problem else []
    variables, problems = parse_dotenv(text)
    return variables | dict(environ), problems


@dataclass(frozen=True, slots=True)
class _Reading(Generic[_Root]):
    """What came out of one file.

    Args:
        value: The model, with defaults in place of unusable parts.
        document: Where things are in the file.
        problems: What is wrong with the file by itself.
        unusable: Top-level keys that hold their defaults because of a problem.
    """

    value: _Root
    document: Document
    problems: tuple[Problem, ...] = ()
    unusable: frozenset[str] = frozenset()


def _read(directory: Path, file: str, root: type[_Root], variables: Mapping[str, str]) -> _Reading[_Root]:
    everything = frozenset(root.model_fields)
    text, problem = _text(directory, file)
    if problem is not None:
        return _Reading(root.model_validate({}), Document(file), (problem,), everything)
    if text is None:
        document = Document(file, {"version": VERSION})
    else:
        document = read_document(file, text, variables)
        problem = _version_problem(document)
        if problem is not None:
            return _Reading(root.model_validate({}), document, (problem,), everything)
    if not isinstance(document.data, dict):
        return _Reading(root.model_validate({}), document, document.problems, everything)
    try:
        value = root.model_validate(document.data, context={"variables": variables})
        return _Reading(value, document, document.problems)
    except ValidationError as error:
        faulty = frozenset(str(fault["loc"][0]) for fault in error.errors(include_input=False))
        found = explain(document, root, error)
    sound = {key: value for key, value in document.data.items() if key not in faulty}
    problems = sorted([*document.problems, *found], key=lambda one: one.line or 0)
    return _Reading(root.model_validate(sound), document, tuple(problems), faulty)


def _version_problem(document: Document) -> Problem | None:
    """Whether the file is one this code can read at all; its other problems are then not of interest."""
    if document.problems and not isinstance(document.data, dict):
        return None
    if not isinstance(document.data, dict):
        return Problem(document.file, "expected lines of name: value at the top level", document.line(()))
    line = document.line(("version",))
    found = document.data.get("version")
    if found is None:
        return Problem(
            document.file, f'is missing; begin the file with "version: {VERSION}"', line, ("version",)
        )
    if not isinstance(found, int) or isinstance(found, bool) or found < 1:
        message = f"found {found_at(document, ('version',), int)}, expected {VERSION}"
        return Problem(document.file, message, line, ("version",))
    if found > VERSION:
        message = (
            f"found {found}, but this Hart reads version {VERSION}; update Hart, or write the file for it"
        )
        return Problem(document.file, message, line, ("version",))
    return None


def _text(directory: Path, file: str) -> tuple[str | None, Problem | None]:
    """A file's text; None without a problem when there is no such file."""
    path = directory / file
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return None, Problem(
                file, "is a directory, expected a file" if path.is_dir() else "is not a file"
            )
        with path.open("rb") as stream:
            content = stream.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        return None, Problem(file, "is a link to a file that is not there") if path.is_symlink() else None
    except OSError as error:
        return None, Problem(file, f"cannot be read: {error.strerror}")
    if len(content) > MAX_FILE_BYTES:
        return None, Problem(file, f"is larger than {MAX_FILE_BYTES // 1024} KiB")
    try:
        return content.decode("utf-8-sig"), None
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        return None, Problem(file, "is not UTF-8 text; save it as UTF-8", line)
