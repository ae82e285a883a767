"""From settings to channels."""

from collections.abc import Iterator

from bot.config import Settings
from bot.config.channels import AccountState
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


def _telegram(settings: Settings, state: AccountState) -> Channel:
    # Imported here: the SDK takes half a second to load, and most homes begin without it.
    from channels.telegram.channel import TelegramChannel

    account = settings.channels.channels.telegram.accounts[state.account]
    assert account.token is not None, "an account that is on has a token"
    return TelegramChannel(
        state.account,
        account.token.get_secret_value(),
        base_url=account.base_url,
    )


def build_policies(settings: Settings) -> dict[tuple[str, str], Policy]:
    """The rules of every account that is on."""
    channels = settings.channels
    return {
        (state.channel, state.account): Policy(
            channels.sessions(state.channel, state.account), channels.access(state.channel, state.account)
        )
        for state in channels.enabled()
    }
