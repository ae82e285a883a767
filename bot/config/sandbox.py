"""The ``sandbox:`` section: where the agent's commands run, and within which bounds."""

from enum import StrEnum
from typing import Annotated, Self

from pydantic import AfterValidator, Field, SecretStr, model_validator

from bot.config.section import Expected, PositiveInt, Section, Text

# These would take a wall of the sandbox away, not give it a network.
_SHARED_NETWORKS = ("host", "container")


class SandboxKind(StrEnum):
    """Where commands run."""

    LOCAL = "local"
    DOCKER = "docker"


def _network(value: str) -> str:
    if value.partition(":")[0] in _SHARED_NETWORKS:
        raise ValueError
    return value


def _absolute(value: str) -> str:
    if not value.startswith("/"):
        raise ValueError
    return value


Network = Annotated[
    str,
    Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.:-]*$"),
    AfterValidator(_network),
    Expected('"none", or the name of one of the engine\'s networks other than "host"'),
]
EngineUrl = Annotated[
    str,
    Field(pattern=r"^(?:unix:///|tcp://|https?://|ssh://)\S+$"),
    Expected("an address such as unix:///var/run/docker.sock"),
]
VariableName = Annotated[
    str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$"), Expected("the name of an environment variable")
]
AbsolutePath = Annotated[Text, AfterValidator(_absolute), Expected("an absolute path")]
Minutes = Annotated[float, Field(gt=0, le=1440), Expected("minutes, above 0 and up to 1440")]
Cores = Annotated[float, Field(gt=0, le=1024), Expected("a number of processor cores above 0, such as 1.5")]


class SandboxConfig(Section):
    """Where commands run.

    Args:
        provider: In containers, or on this machine.
        allow_host_bash: With ``local``, whether commands may run at all. They can do there whatever
            Hart itself can.
        command_seconds: The longest time a command may be given.
        image: Of the containers.
        engine: Where the container engine listens; None for ``DOCKER_HOST`` or its usual socket.
        network: The containers' network.
        memory_mb, cpus, processes, tmp_mb: Bounds of one container.
        disk_mb: Bound of the files of one conversation.
        idle_minutes: After which a container that is not used is removed.
        environment: Variables that commands see. The agent can read them.
        home_on_host: Where the engine finds ``HART_HOME``, when Hart itself runs in a container.
    """

    provider: SandboxKind = SandboxKind.LOCAL
    allow_host_bash: bool = False
    command_seconds: PositiveInt = 600
    image: Text = "hart-sandbox:latest"
    engine: EngineUrl | None = None
    network: Network = "none"
    memory_mb: PositiveInt = 1024
    cpus: Cores = 1.0
    processes: PositiveInt = 256
    tmp_mb: PositiveInt = 256
    disk_mb: PositiveInt = 2048
    idle_minutes: Minutes = 10
    environment: dict[VariableName, SecretStr] = Field(default_factory=dict)
    home_on_host: AbsolutePath | None = None

    @model_validator(mode="after")
    def _host_bash_where_it_counts(self) -> Self:
        if self.allow_host_bash and self.provider is not SandboxKind.LOCAL:
            raise ValueError("allow_host_bash is for the provider local alone; leave it out with docker")
        return self

    @property
    def runs_commands(self) -> bool:
        """Whether the agent can run commands."""
        return self.provider is SandboxKind.DOCKER or self.allow_host_bash
