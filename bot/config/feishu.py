"""Settings of the Feishu channel, which is Lark's as well."""

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, SecretStr, ValidationInfo, model_validator

from agent_core.interpolation import Unset
from bot.config.channels import Access, AccountState, ChannelSection, Sessions
from bot.config.section import Expected, HttpUrl, Name, PlatformId, PositiveSeconds, Section

VARIABLES = {"app_id": "FEISHU_APP_ID", "app_secret": "FEISHU_APP_SECRET"}
"""The environment variables of the account that there is when none is configured."""

DOMAINS = {"feishu": "https://open.feishu.cn", "lark": "https://open.larksuite.com"}
"""Short names of the two platforms."""

_LOOPBACK = ("http://127.0.0.1", "http://[::1]", "http://localhost")


def _secret(value: SecretStr) -> SecretStr:
    text = value.get_secret_value()
    if not (text.isascii() and text.isalnum()):
        raise ValueError
    return value


def _safe_address(value: str) -> str:
    # The secret goes there: unencrypted only to this machine.
    after = next((value[len(one) :] for one in _LOOPBACK if value.startswith(one)), None)
    if value.startswith("https://") or (after is not None and (not after or after[0] in ":/")):
        return value
    raise ValueError


AppId = Annotated[
    str, Field(pattern=r"^cli_[A-Za-z0-9]{1,60}$"), Expected("an app id such as cli_a1b2c3d4e5f60708")
]

AppSecret = Annotated[SecretStr, AfterValidator(_secret), Expected("the app secret (letters and digits)")]

Server = Annotated[HttpUrl, AfterValidator(_safe_address), Expected("feishu, lark, or an https address")]

PersonId = Annotated[
    PlatformId, Field(pattern=r"^ou_[A-Za-z0-9]+$"), Expected("an open_id that starts with ou_")
]

ChatId = Annotated[
    PlatformId, Field(pattern=r"^oc_[A-Za-z0-9]+$"), Expected("a chat_id that starts with oc_")
]


class FeishuAccess(Access):
    """As :class:`Access`, with Feishu's ids: of people towards this app, and of chats."""

    owners: tuple[PersonId, ...] = ()
    admins: tuple[PersonId, ...] = ()
    users: tuple[PersonId, ...] = ()
    groups: tuple[ChatId, ...] = ()


class FeishuAccount(Section):
    """One app.

    Args:
        app_id: Its id; None turns the account off.
        app_secret: Its secret; None turns the account off.
        domain: ``feishu``, ``lark``, or the address of a server.
        sessions: What shares a conversation.
        access: Who is heard.
        answer_mention_all: Whether a mention of everyone in a group addresses the bot.
        reconnect_after_silence: Seconds without any event after which to connect anew, for networks in
            which the connection goes deaf while it seems alive; None never.
        pacing: Whether to keep to the platform's limits.
    """

    app_id: AppId | None = None
    app_secret: AppSecret | None = None
    domain: Server = DOMAINS["feishu"]
    sessions: Sessions = Sessions()
    access: FeishuAccess = FeishuAccess()
    answer_mention_all: bool = False
    reconnect_after_silence: PositiveSeconds | None = None
    pacing: bool = True

    @model_validator(mode="before")
    @classmethod
    def _named_domain(cls, data: Any) -> Any:
        if isinstance(data, dict) and isinstance(data.get("domain"), str) and data["domain"] in DOMAINS:
            return {**data, "domain": DOMAINS[data["domain"]]}
        return data

    def off_reason(self) -> str | None:
        """Why the account cannot be used; None when it can."""
        for key, value in (("app_id", self.app_id), ("app_secret", self.app_secret)):
            if value is None:
                variable = self.unset_variable(key)
                return f"{variable} is not set" if variable else f"it has no {key}"
        return None


def _default_credentials(variables: Mapping[str, str]) -> dict[str, str | Unset]:
    return {key: variables.get(name) or Unset(name) for key, name in VARIABLES.items()}


def _default_accounts() -> dict[str, FeishuAccount]:
    return {"main": FeishuAccount.model_validate(_default_credentials({}))}


class FeishuChannel(ChannelSection):
    """Feishu and Lark.

    Args:
        enabled: False turns it off; True requires credentials; None is on for each account with them.
        accounts: The apps, by a name of your choice. Without any, one named ``main`` with
            ``FEISHU_APP_ID`` and ``FEISHU_APP_SECRET``.
    """

    enabled: bool | None = None
    accounts: dict[Name, FeishuAccount] = Field(default_factory=_default_accounts)

    @model_validator(mode="before")
    @classmethod
    def _default_account(cls, data: Any, info: ValidationInfo) -> Any:
        if not isinstance(data, dict) or data.get("accounts") is not None:
            return data
        variables = (info.context or {}).get("variables", {})
        return {**data, "accounts": {"main": _default_credentials(variables)}}

    @model_validator(mode="after")
    def _enabled_needs_credentials(self) -> Self:
        reasons = [account.off_reason() for account in self.accounts.values()]
        if self.enabled and all(reasons):
            told = ", ".join(sorted({reason for reason in reasons if reason})) or "there is none"
            raise ValueError(f"enabled is true, but no account can be used: {told}")
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
