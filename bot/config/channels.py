"""What the channels' settings have in common: whose thread a message joins, and who is heard."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, model_validator

from bot.config.section import Expected, PlatformId, Section

CommandName = Annotated[
    str, Field(pattern=r"^[a-z][a-z0-9_-]{0,31}$"), Expected("the name of a command, without its slash")
]


class SessionScope(StrEnum):
    """What shares one conversation with the agent."""

    PER_USER = "per_user"
    PER_CHAT = "per_chat"
    PER_THREAD = "per_thread"
    PER_USER_IN_CHAT = "per_user_in_chat"


class DmPolicy(StrEnum):
    """Who may write to the bot in a direct chat.

    ``pairing`` hears those who are listed, and those who were let in with a code; ``allowlist`` only those
    who are listed; ``open`` anyone.
    """

    PAIRING = "pairing"
    ALLOWLIST = "allowlist"
    OPEN = "open"


class GroupPolicy(StrEnum):
    """In which groups the bot listens."""

    ALLOWLIST = "allowlist"
    OPEN = "open"
    OFF = "off"


class MentionPolicy(StrEnum):
    """Whether a message in a group must address the bot.

    With ``thread``, it need not in a thread or topic of the platform that Hart has posted to.
    """

    REQUIRED = "required"
    THREAD = "thread"
    OPTIONAL = "optional"


class Role(StrEnum):
    """What somebody may do; each may do what those after it may."""

    OWNER = "owner"
    ADMIN = "admin"
    MEMBER = "member"

    def covers(self, needed: "Role") -> bool:
        """Whether who has this role may do what needs the other one."""
        ranks = list(Role)
        return ranks.index(self) <= ranks.index(needed)


class Sessions(Section):
    """What shares a conversation.

    Args:
        direct: In chats with one person.
        group: In chats that may have many.
    """

    direct: SessionScope = SessionScope.PER_USER
    group: SessionScope = SessionScope.PER_THREAD


class Access(Section):
    """Who is heard, and who may use which command. The defaults hear nobody until somebody is let in.

    Args:
        dm: Who may write directly.
        owners: Platform ids of people who may do everything.
        admins: Platform ids of people who may also let others in.
        users: Platform ids of people who are heard.
        group: Which groups are heard.
        groups: Platform ids of chats for the allowlist.
        mention: Whether a group message must address the bot.
        commands: The least role for a command, by the command's name, where it is not to be the usual one.
        acknowledge_open: Must be true for ``open``: strangers then spend the model's money and
            use the agent's tools.
    """

    dm: DmPolicy = DmPolicy.PAIRING
    owners: tuple[PlatformId, ...] = ()
    admins: tuple[PlatformId, ...] = ()
    users: tuple[PlatformId, ...] = ()
    group: GroupPolicy = GroupPolicy.ALLOWLIST
    groups: tuple[PlatformId, ...] = ()
    mention: MentionPolicy = MentionPolicy.REQUIRED
    commands: dict[CommandName, Role] = Field(default_factory=dict)
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


LOCAL_SENDER = "local"
"""Sender id of whoever sits at a channel of this machine, as :mod:`channels.feed` has it."""

OPEN_ACCESS = Access(dm=DmPolicy.OPEN, group=GroupPolicy.OPEN, owners=(LOCAL_SENDER,), acknowledge_open=True)
"""For channels on this machine: who reaches them was let in by the server or the terminal, and owns Hart."""


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
