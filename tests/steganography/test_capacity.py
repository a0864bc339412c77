"""A message that cannot fit is refused early, and one that fits is never refused."""

from __future__ import annotations

import math
import random
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.toy_models import ToyModel, ToyTokenizer
from ticore import Steganographer
from ticore.errors import CapacityError
from ticore.steganography._capacity import Capacity, NoRoomError

MOST_CHOICES = 64
SEEDS = st.integers(0, 2**32)


def _carried(seed: int, room: int, rate: float, drift: float) -> list[int]:
    """Bits that are in after each token, as in text: single tokens carry 0 to 12 bits, and the
    mean of a stretch wanders around `rate`."""
    draw = random.Random(seed)
    around, total, after = rate, 0.0, []
    for _ in range(room):
        around += drift * draw.gauss(0, 0.1) + 0.02 * (rate - around)
        around = min(5.5, max(0.2, around))
        total += min(12.0, draw.gammavariate(2.5, around / 2.5))
        after.append(int(total))
    return after


def _refused_after(length: int, after: list[int], block: int = 1) -> int | None:
    """After how many tokens a message is refused, if bits are settled in whole blocks."""
    try:
        capacity = Capacity(length, len(after), MOST_CHOICES)
    except NoRoomError:
        return 0
    for tokens, carried in enumerate(after, 1):
        pending = carried % block
        if (settled := carried - pending) >= length:
            return None
        try:
            capacity.after(tokens, settled, pending)
        except NoRoomError:
            return tokens
    return None


@settings(max_examples=60, deadline=None)
@given(
    SEEDS,
    st.integers(10, 2_000),
    st.floats(0.3, 5),
    st.floats(0, 1.5),
    st.floats(0.01, 1),
    st.sampled_from([1, 64, 1024]),
)
@example(seed=1, room=2040, rate=4.0, drift=1.0, share=1.0, block=1)
def test_capacity_accepts_every_message_that_fits(
    seed: int, room: int, rate: float, drift: float, share: float, block: int
) -> None:
    after = _carried(seed, room, rate, drift)
    assert _refused_after(int((after[-1] - after[-1] % block) * share), after, block) is None


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.floats(2, 4.5), st.sampled_from([1, 64, 1024]))
def test_capacity_refuses_early_when_the_message_does_not_fit(
    seed: int, rate: float, block: int
) -> None:
    room = 2040
    after = _carried(seed, room, rate, drift=0.3)
    for excess, part in ((1.5, 0.45), (2, 0.25), (3, 0.13)):
        refused = _refused_after(int(after[-1] * excess), after, block)
        assert refused is not None
        assert refused <= part * room


@given(SEEDS, st.integers(1, 500), st.integers(2, 5_000))
def test_capacity_refuses_at_once_when_no_text_can_carry_the_message(
    seed: int, room: int, choices: int
) -> None:
    most = int(room * math.log2(choices))
    Capacity(most, room, choices)
    with pytest.raises(NoRoomError, match=f"takes {most + 1} bits.*at most {most} bits") as caught:
        Capacity(most + 1, room, choices)
    assert caught.value.fits == most


@pytest.mark.parametrize("window", [None, 4])
def test_embed_says_that_one_candidate_leaves_no_choice(window: int | None) -> None:
    model = ToyModel(ToyTokenizer(list("abcd")))
    stego = Steganographer(model, key=bytes(32), prompt="a", top_k=1, window=window)
    with pytest.raises(CapacityError, match=r"^expected at least two candidates.*; raise top_k$"):
        stego.embed(b"hi")


def test_capacity_accepts_a_text_when_it_starts_with_few_choices() -> None:
    """Little is known after a beginning without choices: the rest may carry far more."""
    after = [n // 20 for n in range(256)]
    after += [after[-1] + int(4 * n) for n in range(1, 1_700)]
    assert _refused_after(after[-1] // 2, after) is None


def test_capacity_says_what_whole_blocks_carried_when_the_context_is_full() -> None:
    capacity = Capacity(20, 10, MOST_CHOICES)
    with pytest.raises(NoRoomError, match=r"10 tokens carried 16 of them.*is full") as found:
        capacity.after(10, 16, 15.0)
    assert found.value.fits == 16


# 5 bits each at most, by their weights about 3; compared by bytes, which is quick in long texts.
WORDS = ToyTokenizer(list("abcdefghijklmnopqrstuvwxyz012345"))
ROOM = 1_000
MODEL = ToyModel(WORDS, sharpness=1.7, context=ROOM)


def test_what_the_error_says_of_padding_is_what_usually_fits() -> None:
    """And not the bound, which no text goes beyond and few come near."""
    stego = Steganographer(MODEL, key=bytes(32), entropy=random.Random(3).randbytes)
    with pytest.raises(CapacityError) as caught:
        stego.embed(random.Random(1).randbytes(2_000))
    said = re.search(
        r"at most ([\d,]+) bytes and usually about ([\d,]+) fit .*\(([\d,]+) if padded",
        str(caught.value),
    )
    assert said is not None
    most, usually, padded = (int(number.replace(",", "")) for number in said.groups())
    assert padded == caught.value.fitting_bytes
    assert padded <= usually < most


def test_embed_refuses_long_before_the_context_is_full() -> None:
    stego = Steganographer(
        MODEL,
        key=bytes(32),
        disambiguation="basic",
        finish="none",
        pad="none",
        entropy=random.Random(3).randbytes,
    )
    done: list[int] = []
    rate = stego.embed(bytes(random.Random(1).randbytes(100))).bits_per_token
    most = int(rate * ROOM / 8)  # bytes, the frame included
    fits = random.Random(2).randbytes(int(0.9 * most))
    assert stego.extract(stego.embed(fits)) == fits

    too_long = random.Random(2).randbytes(int(1.3 * most))
    assert 8 * len(too_long) < ROOM * 5  # the bound by the number of candidates does not help
    with pytest.raises(
        CapacityError, match=r"about [\d,]+ bytes fit that do not compress"
    ) as caught:
        stego.embed(too_long, progress=lambda now, _total: done.append(now))
    assert len(done) < 0.4 * ROOM
    said = str(caught.value)
    assert f"found {len(too_long):,}" in said
    figure = re.search(r"about ([\d,]+) bytes", said)
    assert figure is not None
    assert 0.8 * most < int(figure[1].replace(",", "")) < 1.2 * most


def test_embed_writes_a_message_that_fits_with_large_blocks() -> None:
    message = random.Random(2).randbytes(290)
    stego = Steganographer(
        MODEL,
        key=bytes(32),
        codec="sparsamp:1024",
        disambiguation="basic",
        finish="none",
        pad="none",
        entropy=random.Random(3).randbytes,
    )
    assert stego.extract(stego.embed(message)) == message
