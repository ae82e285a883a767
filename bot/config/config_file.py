"""The model of ``config.yaml``."""

import ipaddress
from typing import Annotated, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr, model_validator

from bot.config.agent import AgentConfig
from bot.config.channels_file import Version
from bot.config.models import ModelConfig, models_from_environment
from bot.config.retention import RetentionConfig
from bot.config.sandbox import SandboxConfig
from bot.config.section import (
    CountInt,
    Expected,
    PortInt,
    PositiveInt,
    PositiveSeconds,
    Seconds,
    Section,
    Text,
)
from bot.config.subagents import SubagentsConfig
from bot.config.tasks import SchedulingConfig, TaskConfig

_POSTGRES_SCHEMES = {"postgres", "postgresql"}


def normalise_postgres_url(url: SecretStr) -> SecretStr:
    """A Postgres address with the scheme ``postgresql``.

    Raises:
        ValueError: It is no such address. The error does not show it.
    """
    text = url.get_secret_value().strip()
    try:
        parts = urlsplit(text)
        readable = parts.scheme in _POSTGRES_SCHEMES and (parts.port or 1) > 0
    except ValueError:
        raise ValueError from None
    if not readable or "://" not in text:
        raise ValueError
    return SecretStr("postgresql" + text[len(parts.scheme) :])


def is_loopback(host: str) -> bool:
    """True when only this machine can reach a server bound to the host."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


PostgresUrl = Annotated[
    SecretStr,
    AfterValidator(normalise_postgres_url),
    Expected("an address such as postgresql://user:password@host:5432/database"),
]
Host = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:%-]+$"), Expected("an address or a host name")]


class LimitsConfig(Section):
    """Bounds on what is done at once and how long.

    Args:
        concurrent_runs: Runs at the same time on one node.
        attempts: Tries of a message, crashes included, before it is set aside.
        drain_seconds: Time for running work to end at shutdown.
        attachment_mb: Largest file taken from a chat, in megabytes (1024 * 1024 bytes).
        model_timeout_seconds: Longest wait for one model call.
        model_retries: Further tries of a failed model call.
    """

    concurrent_runs: PositiveInt = 16
    attempts: PositiveInt = 5
    drain_seconds: Seconds = 10
    attachment_mb: PositiveInt = 20
    model_timeout_seconds: PositiveSeconds = 600
    model_retries: CountInt = 3


class StorageConfig(Section):
    """Where things are kept.

    Args:
        url: A Postgres server; None for SQLite files under the home directory.
    """

    url: PostgresUrl | None = None


def _token(value: SecretStr) -> SecretStr:
    text = value.get_secret_value()
    # It travels in an HTTP header.
    if not text or not text.isascii() or not text.isprintable() or " " in text:
        raise ValueError
    return value


class ServerConfig(Section):
    """The web server.

    Args:
        host: Address to listen on.
        port: Port to listen on; 0 lets the system choose.
        token: What people must know to use it; None lets in whoever is on this machine.
        allowed_hosts: Further host names that requests may be sent to.
    """

    host: Host = "127.0.0.1"
    port: PortInt = 8765
    token: Annotated[SecretStr, AfterValidator(_token), Expected("printable ASCII without spaces")] | None = (
        None
    )
    allowed_hosts: tuple[Host, ...] = ()

    @model_validator(mode="after")
    def _token_for_others(self) -> Self:
        if self.token is None and not is_loopback(self.host):
            raise ValueError(
                "the host can be reached from other machines, so a token is needed; "
                "set server.token, or listen on 127.0.0.1"
            )
        return self


class FeedsConfig(Section):
    """The tool that reads RSS and Atom feeds.

    Args:
        allow_files: Directories whose files it may open, relative to the configuration's directory.
    """

    allow_files: tuple[Text, ...] = ("examples/feeds",)


class ToolsConfig(Section):
    """Settings of the agent's tools."""

    feeds: FeedsConfig = FeedsConfig()


class Config(Section):
    """``config.yaml``.

    Args:
        version: Of the file's format.
        models: The chat models. Never empty after :func:`bot.config.load`.
        agent, subagents, limits, storage, retention, server, sandbox, tools, scheduling: See their classes.
        tasks: Work on a schedule.
    """

    version: Version = 1
    models: tuple[ModelConfig, ...] = Field(default_factory=lambda: models_from_environment({}))
    agent: AgentConfig = AgentConfig()
    subagents: SubagentsConfig = SubagentsConfig()
    limits: LimitsConfig = LimitsConfig()
    storage: StorageConfig = StorageConfig()
    retention: RetentionConfig = RetentionConfig()
    server: ServerConfig = ServerConfig()
    sandbox: SandboxConfig = SandboxConfig()
    tools: ToolsConfig = ToolsConfig()
    scheduling: SchedulingConfig = SchedulingConfig()
    tasks: tuple[TaskConfig, ...] = ()

    @property
    def default_model(self) -> str:
        """Name of the model to use where none is asked for."""
        return self.agent.default_model or self.models[0].name
