"""Configuration directories made of text."""

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from bot.config import ConfigError, Settings, load

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes the files that are given; ``version: 1`` is put in front of the YAML ones."""

    def write_files(config: str | None = None, channels: str | None = None, env: str | None = None) -> Path:
        for name, text in (("config.yaml", config), ("channels.yaml", channels)):
            if text is not None:
                (tmp_path / name).write_text("version: 1\n" + dedent(text), encoding="utf-8")
        if env is not None:
            (tmp_path / ".env").write_text(dedent(env), encoding="utf-8")
        return tmp_path

    return write_files


@pytest.fixture
def settings(write: Write) -> Callable[..., Settings]:
    """Loads files that are sound; keyword arguments beyond the files are the environment."""

    def load_files(
        config: str | None = None, channels: str | None = None, env: str | None = None, **environ: str
    ) -> Settings:
        return load(write(config, channels, env), environ)

    return load_files


@pytest.fixture
def lines(write: Write) -> Callable[..., list[str]]:
    """Loads files that are not sound, and gives the lines the operator reads."""

    def load_files(
        config: str | None = None, channels: str | None = None, env: str | None = None, **environ: str
    ) -> list[str]:
        with pytest.raises(ConfigError) as caught:
            load(write(config, channels, env), environ)
        return str(caught.value).split("\n")

    return load_files
