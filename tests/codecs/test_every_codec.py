"""What every codec keeps: nothing is lost, reader and writer keep pace, choices are as stated."""

from itertools import islice, repeat

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import chisquare

from tests.codecs.passes import (
    LEVEL,
    draws_of,
    messages,
    random_bits,
    random_tail,
    read,
    to_source,
    write,
)
from tests.codecs.tables import endless, tables, weights_of
from ticore.codecs import CODECS, codec_named, unpack_bits, zeros
from ticore.errors import IncompleteMessageError

EVERY = [*CODECS, "sparsamp:1"]
KEYED = [name for name in EVERY if codec_named(name).keyed]
every_codec = pytest.mark.parametrize("name", EVERY)
keyed_codec = pytest.mark.parametrize("name", KEYED)
some_tables = st.lists(tables(), min_size=1, max_size=5)
seeds = st.integers(0, 99)
SINGLE = weights_of([7], 16)


def make(name, draws):
    return codec_named(name).make(draws=draws)


@every_codec
@given(bits=messages, some=some_tables, seed=seeds)
def test_round_trip(name, bits, some, seed):
    codec = make(name, draws_of(seed))
    chosen = write(codec, bits, endless(some, seed), random_tail(seed))
    assert read(codec, chosen, len(bits)) == bits


@every_codec
@pytest.mark.parametrize("length", [0, 1, 63, 64, 65, 4096])
def test_round_trip_at_every_scale(name, length):
    bits, codec = random_bits(length, length), make(name, draws_of(length))
    chosen = write(codec, bits, repeat(weights_of([50, 20, 9, 1, 1, 0], 32)), random_tail(1))
    assert read(codec, chosen, length) == bits


@every_codec
@given(bits=messages, some=some_tables, seed=seeds)
@example(bits=[0], some=[weights_of([1], 8)], seed=0)
def test_what_follows_the_message_does_not_matter(name, bits, some, seed):
    codec, steps = make(name, draws_of(seed)), endless(some, seed)
    chosen = write(codec, bits, steps, random_tail(seed))
    rng = np.random.default_rng(seed)
    more = [(w, int(rng.integers(len(w)))) for w in islice(steps, 30)]
    assert read(codec, chosen + more, len(bits)) == bits


@every_codec
@given(bits=messages, some=some_tables, seed=seeds)
def test_reader_keeps_pace(name, bits, some, seed):
    """After each choice it knows the bits that the writer calls settled, those of the tail too."""
    codec, tail = make(name, draws_of(seed)), random_bits(seed, 4096)
    writer, reader = codec.writer(to_source(bits, to_source(tail, zeros).take)), codec.reader()
    whole = int("".join(map(str, bits + tail)), 2)
    value, steps = 0, endless(some, seed)

    def step(weights):
        nonlocal value
        before, index = writer.settled, writer.choose(weights)
        settled, size = reader.observe(weights, index)
        assert size == writer.settled - before
        value = value << size | settled
        assert value == whole >> len(bits + tail) - writer.settled

    while not writer.done:
        assert writer.settled < len(bits)
        step(next(steps))
    for weights in islice(steps, 20):
        assert writer.done
        step(weights)


@every_codec
@given(bits=messages, table=tables(), singles=st.integers(1, 5))
def test_one_candidate_consumes_nothing(name, bits, table, singles):
    """It is a step all the same: the draws go on."""

    class LaterDraws:
        def at(self, step):
            return draws_of(0).at(step + singles)

    steps = list(islice(endless([table], 1), 30))
    codec = make(name, draws_of(0))
    writer, reader = codec.writer(to_source(bits, zeros)), codec.reader()
    for _ in range(singles):
        assert writer.choose(SINGLE) == 0
        assert reader.observe(SINGLE, 0) == (0, 0)
    assert writer.settled == 0
    assert writer.done == (not bits)
    later = make(name, LaterDraws()).writer(to_source(bits, zeros))
    assert [writer.choose(w) for w in steps] == [later.choose(w) for w in steps]


def choices(name, weights, bits_and_tail_of, count):
    """Of `count` keys and messages: the first two choices, and the one after the message."""
    pairs, lasts = np.zeros((len(weights),) * 2), np.zeros(len(weights))
    for seed in range(count):
        writer = make(name, draws_of(seed)).writer(to_source(*bits_and_tail_of(seed)))
        chosen = [writer.choose(weights), writer.choose(weights)]
        while not writer.done:
            writer.choose(weights)
        pairs[tuple(chosen)] += 1
        lasts[writer.choose(weights)] += 1
    return pairs, lasts


def assert_follow(pairs, lasts, expected):
    for found, shares in ((pairs.ravel(), np.outer(expected, expected).ravel()), (lasts, expected)):
        assert chisquare(found, shares * found.sum()).pvalue > LEVEL


@every_codec
def test_choices_follow_what_is_emitted(name):
    """Of uniform messages; each step's by itself, and none that a stop rule has selected."""
    weights = weights_of([40, 27, 15, 10, 8], 20)
    emitted = make(name, draws_of(0)).emitted(weights)
    assert emitted.sum() == pytest.approx(1)

    def uniform(seed):
        return random_bits(seed, 6), random_tail(seed)

    assert_follow(*choices(name, weights, uniform, 1500), emitted)


@keyed_codec
@pytest.mark.parametrize("bits", [[0] * 6, [1, 1, 0, 1, 0, 0]])
def test_choices_of_one_message_follow_the_weights(name, bits):
    """The security claim: without the key, choices say nothing about the message."""
    weights = weights_of([40, 27, 15, 10, 8], 20)
    found = choices(name, weights, lambda _: (bits, zeros), 1500)
    assert_follow(*found, weights / weights.sum())


@keyed_codec
def test_other_draws_do_not_read_the_message(name):
    """Where enough bits come out at all, half of them are wrong."""
    weights, length, wrong, seen = weights_of([40, 27, 15, 10, 8], 20), 256, 0, 0
    for seed in range(20):
        bits = random_bits(seed, length)
        chosen = write(make(name, draws_of(seed)), bits, repeat(weights), random_tail(seed))
        reader, found = make(name, draws_of(seed + 1000)).reader(), []
        for step in chosen:
            found += unpack_bits(*reader.observe(*step))
        wrong += sum(a != b for a, b in zip(found, bits, strict=False))
        seen += min(len(found), length)
    assert seen > 2000
    assert chisquare([wrong, seen - wrong]).pvalue > LEVEL


@every_codec
def test_writers_of_one_codec_do_not_disturb_each_other(name):
    codec, steps = make(name, draws_of(3)), list(islice(endless([weights_of([5, 2, 1], 8)], 1), 40))
    writers = [codec.writer(to_source([1, 0] * 40, zeros)) for _ in range(2)]
    first, second = zip(*([w.choose(step) for w in writers] for step in steps), strict=True)
    assert first == second


@every_codec
def test_a_short_text_is_told_from_a_whole_one(name):
    reader = make(name, draws_of(0)).reader()
    assert reader.remainder(0) == reader.remainder(-3) == 0
    with pytest.raises(IncompleteMessageError, match="9 bits before"):
        reader.remainder(9)


@every_codec
@pytest.mark.parametrize("tokens", [2, 4096, 1 << 17])
def test_pools_of_any_size(name, tokens):
    weights = weights_of(np.arange(tokens, 0, -1), 32)
    bits, codec = random_bits(tokens, 40), make(name, draws_of(tokens))
    chosen = write(codec, bits, repeat(weights), random_tail(1))
    assert read(codec, chosen, 40) == bits
