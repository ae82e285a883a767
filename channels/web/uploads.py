"""Reading a posted message: JSON, or multipart with files that go straight to the staging directory."""

import asyncio
import errno
import hashlib
import os
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from fastapi import HTTPException, Request
from pydantic import BaseModel, ConfigDict, ValidationError
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import ClientDisconnect

from channels.feed import Staging
from channels.file_names import safe_name
from channels.messages import Attachment

MESSAGE_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
"""What a client may use as the id of its message."""

_DISK_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_MIME = re.compile(r"[a-z0-9!#$&^_.+-]{1,64}/[a-z0-9!#$&^_.+-]{1,64}")


@dataclass(frozen=True, slots=True)
class UploadLimits:
    """How much one message may bring.

    Args:
        text_bytes: UTF-8 bytes of text.
        file_bytes: Bytes of one file.
        total_bytes: Bytes of all files together.
        files: Number of files.
    """

    text_bytes: int = 100 * 1024
    file_bytes: int = 50 * 1024 * 1024
    total_bytes: int = 200 * 1024 * 1024
    files: int = 10


@dataclass(frozen=True, slots=True)
class PostedMessage:
    """A message as its client posted it; its files are staged.

    Args:
        message_id: Chosen by the client, equal when it tries again.
        text: Without characters that no store or terminal should get.
        attachments: References into the staging directory.
    """

    message_id: str
    text: str
    attachments: tuple[Attachment, ...] = ()


class _JsonMessage(BaseModel):
    model_config = ConfigDict(extra="forbid")

    text: str
    message_id: str


async def read_message(request: Request, staging: Staging, scope: str, limits: UploadLimits) -> PostedMessage:
    """Read the body of a request.

    Args:
        request: Its body is not read yet.
        staging: Where files go.
        scope: Distinguishes message ids of different chats, so that staged names cannot meet.
        limits: See there.

    Raises:
        HTTPException: 413, 415, 422 or 507, with words for people; nothing stays staged.
    """
    kind, options = parse_options_header(request.headers.get("content-type"))
    body = request.stream()
    try:
        if kind == b"application/json":
            return await _read_json(body, limits)
        if kind == b"multipart/form-data" and options.get(b"boundary"):
            return await _read_multipart(body, options[b"boundary"], staging, scope, limits)
        raise HTTPException(415, "Send JSON or multipart/form-data.")
    except ClientDisconnect as error:
        raise HTTPException(400, "The connection closed before the message was complete.") from error


def check_message(text: str, message_id: str, files: int, limits: UploadLimits) -> str:
    """Check a message's fields and return its text made safe to store. Pure.

    Raises:
        HTTPException: 413 or 422.
    """
    if not MESSAGE_ID.fullmatch(message_id):
        raise HTTPException(422, "message_id must be 1 to 64 letters, digits, dots, dashes or underscores.")
    # A lone surrogate cannot be stored as UTF-8, and NUL not in every database.
    encoded = text.encode("utf-8", "replace").replace(b"\x00", b"")
    if len(encoded) > limits.text_bytes:
        raise HTTPException(413, _too_long(limits))
    clean = encoded.decode("utf-8")
    if not clean.strip() and not files:
        raise HTTPException(422, "The message is empty.")
    return clean


async def _read_json(body: AsyncIterator[bytes], limits: UploadLimits) -> PostedMessage:
    raw = bytearray()
    async for chunk in body:
        raw += chunk
        # JSON may spell one byte of text as six (an escape such as \u001f).
        if len(raw) > 6 * limits.text_bytes + 1024:
            await _drain(body)
            raise HTTPException(413, _too_long(limits))
    try:
        fields = _JsonMessage.model_validate_json(bytes(raw))
    except ValidationError as error:
        raise HTTPException(422, "Send an object with the strings text and message_id.") from error
    return PostedMessage(fields.message_id, check_message(fields.text, fields.message_id, 0, limits))


async def _read_multipart(
    body: AsyncIterator[bytes], boundary: bytes, staging: Staging, scope: str, limits: UploadLimits
) -> PostedMessage:
    form: _Form | None = None
    try:
        form = _Form(staging, limits)
        parser = form.parser(boundary)
        async for chunk in body:
            # Parsing writes files, so it leaves the loop; one chunk at a time keeps it in order.
            await asyncio.to_thread(parser.write, chunk)
        await asyncio.to_thread(parser.finalize)
        text = form.fields.get("text", bytearray()).decode("utf-8", "replace")
        message_id = form.fields.get("message_id", bytearray()).decode("utf-8", "replace")
        text = check_message(text, message_id, len(form.files), limits)
        attachments = await asyncio.to_thread(form.settle, f"{scope}:{message_id}")
        return PostedMessage(message_id, text, attachments)
    except FormParserError as error:
        raise HTTPException(422, "The multipart body is broken.") from error
    except OSError as error:
        if error.errno in _DISK_FULL:
            raise HTTPException(507, "The disk is full, so the file could not be taken.") from error
        raise
    except HTTPException:
        # A client that is still writing would see a broken connection instead of our words.
        await _drain(body)
        raise
    finally:
        if form is not None:
            await asyncio.to_thread(form.discard)


