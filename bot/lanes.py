"""Names for work that must be done one at a time and in order."""

from dataclasses import dataclass
from enum import StrEnum

from channels.messages import Address


class LaneKind(StrEnum):
    """What is done in a lane.

    ``thread`` runs the agent on a thread's messages, ``control`` answers a chat's commands while the agent
    is busy, ``chat`` sends a chat's open deliveries.
    """

    THREAD = "thread"
    CONTROL = "control"
    CHAT = "chat"


@dataclass(frozen=True, slots=True)
class Lane:
    """One lane: a kind and what it is about (a thread id, or a chat)."""

    kind: LaneKind
    key: str

    @property
    def name(self) -> str:
        """The lane as one string, as it is stored."""
        return f"{self.kind}:{self.key}"

    @classmethod
    def parse(cls, name: str) -> "Lane":
        """The lane of a stored name."""
        kind, _, key = name.partition(":")
        return cls(LaneKind(kind), key)


def thread_lane(thread_id: str) -> Lane:
    """The lane of a thread's messages."""
    return Lane(LaneKind.THREAD, thread_id)


def control_lane(address: Address) -> Lane:
    """The lane of a chat's commands."""
    return Lane(LaneKind.CONTROL, chat_key(address))


def chat_lane(address: Address) -> Lane:
    """The lane of a chat's deliveries: all its platform threads share one order and one pace."""
    return Lane(LaneKind.CHAT, chat_key(address))


def chat_key(address: Address) -> str:
    """A chat as one string; ids cannot run into each other."""
    return "/".join(escape_part(part) for part in (address.channel, address.account, address.chat_id))


def escape_part(part: str) -> str:
    """Make an id safe to stand between slashes."""
    return part.replace("%", "%25").replace("/", "%2F").replace(":", "%3A")
