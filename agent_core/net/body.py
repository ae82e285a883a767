"""Reading a response body without trusting its size."""

import zlib

from agent_core.net.errors import FetchFailedError

ACCEPT_ENCODING = "gzip"
"""The one compression we ask for and read."""


class BoundedBody:
    """Collects a body chunk by chunk, decoded, and stops it at a limit. A compressed chunk is never expanded
    by more than the limit, so a bomb costs no more memory than an honest page.

    Args:
        encoding: The ``Content-Encoding`` header, empty if there is none.
        max_bytes: The most the body may have, decoded and as sent.

    Raises:
        FetchFailedError: An encoding that was not asked for.
    """

    def __init__(self, encoding: str, max_bytes: int) -> None:
        kind = encoding.strip().lower()
        if kind not in ("", "identity", "gzip", "x-gzip"):
            raise FetchFailedError("The server sent the page in an encoding that was not asked for.")
        self._inflate = zlib.decompressobj(16 + zlib.MAX_WBITS) if kind.endswith("gzip") else None
        self._max = max_bytes
        self._sent = 0
        self._body = bytearray()

    def add(self, chunk: bytes) -> None:
        """Take the next bytes as sent.

        Raises:
            FetchFailedError: Too much, or not what the encoding says.
        """
        self._sent += len(chunk)
        if self._inflate is not None:
            try:
                chunk = self._inflate.decompress(chunk, self._max - len(self._body) + 1)
            except zlib.error as error:
                raise FetchFailedError("The server sent a page that cannot be unpacked.") from error
        self._body += chunk
        if max(self._sent, len(self._body)) > self._max:
            raise too_large(self._max)

    def whole(self) -> bytes:
        """The decoded body.

        Raises:
            FetchFailedError: The compressed data ends too early.
        """
        if self._inflate is not None and self._sent and not self._inflate.eof:
            raise FetchFailedError("The page ended before it was complete.")
        return bytes(self._body)


def too_large(max_bytes: int) -> FetchFailedError:
    """The refusal of a body over the limit."""
    return FetchFailedError(f"The page is larger than the limit of {max_bytes / 1e6:g} MB.")
