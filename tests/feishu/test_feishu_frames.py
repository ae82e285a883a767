"""Frames: what is written can be read, and nothing that is not one does harm."""

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.feishu.assembly import PART_SECONDS, Assembler
from channels.feishu.frames import Frame, MalformedFrameError, answer_frame, decode, encode, ping_frame

U64 = st.integers(0, 2**64 - 1)
I32 = st.integers(-(2**31), 2**31 - 1)
TEXT = st.text(st.characters(exclude_categories=["Cs"]))
FRAMES = st.builds(
    Frame,
    U64,
    U64,
    I32,
    I32,
    st.lists(st.tuples(TEXT, TEXT), max_size=8).map(tuple),
    st.none() | TEXT,
    st.none() | TEXT,
    st.none() | st.binary(),
    st.none() | TEXT,
)


@given(FRAMES)
def test_a_frame_survives_the_way_there_and_back(frame):
    assert decode(encode(frame)) == frame


def test_a_frame_written_by_hand_is_read():
    data = bytes.fromhex("080310ac02180720012a0c0a0474797065120470696e6742027b7d")

    assert decode(data) == Frame(3, 300, 7, 1, (("type", "ping"),), payload=b"{}")
    assert encode(decode(data)) == data


def test_a_negative_number_takes_ten_bytes_as_protocol_buffers_have_it():
    assert encode(Frame(0, 0, -1, 0)).hex() == "0800100018ffffffffffffffffff012000"


@given(st.binary(max_size=200))
def test_any_bytes_are_a_frame_or_malformed(data):
    try:
        frame = decode(data)
    except MalformedFrameError:
        return
    assert decode(encode(frame)) == frame


@given(FRAMES, st.data())
def test_a_cut_frame_is_malformed_or_shorter(frame, data):
    whole = encode(frame)
    cut = whole[: data.draw(st.integers(0, len(whole)))]
    try:
        decode(cut)
    except MalformedFrameError:
        return
    assert len(cut) > 7


def test_unknown_fields_are_skipped():
    known = encode(ping_frame(7))
    unknown = bytes.fromhex("50015d010203046101020304050607086a03616263")

    assert decode(unknown + known) == decode(known + unknown) == ping_frame(7)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x08\x01\x10\x01\x18\x01",
        b"\x00\x01",
        b"\x0b\x01",
        b"\x08" + b"\xff" * 11,
        b"\x42\xff\xff\xff\xff\x0f",
        encode(ping_frame(1)) + b"\x2a\x02\x0a\x00",
        encode(ping_frame(1)) + b"\x32\x01\xff",
        encode(Frame(0, 0, 0, 0, (("k", "v"),) * 65)),
    ],
)
def test_what_breaks_the_rules_is_malformed(data):
    with pytest.raises(MalformedFrameError):
        decode(data)


def test_an_answer_is_the_frame_with_a_code_and_what_a_card_is_to_show():
    event = Frame(5, 6, 7, 1, (("type", "event"), ("message_id", "m")), "none", "json", b"{}", "log")
    answer = answer_frame(event, 200, {"toast": {"type": "info"}}, 12)
    body = json.loads(answer.payload)

    assert answer.headers == (*event.headers, ("biz_rt", "12"))
    assert (answer.seq_id, answer.log_id, answer.service, answer.log_id_new) == (5, 6, 7, "log")
    assert body["code"] == 200
    assert json.loads(base64.b64decode(body["data"])) == {"toast": {"type": "info"}}
    assert json.loads(answer_frame(event, 500).payload) == {"code": 500}


def part(index, total, payload, message="m"):
    headers = (("type", "event"), ("message_id", message), ("sum", str(total)), ("seq", str(index)))
    return Frame(0, 0, 0, 1, headers, payload=payload)


@given(st.lists(st.binary(min_size=1), min_size=2, max_size=20), st.randoms())
def test_parts_make_the_whole_in_any_order_even_if_some_come_twice(parts, chance):
    order = [*enumerate(parts), *enumerate(parts[:-1])]
    chance.shuffle(order)
    assembler = Assembler(lambda: 0.0)
    whole = [assembler.add(part(index, len(parts), payload)) for index, payload in order]

    assert next(one for one in whole if one is not None) == b"".join(parts)


def test_parts_of_two_events_do_not_mix():
    assembler = Assembler(lambda: 0.0)
    assert assembler.add(part(0, 2, b"a", "x")) is None
    assert assembler.add(part(1, 2, b"B", "y")) is None
    assert assembler.add(part(1, 2, b"b", "x")) == b"ab"
    assert assembler.add(part(0, 2, b"A", "y")) == b"AB"


def test_parts_that_come_too_late_do_not_make_a_whole():
    now = [0.0]
    assembler = Assembler(lambda: now[0])
    assert assembler.add(part(0, 2, b"old")) is None
    now[0] = PART_SECONDS + 0.1
    assert assembler.add(part(1, 2, b"new")) is None
    assert assembler.add(part(0, 2, b"re")) == b"renew"


@pytest.mark.parametrize(("index", "total"), [(2, 2), (-1, 2), ("x", 2), (0, 10**9), (0, 1001)])
def test_parts_with_impossible_numbers_are_left_out(index, total):
    assert Assembler(lambda: 0.0).add(part(index, total, b"x")) is None


@pytest.mark.parametrize("total", ["", "x", "0", "1", "-3"])
def test_without_a_count_a_frame_is_whole(total):
    assert Assembler(lambda: 0.0).add(part(0, total, b"x")) == b"x"


def test_what_never_becomes_whole_takes_a_limited_room():
    assembler = Assembler(lambda: 0.0)
    for number in range(1000):
        assembler.add(part(0, 2, b"x" * 1_000_000, f"m{number}"))

    assert assembler.add(part(1, 2, b"!", "m999")) == b"x" * 1_000_000 + b"!"
    assert assembler.add(part(1, 2, b"!", "m0")) is None
