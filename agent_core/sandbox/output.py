"""What a command writes, bounded and made readable. Pure."""

import re

_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# A character takes at most four bytes.
_BYTES_PER_CHAR = 4


class OutputBuffer:
    """Keeps the begin and the end of a stream of bytes, and forgets what is between.

    Args:
        limit: Characters to keep.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._room = limit * _BYTES_PER_CHAR
        self._head = bytearray()
        self._tail = bytearray()
        self.size = 0
        """Bytes that came in all."""

    def add(self, data: bytes) -> None:
        """Take in what came next."""
        self.size += len(data)
        room = self._room - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        if len(self._tail) > 2 * self._room:
            del self._tail[: -self._room]

    def text(self) -> tuple[str, bool]:
        """Give what was kept as readable text, and whether something was left out."""
        head = self._head.decode("utf-8", "replace")
        if self.size <= len(self._head) + len(self._tail):
            whole = readable((self._head + self._tail).decode("utf-8", "replace"))
            if len(whole) <= self._limit:
                return whole, False
            begin, end = whole, whole
        else:
            begin, end = readable(head), readable(self._tail.decode("utf-8", "replace"))
        half = self._limit // 2
        return (
            f"{_whole_lines_before(begin[:half])}\n"
            f"… (of {self.size} bytes, the middle is left out) …\n"
            f"{_whole_lines_after(end[-half:])}"
        ), True


def readable(text: str) -> str:
    """Take out what only steers a terminal. A line that was overwritten shows its last state."""
    text = _ESCAPE.sub("", text.replace("\r\n", "\n"))
    if "\r" in text:
        text = "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    return _CONTROL.sub("", text)


def _whole_lines_before(text: str) -> str:
    whole = text.rpartition("\n")[0]
    return whole if len(whole) > len(text) // 2 else text


def _whole_lines_after(text: str) -> str:
    whole = text.partition("\n")[2]
    return whole if len(whole) > len(text) // 2 else text
