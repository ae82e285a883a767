"""What an interactive console knows of its chat."""

from dataclasses import dataclass, field

from channels.feed import FeedEntry
from channels.views import Phase, RunView

_ENDING = ("/stop", "/new")


@dataclass(slots=True)
class Conversation:
    """Which messages are still to be answered, and how the current run stands.

    Args:
        open: Text of each message of a person that has no final answer yet, by its id, in order.
        answered: Ids of messages that have one.
        live: The newest view of a run that has not ended.
    """

    open: dict[str, str] = field(default_factory=dict)
    answered: set[str] = field(default_factory=set)
    live: RunView | None = None
    _seen: set[str] = field(default_factory=set)

    @property
    def busy(self) -> bool:
        """True while an answer is to be expected."""
        return self.live is not None or any(not text.startswith("/") for text in self.open.values())

    def asked(self, message_id: str, text: str) -> None:
        """Note that a message was sent."""
        if message_id not in self.answered:
            self.open.setdefault(message_id, text)

    def take(self, entry: FeedEntry) -> bool:
        """Note an entry; False when it was seen before."""
        if entry.id in self._seen:
            return False
        self._seen.add(entry.id)
        if entry.role == "person":
            self.asked(entry.message_id, entry.text)
        elif entry.final:
            self._close(entry.in_reply_to)
        return True

    def progress(self, view: RunView) -> bool:
        """Note how a run stands; False when that is no news, as after its answer."""
        if view.in_reply_to is not None and view.in_reply_to in self.answered:
            return False
        if view.phase is Phase.DONE and self.live is None:
            return False
        self.live = view
        return True

    def _close(self, message_id: str | None) -> None:
        if self.live is not None and self.live.in_reply_to == message_id:
            self.live = None
        if message_id is None:
            return
        self.answered.add(message_id)
        text = self.open.get(message_id, "")
        if text.startswith("/") and not text.startswith(_ENDING):
            del self.open[message_id]
        elif message_id in self.open:
            # Messages are answered in order, so an answer closes all before it too.
            for earlier in list(self.open):
                del self.open[earlier]
                if self.live is not None and self.live.in_reply_to == earlier:
                    self.live = None
                if earlier == message_id:
                    break
