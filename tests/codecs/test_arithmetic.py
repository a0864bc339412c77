"""Arithmetic coding: the round trip, the distribution, constant cost, both stop rules."""

from fractions import Fraction
from itertools import islice, repeat

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import chisquare

from tests.support import codec_runs
from tests.support.codec_runs import LEVEL, messages, random_tail, read, to_source
from tests.support.weight_tables import endless, tables, weights_of
from ticore.codecs import ArithmeticCodec, BitSource, zeros
from ticore.errors import IncompleteMessageError, SettingsError

STOPS = pytest.mark.parametrize("stop", ["exact", "paper"])
long_messages = messages | st.builds(lambda bit: [bit] * 4096, st.integers(0, 1))


def write(codec, bits, steps, seed=0):
    """Indices chosen for `bits`, with the weights they were chosen from."""
    tail = zeros if codec.stop == "paper" else random_tail(seed)
    return codec_runs.write(codec, bits, steps, tail)


@pytest.mark.slow
@STOPS
@given(bits=long_messages, some=st.lists(tables(), min_size=1, max_size=5), seed=st.integers(0, 99))
def test_arithmetic_reader_reads_what_the_writer_wrote(stop, bits, some, seed):
    codec = ArithmeticCodec(stop)
    chosen = write(codec, bits, endless(some, seed), seed)
    assert read(codec, chosen, len(bits)) == bits


@STOPS
@pytest.mark.parametrize("length", [0, 1, 2, 63, 64, 65, 1000, 4096])
@pytest.mark.parametrize("fill", ["zeros", "ones", "random"])
def test_arithmetic_reader_reads_what_the_writer_wrote_at_every_scale(stop, length, fill):
    rng = np.random.default_rng(length)
    bits = {"zeros": [0] * length, "ones": [1] * length, "random": rng.integers(0, 2, length)}
    bits = [int(b) for b in bits[fill]]
    codec = ArithmeticCodec(stop)
    chosen = write(codec, bits, repeat(weights_of([50, 20, 9, 1, 1, 0], 32)))
    assert read(codec, chosen, length) == bits


@given(bits=long_messages, some=st.lists(tables(), min_size=1, max_size=4), seed=st.integers(0, 99))
@example(bits=[0], some=[weights_of([1], 8)], seed=0)
def test_arithmetic_choices_do_not_depend_on_what_follows_the_message(bits, some, seed):
    codec = ArithmeticCodec()
    steps = endless(some, seed)
    chosen = write(codec, bits, steps)
    rng = np.random.default_rng(seed)
    more = [(w, int(rng.integers(len(w)))) for w in islice(steps, 30)]
    assert read(codec, chosen + more, len(bits)) == bits


@pytest.mark.slow
@given(bits=long_messages, table=tables())
def test_arithmetic_writer_uses_no_bits_when_there_is_one_candidate(bits, table):
    single = weights_of([7], 16)

    def choices(steps):
        chosen = write(ArithmeticCodec(), bits, steps)
        return [index for weights, index in chosen if len(weights) > 1]

    doubled = (w for table in endless([table], 1) for w in (single, table))
    assert choices(doubled) == choices(endless([table], 1))


@pytest.mark.slow
def test_arithmetic_choices_follow_the_weights():
    """Uniform messages make choices with the pool's probabilities, the last ones included."""
    weights = weights_of([40, 30, 15, 10, 4, 1], 20)
    codec, rng = ArithmeticCodec(), np.random.default_rng(5)
    first, last, lengths = np.zeros(6), np.zeros(6), []
    for seed in range(6000):
        bits = rng.integers(0, 2, 24).tolist()
        chosen = write(codec, bits, repeat(weights), seed)
        first[chosen[0][1]] += 1
        # The choice after the message is done, which no stop rule can have selected.
        tail = codec.writer(to_source(bits, random_tail(seed)))
        for _ in range(len(chosen) + 1):
            index = tail.choose(weights)
        last[index] += 1
        lengths.append(len(chosen))
    expected = weights / weights.sum() * 6000
    assert chisquare(first, expected).pvalue > LEVEL
    assert chisquare(last, expected).pvalue > LEVEL


