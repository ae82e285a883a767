"""Settings of the Slack channel."""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, SecretStr, ValidationInfo, model_validator

from agent_core.interpolation import Unset
from bot.config.channels import Access, AccountState, ChannelSection, Sessions
from bot.config.section import Expected, HttpUrl, Name, PlatformId, Section

SECRET_VARIABLES = {
    "bot_token": "SLACK_BOT_TOKEN",
    "app_token": "SLACK_APP_TOKEN",
    "signing_secret": "SLACK_SIGNING_SECRET",
}
"""Where the secrets of the account ``main`` come from when no account is configured."""


class SlackMode(StrEnum):
    """How events come in."""

    SOCKET = "socket"
    HTTP = "http"


def _secret(pattern: str) -> AfterValidator:
    def check(value: SecretStr) -> SecretStr:
        # Each becomes part of a header or a key: nothing that could end a line.
        if re.fullmatch(pattern, value.get_secret_value()) is None:
            raise ValueError
        return value

    return AfterValidator(check)


BotToken = Annotated[
    SecretStr, _secret(r"xoxb-[A-Za-z0-9-]+"), Expected('a "Bot User OAuth Token" (it begins with xoxb-)')
]
AppToken = Annotated[
    SecretStr, _secret(r"xapp-[A-Za-z0-9-]+"), Expected('an "App-Level Token" (it begins with xapp-)')
]
SigningSecret = Annotated[
    SecretStr, _secret(r"[A-Za-z0-9]{8,128}"), Expected('a "Signing Secret" (letters and digits)')
]


def _api_url(value: str) -> str:
    # Validated as any address, which has no slash at its end; the SDK needs that slash.
    if not value.endswith("/api"):
        raise ValueError
    return f"{value}/"


ApiUrl = Annotated[
    HttpUrl,
    AfterValidator(_api_url),
    Expected("an address that ends with /api/, such as https://slack.com/api/"),
]

UserId = Annotated[
    PlatformId,
    Field(pattern=r"^[UW][A-Z0-9]+$"),
    Expected("a member id such as U012AB3CD (in a profile: the three dots, Copy member ID)"),
]
ConversationId = Annotated[
    PlatformId,
    Field(pattern=r"^[CG][A-Z0-9]+$"),
    Expected("a channel id such as C012AB3CD (at the end of a channel's details)"),
]
"""Names can change hands; only the ids stay with a person or channel."""


class SlackAccess(Access):
    """As :class:`Access`, with Slack's ids."""

    owners: tuple[UserId, ...] = ()
    admins: tuple[UserId, ...] = ()
    users: tuple[UserId, ...] = ()
    groups: tuple[ConversationId, ...] = ()


class SlackAccount(Section):
    """One app in one workspace.

    Args:
        mode: ``socket`` needs no address that Slack can reach; ``http`` does.
        bot_token: From the app's page "OAuth & Permissions"; None turns the account off.
        app_token: From its page "Basic Information", "App-Level Tokens"; needed for ``socket``.
        signing_secret: From its page "Basic Information", "App Credentials"; needed for ``http``.
        base_url: The Web API, for proxies and emulators; ends with ``/api/``.
        pacing: Keep to Slack's limits; off only for a server that has none.
        sessions: What shares a conversation.
        access: Who is heard.
    """

    mode: SlackMode = SlackMode.SOCKET
    bot_token: BotToken | None = None
    app_token: AppToken | None = None
    signing_secret: SigningSecret | None = None
    base_url: ApiUrl = "https://slack.com/api/"
    pacing: bool = True
    sessions: Sessions = Sessions()
    access: SlackAccess = SlackAccess()

    def off_reason(self) -> str | None:
        """Why the account cannot be used; None when it can."""
        other = "app_token" if self.mode is SlackMode.SOCKET else "signing_secret"
        for key, value in (
            ("bot_token", self.bot_token),
            (other, self.app_token if self.mode is SlackMode.SOCKET else self.signing_secret),
        ):
            if value is None:
                variable = self.unset_variable(key)
                return f"{variable} is not set" if variable else f"it has no {key}"
        return None


def _default_account(variables: Mapping[str, str]) -> dict[str, str | Unset]:
    return {key: variables.get(name) or Unset(name) for key, name in SECRET_VARIABLES.items()}


def _default_accounts() -> dict[str, SlackAccount]:
    return {"main": SlackAccount.model_validate(_default_account({}))}


class SlackChannel(ChannelSection):
    """Slack.

    Args:
        enabled: False turns it off; True requires an account with its tokens; None is on for each such.
        accounts: The apps, by a name of your choice. Without any, one named ``main`` with the secrets of
            ``SLACK_BOT_TOKEN``, ``SLACK_APP_TOKEN`` and ``SLACK_SIGNING_SECRET``.
    """

    enabled: bool | None = None
    accounts: dict[Name, SlackAccount] = Field(default_factory=_default_accounts)

    @model_validator(mode="before")
    @classmethod
    def _main_unless_given(cls, data: Any, info: ValidationInfo) -> Any:
        if not isinstance(data, dict) or data.get("accounts") is not None:
            return data
        variables = (info.context or {}).get("variables", {})
        return {**data, "accounts": {"main": _default_account(variables)}}

    @model_validator(mode="after")
    def _enabled_needs_tokens(self) -> Self:
        if self.enabled and all(account.off_reason() for account in self.accounts.values()):
            reasons = sorted({account.off_reason() or "" for account in self.accounts.values()})
            raise ValueError(
                f"enabled is true, but no account can be used: {', '.join(reasons) or 'there is none'}"
            )
        return self

    @model_validator(mode="after")
    def _one_app_each(self) -> Self:
        names: dict[str, str] = {}
        for name, account in self.accounts.items():
            if account.app_token is None or account.mode is not SlackMode.SOCKET:
                continue
            first = names.setdefault(account.app_token.get_secret_value(), name)
            if first != name:
                raise ValueError(
                    f"accounts {first} and {name} have the same app_token, and Slack would give each "
                    "message to one of them at random; make an app for each"
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
