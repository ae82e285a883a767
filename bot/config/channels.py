"""What the channels' settings have in common: whose thread a message joins, and who is heard."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from pydantic import model_validator

from bot.config.section import PlatformId, Section


class SessionScope(StrEnum):
    """What shares one conversation with the agent."""

    PER_USER = "per_user"
    PER_CHAT = "per_chat"
    PER_THREAD = "per_thread"
    PER_USER_IN_CHAT = "per_user_in_chat"


class DmPolicy(StrEnum):
    """Who may write to the bot in a direct chat."""

    ALLOWLIST = "allowlist"
    OPEN = "open"


class GroupPolicy(StrEnum):
    """In which groups the bot listens."""

    ALLOWLIST = "allowlist"
    OPEN = "open"
    OFF = "off"


class MentionPolicy(StrEnum):
    """Whether a message in a group must address the bot."""

    REQUIRED = "required"
    OPTIONAL = "optional"


class Sessions(Section):
    """What shares a conversation.

    Args:
        direct: In chats with one person.
        group: In chats that may have many.
    """

    direct: SessionScope = SessionScope.PER_USER
    group: SessionScope = SessionScope.PER_THREAD


class Access(Section):
    """Who is heard. The defaults hear nobody.

    Args:
        dm: Who may write directly.
        users: Platform ids of people for the allowlist.
        group: Which groups are heard.
        groups: Platform ids of chats for the allowlist.
        mention: Whether a group message must address the bot.
        acknowledge_open: Must be true for ``open``: strangers then spend the model's money and
            use the agent's tools.
    """

    dm: DmPolicy = DmPolicy.ALLOWLIST
    users: tuple[PlatformId, ...] = ()
    group: GroupPolicy = GroupPolicy.ALLOWLIST
    groups: tuple[PlatformId, ...] = ()
    mention: MentionPolicy = MentionPolicy.REQUIRED
    acknowledge_open: bool = False

    @model_validator(mode="after")
    def _open_on_purpose(self) -> Self:
        opened = [
            name
            for name, policy in (("dm", self.dm), ("group", self.group))
            if policy.value == DmPolicy.OPEN.value
        ]
        if opened and not self.acknowledge_open:
            raise ValueError(
                f"{' and '.join(opened)}: open lets anyone who finds the bot use it, its tools and your "
                "model; list people instead, or add acknowledge_open: true if you mean it"
            )
        return self


OPEN_ACCESS = Access(dm=DmPolicy.OPEN, group=GroupPolicy.OPEN, acknowledge_open=True)
"""For channels on this machine: who reaches them was let in by the server or the terminal."""


@dataclass(frozen=True, slots=True)
class AccountState:
    """Whether an account of a channel takes part.

    Args:
        channel: Name of the channel.
        account: Name of the account.
        on: True when it does.
        reason: Why not, when it does not. Names settings, never values.
    """

    channel: str
    account: str
    on: bool
    reason: str = ""

    def __str__(self) -> str:
        place = self.channel if self.account == "main" else f"{self.channel}/{self.account}"
        return f"{place}: on" if self.on else f"{place}: off, {self.reason}"


class ChannelSection(Section):
    """The settings of one channel. Each channel has a subclass in a file of its own."""

    def states(self, channel: str) -> tuple[AccountState, ...]:
        """The channel's accounts, and whether each is on."""
        raise NotImplementedError

    def sessions_of(self, account: str) -> Sessions:
        """The sessions of an account.

        Raises:
            KeyError: There is no such account.
        """
        raise NotImplementedError

    def access_of(self, account: str) -> Access:
        """The access rules of an account.

        Raises:
            KeyError: There is no such account.
        """
        raise NotImplementedError
