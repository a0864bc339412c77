"""Messages in several texts: any order, repeated parts, missing ones, parts of others."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ticore.errors import ExtractionError, MissingPartsError
from ticore.steganography._padding import leb128
from ticore.steganography._parts import _MOST_PARTS, Part, join, split
from ticore.steganography._payload import Packing, Payload

payloads = st.builds(
    Payload,
    st.sampled_from([Packing.PLAIN, Packing.DEFLATED, Packing.BY_MODEL]),
    st.binary(max_size=60),
)


@given(payloads, st.integers(1, 70), st.randoms(use_true_random=False))
def test_parts_in_any_order_make_the_payload(payload: Payload, size: int, draw: Random) -> None:
    parts = split(payload, size, draw.randbytes)
    assert len(parts) == max(1, -(-len(payload.data) // size))
    again = [Part.of(part.payload()) for part in parts]
    assert again == parts
    shuffled = again + draw.sample(again, len(again) // 2)
    draw.shuffle(shuffled)
    assert join(shuffled) == payload


@given(st.binary(min_size=2, max_size=60), st.data())
def test_missing_parts_are_named(data: bytes, choose: st.DataObject) -> None:
    parts = split(Payload(Packing.PLAIN, data), 1, Random(1).randbytes)
    gone = choose.draw(st.sets(st.integers(1, len(parts)), min_size=1, max_size=len(parts) - 1))
    with pytest.raises(MissingPartsError, match=r"part \d+.* is missing") as caught:
        join([part for part in parts if part.number not in gone])
    assert caught.value.missing == tuple(sorted(gone))


@pytest.mark.parametrize(("count", "more"), [(11, ""), (12, " and 1 more"), (30, " and 19 more")])
def test_many_missing_parts_are_counted(count: int, more: str) -> None:
    parts = split(Payload(Packing.PLAIN, bytes(count)), 1, Random(1).randbytes)
    named = f"part 2, 3, 4, 5, 6, 7, 8, 9, 10, 11{more} of {count} is missing"
    with pytest.raises(MissingPartsError, match=named):
        join(parts[:1])


@pytest.mark.parametrize("same_id", [False, True])
def test_parts_of_two_messages_are_not_mixed(same_id: bool) -> None:
    draw = Random(2).randbytes
    make = bytes if same_id else draw
    some, others = (split(Payload(Packing.PLAIN, data), 2, make) for data in (b"abcd", b"efgh"))
    with pytest.raises(ExtractionError, match="parts of 2 messages"):
        join([some[0], *others])


def test_without_parts_there_is_no_message() -> None:
    with pytest.raises(ExtractionError, match="found none"):
        join([])


def test_a_whole_payload_is_one_part() -> None:
    payload = Payload(Packing.DEFLATED, b"x")
    assert join([Part.of(payload)]) == payload


@pytest.mark.parametrize(
    "data",
    [
        b"",
        bytes(8),
        bytes(8) + b"\x01\x01",
        bytes(8) + b"\x02\x01\x00",
        bytes(8) + b"\x00\x01\x00x",
        bytes(8) + b"\x01\x01\x03x",
        bytes(8) + leb128(1) + leb128(_MOST_PARTS + 1) + b"\x00x",
    ],
)
def test_damaged_parts_are_refused(data: bytes) -> None:
    with pytest.raises(ExtractionError, match="says nothing about which part it is"):
        Part.of(Payload(Packing.PART, data))


def test_a_message_may_have_the_most_parts() -> None:
    part = Part(bytes(8), _MOST_PARTS, _MOST_PARTS, Packing.PLAIN, b"x")
    assert Part.of(part.payload()) == part
