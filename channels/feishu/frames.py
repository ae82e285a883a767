"""The frames of a long connection: Protocol Buffers (proto2, ``pbbp2.Frame``), nine fields. Pure.

The wire format is that of the platform's own SDKs, which hold the message definition.
"""

import json
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import IntEnum

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_U64 = (1 << 64) - 1
_LONGEST_VARINT = 10
_MOST_HEADERS = 64


class MalformedFrameError(ValueError):
    """Bytes that are no frame."""


class Method(IntEnum):
    """What kind of frame it is."""

    CONTROL = 0
    DATA = 1


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame.

    Args:
        seq_id: Counts frames, if the sender counts.
        log_id: For the platform's own records.
        service: The connection's service id.
        method: See :class:`Method`; other numbers may come.
        headers: Names and values, in order.
        payload_encoding: As received; echoed in an answer.
        payload_type: As received; echoed in an answer.
        payload: The content, or one part of it.
        log_id_new: For the platform's own records.
    """

    seq_id: int
    log_id: int
    service: int
    method: int
    headers: tuple[tuple[str, str], ...] = ()
    payload_encoding: str | None = None
    payload_type: str | None = None
    payload: bytes | None = None
    log_id_new: str | None = None

    def header(self, name: str) -> str:
        """The value of a header, empty if there is none."""
        return next((value for key, value in self.headers if key == name), "")


def ping_frame(service: int) -> Frame:
    """The ping that the platform wants from a client now and then."""
    return Frame(0, 0, service, Method.CONTROL, (("type", "ping"),))


def answer_frame(frame: Frame, code: int, data: object = None, took_ms: int = 0) -> Frame:
    """The acknowledgement of a data frame.

    Args:
        frame: What is answered.
        code: 200, or 500 to have it delivered again.
        data: What to answer to a callback, as JSON; None for an event.
        took_ms: How long the work took.
    """
    body: dict[str, object] = {"code": code}
    if data is not None:
        body["data"] = b64encode(json.dumps(data).encode()).decode()
    headers = (*frame.headers, ("biz_rt", str(took_ms)))
    return replace(frame, headers=headers, payload=json.dumps(body).encode())


def encode(frame: Frame) -> bytes:
    """A frame as bytes."""
    parts = [
        _number(1, frame.seq_id),
        _number(2, frame.log_id),
        _number(3, frame.service),
        _number(4, frame.method),
    ]
    for key, value in frame.headers:
        parts.append(_bytes(5, _bytes(1, key.encode()) + _bytes(2, value.encode())))
    for field, text in ((6, frame.payload_encoding), (7, frame.payload_type)):
        if text is not None:
            parts.append(_bytes(field, text.encode()))
    if frame.payload is not None:
        parts.append(_bytes(8, frame.payload))
    if frame.log_id_new is not None:
        parts.append(_bytes(9, frame.log_id_new.encode()))
    return b"".join(parts)


def decode(data: bytes) -> Frame:
    """Read a frame. Unknown fields are skipped, as Protocol Buffers have it.

    Raises:
        MalformedFrameError: It is none.
    """
    numbers: dict[int, int] = {}
    blobs: dict[int, bytes] = {}
    headers: list[tuple[str, str]] = []
    for field, value in _fields(data):
        if isinstance(value, int):
            numbers[field] = value
        elif field == 5:
            headers.append(_header(value))
            if len(headers) > _MOST_HEADERS:
                raise MalformedFrameError("too many headers")
        else:
            blobs[field] = value
    if not all(field in numbers for field in (1, 2, 3, 4)):
        raise MalformedFrameError("a required field is missing")
    return Frame(
        numbers[1],
        numbers[2],
        _int32(numbers[3]),
        _int32(numbers[4]),
        tuple(headers),
        _optional_text(blobs.get(6)),
        _optional_text(blobs.get(7)),
        blobs.get(8),
        _optional_text(blobs.get(9)),
    )


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3 | _VARINT) + _varint(value & _U64)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | _BYTES) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Field numbers and values of the wire types that frames use."""
    at = 0
    while at < len(data):
        tag, at = _read_varint(data, at)
        field, kind = tag >> 3, tag & 7
        if field == 0:
            raise MalformedFrameError("field number 0")
        if kind == _VARINT:
            value, at = _read_varint(data, at)
            yield field, value
            continue
        if kind == _BYTES:
            size, at = _read_varint(data, at)
        elif kind in (_FIXED64, _FIXED32):
            size = 8 if kind == _FIXED64 else 4
        else:
            raise MalformedFrameError(f"wire type {kind}")
        if at + size > len(data):
            raise MalformedFrameError("cut off")
        if kind == _BYTES:
            yield field, data[at : at + size]
        at += size


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for index in range(_LONGEST_VARINT):
        if at + index >= len(data):
            raise MalformedFrameError("cut off")
        byte = data[at + index]
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return value & _U64, at + index + 1
    raise MalformedFrameError("a number is too long")


def _header(data: bytes) -> tuple[str, str]:
    found = {field: value for field, value in _fields(data) if isinstance(value, bytes)}
    if 1 not in found or 2 not in found:
        raise MalformedFrameError("a header without name or value")
    return _text(found[1]), _text(found[2])


def _optional_text(value: bytes | None) -> str | None:
    return None if value is None else _text(value)


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise MalformedFrameError("text that is not UTF-8") from None


def _int32(value: int) -> int:
    low = value & 0xFFFFFFFF
    return low - (1 << 32) if low >> 31 else low
