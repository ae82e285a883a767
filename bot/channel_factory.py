"""From settings to channels."""

from collections.abc import Iterator

from pydantic import SecretStr

from bot.config import Settings
from bot.config.channels import AccountState
from bot.config.slack import SlackMode
from bot.home import Home
from bot.proxy import Policy
from channels.channel import Channel
from channels.feed import Feed, FeedChannel, Staging


def build_channels(settings: Settings, home: Home, feed: Feed) -> list[Channel]:
    """Every channel account that is on."""
    return list(_build(settings, home, feed))


def _build(settings: Settings, home: Home, feed: Feed) -> Iterator[Channel]:
    for state in settings.channels.enabled():
        match state.channel:
            case "web" | "console":
                yield FeedChannel(state.channel, feed, Staging(home.staging))
            case "telegram":
                yield _telegram(settings, state)
            case "slack":
                yield _slack(settings, state)
            case "feishu":
                yield _feishu(settings, state)


def _telegram(settings: Settings, state: AccountState) -> Channel:
    # Imported here: the SDK takes half a second to load, and most homes begin without it.
    from channels.budgets import TELEGRAM
    from channels.telegram.channel import TelegramChannel

    account = settings.channels.channels.telegram.accounts[state.account]
    assert account.token is not None, "an account that is on has a token"
    return TelegramChannel(
        state.account,
        account.token.get_secret_value(),
        base_url=account.base_url,
        limits=TELEGRAM if account.pacing else (),
    )


def _feishu(settings: Settings, state: AccountState) -> Channel:
    # Imported here: most homes begin without it.
    from channels.budgets import FEISHU
    from channels.feishu.channel import FeishuChannel
    from channels.feishu.transport import Timing

    account = settings.channels.channels.feishu.accounts[state.account]
    assert account.app_id is not None, "an account that is on has an app id"
    assert account.app_secret is not None, "an account that is on has a secret"
    return FeishuChannel(
        state.account,
        account.app_id,
        account.app_secret.get_secret_value(),
        base_url=account.domain,
        all_is_us=account.answer_mention_all,
        limits=FEISHU if account.pacing else (),
        timing=Timing(silence=account.reconnect_after_silence),
    )


def _slack(settings: Settings, state: AccountState) -> Channel:
    # Imported here: the SDK takes a second to load.
    from channels.budgets import SLACK
    from channels.slack.channel import SlackChannel

    account = settings.channels.channels.slack.accounts[state.account]
    assert account.bot_token is not None, "an account that is on has a token"
    by_socket = account.mode is SlackMode.SOCKET
    return SlackChannel(
        state.account,
        account.bot_token.get_secret_value(),
        app_token=_revealed(account.app_token) if by_socket else None,
        signing_secret=None if by_socket else _revealed(account.signing_secret),
        base_url=account.base_url,
        limits=SLACK if account.pacing else (),
    )


def _revealed(secret: SecretStr | None) -> str | None:
    return None if secret is None else secret.get_secret_value()


def build_policies(settings: Settings) -> dict[tuple[str, str], Policy]:
    """The rules of every account that is on."""
    channels = settings.channels
    return {
        (state.channel, state.account): Policy(
            channels.sessions(state.channel, state.account), channels.access(state.channel, state.account)
        )
        for state in channels.enabled()
    }
