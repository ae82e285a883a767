"""Writing an answer down: its messages, and what they send kept on disk."""

from collections.abc import Sequence

from agent_core.events import PresentedFile
from agent_core.paths import PathRefusedError
from bot.directory import ChannelDirectory
from bot.drafts import Draft, FileDraft
from bot.engine.answers import ANSWER_FILE, answer_drafts, goes_as_file
from bot.home import Home
from bot.store.runs import Turn


class AnswerWriter:
    """Makes the deliveries of answers.

    Args:
        home: Where files lie.
        channels: Cuts text for each chat.
    """

    def __init__(self, home: Home, channels: ChannelDirectory) -> None:
        self._home = home
        self._channels = channels

    def drafts(self, turn: Turn, answer: str, presented: Sequence[PresentedFile]) -> list[Draft]:
        """The deliveries of an answer. Blocks."""
        files, gone = self._keep_files(turn, presented)
        if gone:
            answer = f"{answer}\n\n(No longer there, so not sent: {', '.join(gone)}.)"
        whole = None
        if goes_as_file(turn, answer, self._channels.split):
            whole = self._home.keep_text_for_sending(turn.run_id, ANSWER_FILE, answer)
        return answer_drafts(turn, answer, files, self._channels.split, whole)

    def _keep_files(
        self, turn: Turn, presented: Sequence[PresentedFile]
    ) -> tuple[list[FileDraft], list[str]]:
        """Keep what was presented; give the drafts, and the names of what is gone meanwhile."""
        files = self._home.thread_files(turn.thread_id)
        kept: list[FileDraft] = []
        gone: list[str] = []
        for number, file in enumerate(presented):
            try:
                with files.open(file.path) as source:
                    kept.append(self._home.keep_for_sending(turn.run_id, number, source, file.name))
            except PathRefusedError:
                gone.append(file.name)
        return kept, gone
