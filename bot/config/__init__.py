"""The operator's decisions: ``config.yaml``, ``channels.yaml`` and the environment.

:func:`load` reads them once, at start. Everything behind it is frozen and checked, and shows no
secret in its text.
"""

from bot.config.agent import AgentConfig
from bot.config.channels import (
    Access,
    AccountState,
    DmPolicy,
    GroupPolicy,
    MentionPolicy,
    Role,
    Sessions,
    SessionScope,
)
from bot.config.channels_file import CHANNEL_NAMES, Channels, ChannelsConfig
from bot.config.config_file import (
    Config,
    FeedsConfig,
    LimitsConfig,
    ServerConfig,
    StorageConfig,
    ToolsConfig,
)
from bot.config.load import CHANNELS_FILE, CONFIG_FILE, Settings, environment, load
from bot.config.local import LocalChannel
from bot.config.models import ModelConfig, models_from_environment
from bot.config.problems import ConfigError, Problem
from bot.config.sandbox import SandboxConfig, SandboxKind
from bot.config.tasks import Schedule, Target, TaskConfig
from bot.config.telegram import TelegramAccount, TelegramChannel

__all__ = [
    "CHANNELS_FILE",
    "CHANNEL_NAMES",
    "CONFIG_FILE",
    "Access",
    "AccountState",
    "AgentConfig",
    "Channels",
    "ChannelsConfig",
    "Config",
    "ConfigError",
    "DmPolicy",
    "FeedsConfig",
    "GroupPolicy",
    "LimitsConfig",
    "LocalChannel",
    "MentionPolicy",
    "ModelConfig",
    "Problem",
    "Role",
    "SandboxConfig",
    "SandboxKind",
    "Schedule",
    "ServerConfig",
    "SessionScope",
    "Sessions",
    "Settings",
    "StorageConfig",
    "Target",
    "TaskConfig",
    "TelegramAccount",
    "TelegramChannel",
    "ToolsConfig",
    "environment",
    "load",
    "models_from_environment",
]