async def _drain(body: AsyncIterator[bytes], max_bytes: int = 1 << 28) -> None:
    async for chunk in body:
        max_bytes -= len(chunk)
        if max_bytes < 0:
            return


def _too_long(limits: UploadLimits) -> str:
    return (
        f"The text is longer than the {limits.text_bytes // 1024} KB a message may have. "
        "Send it as a file instead."
    )


@dataclass(slots=True)
class _StagedFile:
    name: str
    mime: str | None
    path: Path
    handle: BinaryIO
    size: int = 0


@dataclass(slots=True)
class _Form:
    """What the parser's callbacks fill. Runs in a worker thread, one call at a time."""

    staging: Staging
    limits: UploadLimits
    fields: dict[str, bytearray] = field(default_factory=dict)
    files: list[_StagedFile] = field(default_factory=list)
    _header: bytearray = field(default_factory=bytearray)
    _value: bytearray = field(default_factory=bytearray)
    _headers: dict[str, str] = field(default_factory=dict)
    _file: _StagedFile | None = None
    _field: bytearray | None = None
    _total: int = 0
    _ended: bool = False

    def parser(self, boundary: bytes) -> MultipartParser:
        return MultipartParser(
            boundary,
            {
                "on_part_begin": self._headers.clear,
                "on_header_field": lambda data, start, end: self._header.extend(data[start:end]),
                "on_header_value": lambda data, start, end: self._value.extend(data[start:end]),
                "on_header_end": self._on_header_end,
                "on_headers_finished": self._on_headers_finished,
                "on_part_data": self._on_data,
                "on_part_end": self._on_part_end,
                "on_end": self._on_end,
            },
        )

    def _on_header_end(self) -> None:
        self._headers[self._header.decode("latin-1").lower()] = self._value.decode("utf-8", "replace")
        self._header.clear()
        self._value.clear()

    def _on_headers_finished(self) -> None:
        # The parser speaks Latin-1; names are UTF-8, so they take a round trip.
        raw = self._headers.get("content-disposition", "").encode("utf-8").decode("latin-1")
        _, options = parse_options_header(raw)
        name = options.get(b"name", b"").decode("utf-8", "replace")
        if b"filename" in options:
            self._open_file(options[b"filename"].decode("utf-8", "replace"))
        elif name in ("text", "message_id") and name not in self.fields:
            self._field = self.fields[name] = bytearray()
        else:
            raise HTTPException(422, "A message has the fields text and message_id, once each, and files.")

    def _open_file(self, name: str) -> None:
        if len(self.files) == self.limits.files:
            raise HTTPException(413, f"A message may bring {self.limits.files} files at most.")
        mime = self._headers.get("content-type", "").split(";")[0].strip().lower()
        path = self.staging.fresh()
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        handle = os.fdopen(descriptor, "wb")
        self._file = _StagedFile(safe_name(name), mime if _MIME.fullmatch(mime) else None, path, handle)
        self.files.append(self._file)

    def _on_data(self, data: bytes, start: int, end: int) -> None:
        if self._file is not None:
            self._file.size += end - start
            self._total += end - start
            if self._file.size > self.limits.file_bytes:
                mib = self.limits.file_bytes / (1024 * 1024)
                raise HTTPException(
                    413, f"“{self._file.name}” is larger than the {mib:g} MB a file may have."
                )
            if self._total > self.limits.total_bytes:
                mib = self.limits.total_bytes / (1024 * 1024)
                raise HTTPException(413, f"The files are larger than the {mib:g} MB a message may bring.")
            self._file.handle.write(memoryview(data)[start:end])
        elif self._field is not None:
            self._field += data[start:end]
            if len(self._field) > self.limits.text_bytes:
                raise HTTPException(413, _too_long(self.limits))

    def _on_part_end(self) -> None:
        if self._file is not None:
            self._file.handle.flush()
            os.fsync(self._file.handle.fileno())
            self._file.handle.close()
        self._file = self._field = None

    def _on_end(self) -> None:
        self._ended = True

    def settle(self, key: str) -> tuple[Attachment, ...]:
        """Give the files their names, which are the same when the message is posted again."""
        if not self._ended:
            raise FormParserError("The body ended early.")
        digest = hashlib.sha256(key.encode()).hexdigest()[:40]
        attachments = []
        for index, file in enumerate(self.files):
            ref = f"{digest}-{index}"
            os.replace(file.path, self.staging.path(ref))
            attachments.append(Attachment(name=file.name, ref=ref, size=file.size, mime=file.mime))
        self.files.clear()
        return tuple(attachments)

    def discard(self) -> None:
        for file in self.files:
            file.handle.close()
            file.path.unlink(missing_ok=True)
