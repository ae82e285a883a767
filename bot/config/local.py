"""Settings of the channels on this machine: the web page and the console."""

from bot.config.channels import OPEN_ACCESS, Access, AccountState, ChannelSection, Sessions, SessionScope


class LocalSessions(Sessions):
    """As :class:`Sessions`; a chat is a conversation, since there are no platform users."""

    direct: SessionScope = SessionScope.PER_CHAT


class LocalChannel(ChannelSection):
    """The web page or the console. Its one account is ``main``.

    Args:
        enabled: False turns it off.
        sessions: What shares a conversation.
    """

    enabled: bool = True
    sessions: LocalSessions = LocalSessions()

    def states(self, channel: str) -> tuple[AccountState, ...]:
        """See :class:`ChannelSection`."""
        reason = "" if self.enabled else "enabled is false"
        return (AccountState(channel, "main", self.enabled, reason),)

    def sessions_of(self, account: str) -> Sessions:
        """See :class:`ChannelSection`."""
        if account != "main":
            raise KeyError(account)
        return self.sessions

    def access_of(self, account: str) -> Access:
        """See :class:`ChannelSection`."""
        if account != "main":
            raise KeyError(account)
        return OPEN_ACCESS
