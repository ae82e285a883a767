"""The model of ``channels.yaml``. A new channel adds its settings in a file of its own and a line here."""

from typing import Annotated, Any

from pydantic import Field, model_validator

from bot.config.channels import Access, AccountState, ChannelSection, Sessions
from bot.config.feishu import FeishuChannel
from bot.config.local import LocalChannel
from bot.config.section import Expected, Section
from bot.config.slack import SlackChannel
from bot.config.telegram import TelegramChannel

Version = Annotated[int, Field(ge=1, le=1), Expected("1")]


class Channels(Section):
    """Every channel there is. Those left out of the file have their defaults."""

    web: LocalChannel = LocalChannel()
    console: LocalChannel = LocalChannel()
    telegram: TelegramChannel = TelegramChannel()
    slack: SlackChannel = SlackChannel()
    feishu: FeishuChannel = FeishuChannel()

    @model_validator(mode="before")
    @classmethod
    def _every_channel(cls, data: Any) -> Any:
        # So that the defaults are made with the environment at hand, as those of a file are.
        if not isinstance(data, dict):
            return data
        return data | {name: {} for name in cls.model_fields if data.get(name) is None}


CHANNEL_NAMES = tuple(Channels.model_fields)
"""Names of all channels."""


class ChannelsConfig(Section):
    """``channels.yaml``.

    Args:
        version: Of the file's format.
        channels: The channels by name.
    """

    version: Version = 1
    channels: Channels = Channels()

    @model_validator(mode="before")
    @classmethod
    def _channels_given(cls, data: Any) -> Any:
        return {**data, "channels": {}} if isinstance(data, dict) and data.get("channels") is None else data

    def section(self, channel: str) -> ChannelSection:
        """The settings of one channel.

        Raises:
            KeyError: There is no such channel.
        """
        if channel not in CHANNEL_NAMES:
            raise KeyError(channel)
        section: ChannelSection = getattr(self.channels, channel)
        return section

    def states(self) -> tuple[AccountState, ...]:
        """All accounts of all channels, and for each one that is off, why."""
        return tuple(state for name in CHANNEL_NAMES for state in self.section(name).states(name))

    def enabled(self) -> tuple[AccountState, ...]:
        """The accounts that are on."""
        return tuple(state for state in self.states() if state.on)

    def sessions(self, channel: str, account: str) -> Sessions:
        """What shares a conversation on an account.

        Raises:
            KeyError: There is no such channel or account.
        """
        return self.section(channel).sessions_of(account)

    def access(self, channel: str, account: str) -> Access:
        """Who is heard on an account.

        Raises:
            KeyError: There is no such channel or account.
        """
        return self.section(channel).access_of(account)
