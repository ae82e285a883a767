"""``hart config``: check and show the configuration."""

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from ruamel.yaml import YAML
from ruamel.yaml.scalarstring import LiteralScalarString

from agent_core.skills.loader import load_skills
from bot.config import CHANNELS_FILE, CONFIG_FILE, Settings, load
from bot.config.masking import masked
from bot.errors import OperatorError

EXIT_CONFIG_ERROR = 2

Directory = Annotated[
    Path,
    typer.Option(
        "--config", metavar="DIR", envvar="HART_CONFIG", help="Where config.yaml and channels.yaml are."
    ),
]

Check = Callable[[Settings], None]
"""A further check of settings that are sound by themselves. Raises ``OperatorError``."""


def report(settings: Settings) -> list[str]:
    """What a sound configuration amounts to, line by line, for people."""
    lines = []
    for file in (CONFIG_FILE, CHANNELS_FILE):
        found = (settings.directory / file).exists()
        lines.append(f"{file}: OK" if found else f"{file}: OK (not there, so the defaults hold)")
    config = settings.config
    for model in config.models:
        default = ", the default" if model.name == config.default_model else ""
        lines.append(f"model {model.name}: {model.use}{default}")
    lines.append("storage: Postgres" if config.storage.url else "storage: SQLite")
    guard = "with a token" if config.server.token else "without a token, for this machine only"
    lines.append(f"server: {config.server.host} port {config.server.port or 'any'}, {guard}")
    lines += [str(state) for state in settings.channels.states()]
    for task in config.tasks:
        when = f"{task.schedule.cron} {task.zone}" if task.schedule.cron else f"every {task.schedule.every}"
        lines.append(f"task {task.name}: " + (f"on, {when}" if task.enabled else "off, enabled is false"))
    skills = load_skills(settings.skills_directory)
    lines += [f"skill {skill.name}: {skill.source}" for skill in skills.skills]
    lines += [f"A skill is left out. {problem}" for problem in skills.problems]
    return lines


def effective_yaml(settings: Settings) -> str:
    """Both files as they take effect, with defaults filled in and secrets masked."""
    parts = []
    for file, section in ((CONFIG_FILE, settings.config), (CHANNELS_FILE, settings.channels)):
        parts.append(f"# {file}\n{_dump(masked(section))}")
    return "---\n".join(parts)


def _dump(data: Any) -> str:
    yaml = YAML()
    yaml.width = 110
    stream = io.StringIO()
    yaml.dump(_with_blocks(data), stream)
    return stream.getvalue()


def _with_blocks(data: Any) -> Any:
    """Text of several lines as YAML blocks, which people can read."""
    if isinstance(data, dict):
        return {key: _with_blocks(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_with_blocks(value) for value in data]
    return LiteralScalarString(data) if isinstance(data, str) and "\n" in data else data


def make_app(check_further: Check | None = None) -> typer.Typer:
    """The ``config`` commands.

    Args:
        check_further: What ``check`` asks besides reading the files, such as whether the model
            classes can be built.
    """
    commands = typer.Typer(help="Check and show the configuration.", no_args_is_help=True)

    @commands.command()
    def check(directory: Directory = Path()) -> None:
        """Say whether the configuration can be used, and what is on and off."""
        settings = _load(directory, check_further)
        typer.echo("\n".join(report(settings)))

    @commands.command()
    def show(directory: Directory = Path()) -> None:
        """Print the configuration as it takes effect, secrets masked."""
        typer.echo(effective_yaml(_load(directory, None)), nl=False)

    return commands


def _load(directory: Path, check_further: Check | None) -> Settings:
    try:
        settings = load(directory, os.environ)
        if check_further is not None:
            check_further(settings)
    except OperatorError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(EXIT_CONFIG_ERROR) from None
    return settings


app = make_app()
