"""What the ledger and the configuration together say of whoever wrote a message."""

from collections.abc import Mapping
from dataclasses import replace

from sqlmodel import Session

from bot.access import Heard, Standing, decide, follows_threads, grants_count, role_of
from bot.config.channels import Access, Role
from bot.store import grants, outbox
from channels.messages import InboundMessage


class Standings:
    """Looks people up.

    Args:
        rules: The access rules of each account, by (channel, account).
    """

    def __init__(self, rules: Mapping[tuple[str, str], Access]) -> None:
        self._rules = rules

    def look(self, session: Session, message: InboundMessage, access: Access) -> Standing:
        """What the ledger knows; asked only for what matters under these rules."""
        address = message.address
        granted = None
        if grants_count(access) and role_of(message.sender.id, access, None) is not Role.OWNER:
            granted = grants.role(session, (address.channel, address.account), message.sender.id)
        follows = follows_threads(message, access)
        return Standing(granted, follows and outbox.posted_to(session, address))

    def surely_heard(self, message: InboundMessage) -> bool:
        """Whether a stored message is heard whatever the ledger knows. Pure, to spare most runs a look."""
        access = self.access(message)
        if access is None:
            return True
        return isinstance(decide(replace(message, addressed=True), access), Heard)

    def role(self, session: Session, message: InboundMessage) -> Role | None:
        """The role that the sender of a stored message has by now; None when they are no longer heard.

        For an account that is off on this node the rules are not known here. What is stored was let in by a
        node that knew them, and is taken as written by a member.
        """
        access = self.access(message)
        if access is None:
            return Role.MEMBER
        # Whether it was addressed to us was settled as it was stored.
        message = replace(message, addressed=True)
        decision = decide(message, access, self.look(session, message, access))
        return decision.role if isinstance(decision, Heard) else None

    def access(self, message: InboundMessage) -> Access | None:
        """The rules of a message's account, if it is on here."""
        return self._rules.get((message.address.channel, message.address.account))
