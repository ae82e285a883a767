"""Settings of the Telegram channel."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, SecretStr, ValidationInfo, model_validator

from agent_core.interpolation import Unset
from bot.config.channels import Access, AccountState, ChannelSection, Sessions
from bot.config.section import Expected, HttpUrl, Name, PlatformId, Section

TOKEN_VARIABLE = "TELEGRAM_BOT_TOKEN"  # noqa: S105 - the name of the variable, not a token


def _token(value: SecretStr) -> SecretStr:
    # The token becomes part of a URL: nothing that could change its path.
    if re.fullmatch(r"[A-Za-z0-9_-]+:[A-Za-z0-9_-]+", value.get_secret_value()) is None:
        raise ValueError
    return value


Token = Annotated[
    SecretStr, AfterValidator(_token), Expected("a bot token as BotFather gives it (digits:letters)")
]


TelegramId = Annotated[
    PlatformId, Field(pattern=r"^-?[0-9]+$"), Expected("a number; @names are not accepted")
]
"""Names can change hands; only the numbers stay with a person or group."""


class TelegramAccess(Access):
    """As :class:`Access`, with Telegram's numbers as ids."""

    owners: tuple[TelegramId, ...] = ()
    admins: tuple[TelegramId, ...] = ()
    users: tuple[TelegramId, ...] = ()
    groups: tuple[TelegramId, ...] = ()


class TelegramAccount(Section):
    """One bot.

    Args:
        token: What BotFather gave; None turns the account off.
        base_url: The Bot API server, for proxies and self-hosted ones.
        pacing: Keep to Telegram's limits; off only for a server that has none.
        sessions: What shares a conversation.
        access: Who is heard.
    """

    token: Token | None = None
    base_url: HttpUrl = "https://api.telegram.org"
    pacing: bool = True
    sessions: Sessions = Sessions()
    access: TelegramAccess = TelegramAccess()

    def off_reason(self) -> str | None:
        """Why the account cannot be used; None when it can."""
        if self.token is not None:
            return None
        variable = self.unset_variable("token")
        return f"{variable} is not set" if variable else "it has no token"


def _default_token(variables: Mapping[str, str]) -> str | Unset:
    return variables.get(TOKEN_VARIABLE) or Unset(TOKEN_VARIABLE)


def _default_accounts() -> dict[str, TelegramAccount]:
    return {"main": TelegramAccount.model_validate({"token": _default_token({})})}


class TelegramChannel(ChannelSection):
    """Telegram.

    Args:
        enabled: False turns it off; True requires a token; None is on for each account with a token.
        accounts: The bots, by a name of your choice. Without any, one named ``main`` with the token
            of ``TELEGRAM_BOT_TOKEN``.
    """

    enabled: bool | None = None
    accounts: dict[Name, TelegramAccount] = Field(default_factory=_default_accounts)

    @model_validator(mode="before")
    @classmethod
    def _default_account(cls, data: Any, info: ValidationInfo) -> Any:
        if not isinstance(data, dict) or data.get("accounts") is not None:
            return data
        variables = (info.context or {}).get("variables", {})
        return {**data, "accounts": {"main": {"token": _default_token(variables)}}}

    @model_validator(mode="after")
    def _enabled_needs_token(self) -> Self:
        if self.enabled and all(account.token is None for account in self.accounts.values()):
            reasons = sorted({account.off_reason() or "" for account in self.accounts.values()})
            raise ValueError(
                f"enabled is true, but no account can be used: {', '.join(reasons) or 'there is none'}"
            )
        return self

    def states(self, channel: str) -> tuple[AccountState, ...]:
        """See :class:`ChannelSection`."""
        states = []
        for name, account in self.accounts.items():
            reason = "enabled is false" if self.enabled is False else account.off_reason()
            states.append(AccountState(channel, name, reason is None, reason or ""))
        return tuple(states)

    def sessions_of(self, account: str) -> Sessions:
        """See :class:`ChannelSection`."""
        return self.accounts[account].sessions

    def access_of(self, account: str) -> Access:
        """See :class:`ChannelSection`."""
        return self.accounts[account].access
