"""What every command starts from: configuration, home and environment."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from bot.config import Settings, environment, load
from bot.home import Home

ConfigDirectory = Annotated[
    Path,
    typer.Option(
        "--config", metavar="DIR", envvar="HART_CONFIG", help="Where config.yaml and channels.yaml are."
    ),
]

DEFAULT_HOME = ".hart"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a command works with.

    Args:
        settings: The configuration.
        home: The folder Hart works in.
        environ: The environment, with the variables of ``.env``.
    """

    settings: Settings
    home: Home
    environ: Mapping[str, str]


def surroundings(directory: Path) -> Surroundings:
    """Read the configuration of a directory and find the home.

    Raises:
        ConfigError: The configuration is wrong.
    """
    settings = load(directory, os.environ)
    environ = environment(directory, os.environ)
    home = Home(Path(environ.get("HART_HOME") or directory / DEFAULT_HOME), settings.skills_directory)
    return Surroundings(settings, home, environ)