def test_arithmetic_intervals_are_those_of_exact_fractions():
    """The bits settled by choices are the common prefix of an interval computed with fractions."""
    rng = np.random.default_rng(11)
    for _ in range(50):
        low, width, reader, value, count = (
            Fraction(0),
            Fraction(1),
            ArithmeticCodec().reader(),
            0,
            0,
        )
        for _ in range(8):
            weights = weights_of(rng.integers(0, 1000, 5), 16)
            index = int(rng.integers(5))
            settled, size = reader.observe(weights, index)
            value, count = value << size | settled, count + size
            low += width * Fraction(int(weights[:index].sum()), 1 << 16)
            width *= Fraction(int(weights[index]), 1 << 16)
        assert Fraction(value, 1 << count) <= low
        assert low + width <= Fraction(value + 1, 1 << count)
        halves = [(Fraction(2 * value + b, 2 << count), Fraction(1, 2 << count)) for b in (0, 1)]
        assert not any(start <= low and low + width <= start + size for start, size in halves)


def test_paper_rule_needs_fewer_tokens():
    """It stops earlier: more bits per token at 128 bits, as the paper's implementation."""
    rng, weights = np.random.default_rng(2), weights_of([40, 30, 15, 10, 4, 1], 24)
    counts = {"exact": 0, "paper": 0}
    for _ in range(200):
        bits = rng.integers(0, 2, 128).tolist()
        for stop in counts:
            counts[stop] += len(write(ArithmeticCodec(stop), bits, repeat(weights)))
    assert counts["paper"] < counts["exact"]


@pytest.mark.slow
def test_arithmetic_numbers_stay_small_when_the_message_is_long():
    """The state's size, and with it the cost of a token, does not grow with the message."""
    data = np.random.default_rng(3).bytes(1 << 17)
    weights = np.full(4096, 1 << 20)
    writer, reader = ArithmeticCodec().writer(BitSource(data, 8 << 17)), ArithmeticCodec().reader()
    out, pending, count, widest = bytearray(), 0, 0, 0
    while not writer.done:
        value, size = reader.observe(weights, writer.choose(weights))
        pending, count = pending << size | value, count + size
        widest = max(widest, reader._interval.window)
        if count >= 4096:
            spare = count % 8
            out += (pending >> spare).to_bytes(count // 8)
            pending, count = pending & (1 << spare) - 1, spare
    out += (pending >> count % 8).to_bytes(count // 8)
    assert bytes(out[: 1 << 17]) == data
    assert widest < 512


def test_arithmetic_reader_raises_when_the_text_was_cut():
    reader = ArithmeticCodec().reader()
    assert reader.remainder(0) == 0
    with pytest.raises(IncompleteMessageError, match="9 bits before"):
        reader.remainder(9)


@pytest.mark.parametrize("chosen", [[0], [1], [0, 1], [1, 0, 0]])
def test_paper_reader_refuses_a_text_that_is_cut_by_any_number_of_bits(chosen):
    """Also by a single bit."""
    reader = ArithmeticCodec("paper").reader()
    for index in chosen:
        reader.observe(np.array([1, 2**32 - 1]), index)
    told = reader._interval.window
    for count in range(told + 1):
        assert reader.remainder(count) >= 0
    for count in range(told + 1, told + 9):
        with pytest.raises(IncompleteMessageError, match=f"{count} bits before"):
            reader.remainder(count)


def test_arithmetic_codec_refuses_unknown_stop_rules():
    with pytest.raises(SettingsError, match="'exact' or 'paper', found 'soon'"):
        ArithmeticCodec("soon")


def test_arithmetic_choices_are_those_of_former_versions():
    """Old texts stay readable: these choices belong to these bits for ever."""
    steps = [weights_of(masses, 32) for masses in ([9, 3, 1], [1, 1], [7, 5, 5, 0], [100, 1])] * 8
    writer = ArithmeticCodec().writer(BitSource(bytes.fromhex("c0ffee15600d"), 48, zeros))
    golden = "10100100011000200100012001200100"
    assert "".join(str(writer.choose(weights)) for weights in steps) == golden
    assert writer.settled == 26
