"""What every codec keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, repeat
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from .._support.shared_randomness import RandomBitStream, SharedRandomness
from ..candidates import Ints, to_weights
from ..codecs import BitSource, Codec, ForkingReader, forked, pack_bits, unpack_bits, zeros
from ..errors import IncompleteMessageError
from ._same import require_same

MakeCodec = Callable[[SharedRandomness], Codec]
Tail = Callable[[int], int]
Chosen = list[tuple[Ints, int]]

LEVEL = 1e-4
"""A fit with a smaller p-value fails. Seeds are fixed, so a test passes always or never."""

messages = st.one_of(
    st.lists(st.integers(0, 1), max_size=200),
    st.builds(lambda bit, n: [bit] * n, st.integers(0, 1), st.sampled_from([0, 1, 127, 128])),
)
"""Messages as lists of bits."""


def weights_of(masses: Sequence[int] | npt.NDArray[Any], bits: int) -> Ints:
    """Integer weights from arbitrary masses, as those of a pool."""
    return to_weights(np.array(masses, dtype=np.int64), bits)


def tables(max_tokens: int = 12) -> st.SearchStrategy[Ints]:
    """Weights of 1 to `max_tokens` candidates: some equal, near-certain or very small."""
    mass = st.one_of(st.integers(0, 1 << 30), st.sampled_from([0, 1, 1 << 30]))
    masses = st.lists(mass, min_size=1, max_size=max_tokens)
    return st.builds(weights_of, masses, st.integers(8, 32))


def endless(some: Sequence[Ints], seed: int) -> Iterator[Ints]:
    """Endless weights drawn from `some`, with real choices among them."""
    rng = np.random.default_rng(seed)
    open_choice = weights_of([5, 3, 1, 1], 16)
    while True:
        yield some[int(rng.integers(len(some)))]
        if rng.random() < 0.5:
            yield open_choice


def randomness_of(seed: int) -> SharedRandomness:
    """Random numbers that writer and reader share."""
    return SharedRandomness(seed.to_bytes(16, "big"), "codec")


def random_bits(seed: int, count: int) -> list[int]:
    """A random message."""
    bits: list[int] = np.random.default_rng(seed).integers(0, 2, count).tolist()
    return bits


def random_tail(seed: int) -> Tail:
    """Random bits to follow a message, independent of `random_bits` of the same seed."""
    rng = np.random.default_rng((seed, 1))
    return lambda count: int.from_bytes(rng.bytes(-(-count // 8))) >> (-count % 8)


def to_source(bits: Sequence[int], tail: Tail) -> BitSource:
    """The bits of a message, then those of `tail`."""
    return BitSource(pack_bits(bits), len(bits), tail)


def write(codec: Codec, bits: Sequence[int], steps: Iterable[Ints], tail: Tail) -> Chosen:
    """The choices for a message, with the weights of each."""
    writer, chosen = codec.writer(to_source(bits, tail)), Chosen()
    for weights in steps:
        if writer.done:
            return chosen
        chosen.append((weights, writer.choose(weights)))
    raise AssertionError("the writer did not finish")


def read(codec: Codec, chosen: Chosen, length: int) -> list[int]:
    """The message of some choices."""
    reader, value, count = codec.reader(), 0, 0
    for weights, index in chosen:
        settled, size = reader.observe(weights, index)
        assert 0 <= settled < 1 << size or settled == size == 0
        value, count = value << size | settled, count + size
    if count < length:
        value, count = value << (length - count) | reader.remainder(length - count), length
    return list(unpack_bits(value >> count - length, length))


_some_tables = st.lists(tables(), min_size=1, max_size=5)
_seeds = st.integers(0, 99)
_SINGLE = weights_of([7], 16)
_FIVE = weights_of([40, 27, 15, 10, 8], 20)


class CodecContract:
    """A codec gives every message back, and its choices have the probabilities that it states.

    Needs a fixture `make_codec`: a function from shared random numbers to a codec. A codec that
    draws nothing ignores them.

    Attributes:
        most_tokens: the largest pool that is tried.

    A complete test file, for a codec of one bit per token:

        import numpy as np
        import pytest

        from ticore.errors import IncompleteMessageError
        from ticore.testing import CodecContract


        class HalfAndHalf:
            # Bit 0 chooses the first token, bit 1 the second. One token alone carries nothing.
            def writer(self, bits):
                return HalfWriter(bits)

            def reader(self):
                return HalfReader()

            def emitted(self, weights):
                chosen = min(2, len(weights))
                return np.array([1 / chosen] * chosen + [0.0] * (len(weights) - chosen))


        class HalfWriter:
            def __init__(self, bits):
                self.bits, self.settled = bits, 0

            @property
            def done(self):
                return self.settled >= self.bits.length

            def choose(self, weights):
                if len(weights) < 2:
                    return 0
                self.settled += 1
                return self.bits.take(1)


        class HalfReader:
            def observe(self, weights, index):
                return (index % 2, 1) if len(weights) > 1 else (0, 0)

            def remainder(self, count):
                if count > 0:
                    raise IncompleteMessageError(f"the text ends {count} bits before its message")
                return 0


        class TestHalfAndHalf(CodecContract):
            @pytest.fixture
            def make_codec(self):
                return lambda draws: HalfAndHalf()
    """

    most_tokens: ClassVar[int] = 1 << 17

    def test_message_is_read_back(self, make_codec: MakeCodec) -> None:
        @settings(deadline=None)
        @given(bits=messages, some=_some_tables, seed=_seeds)
        def check(bits: list[int], some: list[Ints], seed: int) -> None:
            codec = make_codec(randomness_of(seed))
            chosen = write(codec, bits, endless(some, seed), random_tail(seed))
            require_same(read(codec, chosen, len(bits)), bits, "the message")

        check()

    @pytest.mark.parametrize("length", [0, 1, 63, 64, 65, 4096])
    def test_message_of_any_length_is_read_back(self, make_codec: MakeCodec, length: int) -> None:
        bits, codec = random_bits(length, length), make_codec(randomness_of(length))
        weights = weights_of([50, 20, 9, 1, 1, 0], 32)
        chosen = write(codec, bits, repeat(weights), random_tail(1))
        require_same(read(codec, chosen, length), bits, "the message")

    @pytest.mark.parametrize("tokens", [2, 4096, 1 << 17])
    def test_message_is_read_back_from_pools_of_any_size(
        self, make_codec: MakeCodec, tokens: int
    ) -> None:
        if tokens > self.most_tokens:
            pytest.skip(f"this codec takes pools of at most {self.most_tokens} tokens")
        weights = weights_of(np.arange(tokens, 0, -1), 32)
        bits, codec = random_bits(tokens, 40), make_codec(randomness_of(tokens))
        chosen = write(codec, bits, repeat(weights), random_tail(1))
        require_same(read(codec, chosen, 40), bits, "the message")

    def test_choices_after_the_message_do_not_change_what_is_read(
        self, make_codec: MakeCodec
    ) -> None:
        @settings(deadline=None)
        @given(bits=messages, some=_some_tables, seed=_seeds)
        @example(bits=[0], some=[weights_of([1], 8)], seed=0)
        def check(bits: list[int], some: list[Ints], seed: int) -> None:
            codec, steps = make_codec(randomness_of(seed)), endless(some, seed)
            chosen = write(codec, bits, steps, random_tail(seed))
            rng = np.random.default_rng(seed)
            more = [(w, int(rng.integers(len(w)))) for w in islice(steps, 30)]
            require_same(read(codec, chosen + more, len(bits)), bits, "the message")

        check()

    def test_reader_knows_after_each_choice_the_bits_that_the_writer_calls_settled(
        self, make_codec: MakeCodec
    ) -> None:
        """This includes the bits after the message."""

        @settings(deadline=None)
        @given(bits=messages, some=_some_tables, seed=_seeds)
        def check(bits: list[int], some: list[Ints], seed: int) -> None:
            codec, tail = make_codec(randomness_of(seed)), random_bits(seed, 4096)
            writer = codec.writer(to_source(bits, to_source(tail, zeros).take))
            reader = codec.reader()
            whole = int("".join(map(str, bits + tail)), 2)
            value, steps = 0, endless(some, seed)

            def step(weights: Ints) -> None:
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

        check()

    def test_a_fork_of_the_reader_and_the_reader_go_on_apart(self, make_codec: MakeCodec) -> None:
        """Readers need not fork, unless a disambiguation searches."""
        if not isinstance(make_codec(randomness_of(0)).reader(), ForkingReader):
            pytest.skip("the readers of this codec do not fork")

        @settings(deadline=None, max_examples=30)
        @given(bits=messages, some=_some_tables, seed=_seeds)
        def check(bits: list[int], some: list[Ints], seed: int) -> None:
            codec, rng = make_codec(randomness_of(seed)), np.random.default_rng(seed)
            reader, steps = codec.reader(), endless(some, seed)
            for weights, index in write(codec, bits, steps, random_tail(seed)):
                fork, other = forked(reader), forked(reader)
                for more in islice(steps, 3):
                    other.observe(more, int(rng.integers(len(more))))
                expected = reader.observe(weights, index)
                assert fork.observe(weights, index) == expected
                reader = fork

        check()

    def test_one_candidate_settles_nothing_but_counts_as_a_step(
        self, make_codec: MakeCodec
    ) -> None:
        """The shared random numbers go on with each step."""

        @settings(deadline=None)
        @given(bits=messages, table=tables(), singles=st.integers(1, 5))
        def check(bits: list[int], table: Ints, singles: int) -> None:
            steps = list(islice(endless([table], 1), 30))
            codec = make_codec(randomness_of(0))
            writer, reader = codec.writer(to_source(bits, zeros)), codec.reader()
            for _ in range(singles):
                assert writer.choose(_SINGLE) == 0
                assert reader.observe(_SINGLE, 0) == (0, 0)
            assert writer.settled == 0
            assert writer.done == (not bits)
            later = make_codec(_LaterDraws(singles)).writer(to_source(bits, zeros))
            assert [writer.choose(w) for w in steps] == [later.choose(w) for w in steps]

        check()

    def test_choices_of_random_messages_have_the_probabilities_emitted(
        self, make_codec: MakeCodec
    ) -> None:
        """Each step's choice does so, independently of the steps before."""
        emitted = make_codec(randomness_of(0)).emitted(_FIVE)
        assert emitted.sum() == pytest.approx(1)
        found = _choices(make_codec, lambda seed: (random_bits(seed, 6), random_tail(seed)))
        _assert_follow(*found, emitted)

    def test_writers_of_one_codec_are_independent(self, make_codec: MakeCodec) -> None:
        codec = make_codec(randomness_of(3))
        steps = list(islice(endless([weights_of([5, 2, 1], 8)], 1), 40))
        writers = [codec.writer(to_source([1, 0] * 40, zeros)) for _ in range(2)]
        first, second = zip(*([w.choose(step) for w in writers] for step in steps), strict=True)
        assert first == second

    def test_reader_refuses_a_text_that_ends_before_its_message(
        self, make_codec: MakeCodec
    ) -> None:
        reader = make_codec(randomness_of(0)).reader()
        assert reader.remainder(0) == reader.remainder(-3) == 0
        with pytest.raises(IncompleteMessageError, match="9 bits before"):
            reader.remainder(9)


class KeyedCodecContract(CodecContract):
    """A codec whose choices say nothing about the message to those without the key.

    Needs the fixture of `CodecContract`. Here the codec must use the shared random numbers:

        class TestMyCodec(KeyedCodecContract):
            @pytest.fixture
            def make_codec(self):
                return MyCodec
    """

    @pytest.mark.parametrize("bits", [[0] * 6, [1, 1, 0, 1, 0, 0]])
    def test_choices_of_one_message_have_the_probabilities_of_the_weights(
        self, make_codec: MakeCodec, bits: list[int]
    ) -> None:
        _assert_follow(*_choices(make_codec, lambda _: (bits, zeros)), _FIVE / _FIVE.sum())

    def test_other_random_numbers_read_half_of_the_bits_wrong(self, make_codec: MakeCodec) -> None:
        length, wrong, seen = 256, 0, 0
        for seed in range(20):
            bits = random_bits(seed, length)
            codec = make_codec(randomness_of(seed))
            chosen = write(codec, bits, repeat(_FIVE), random_tail(seed))
            reader, found = make_codec(randomness_of(seed + 1000)).reader(), list[int]()
            for step in chosen:
                found += unpack_bits(*reader.observe(*step))
            wrong += sum(a != b for a, b in zip(found, bits, strict=False))
            seen += min(len(found), length)
        assert seen > 2000
        assert chisquare([wrong, seen - wrong]).pvalue > LEVEL


class _LaterDraws(SharedRandomness):
    """The random numbers of `randomness_of(0)`, some steps later."""

    def __init__(self, steps: int) -> None:
        self._steps = steps

    def at(self, step: int) -> RandomBitStream:
        return randomness_of(0).at(step + self._steps)


_RUNS = 1500


def _choices(
    make_codec: MakeCodec, message_of: Callable[[int], tuple[list[int], Tail]]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Counts of the first two choices, and of the first choice after the message."""
    pairs, lasts = np.zeros((len(_FIVE),) * 2), np.zeros(len(_FIVE))
    for seed in range(_RUNS):
        writer = make_codec(randomness_of(seed)).writer(to_source(*message_of(seed)))
        first, second = writer.choose(_FIVE), writer.choose(_FIVE)
        while not writer.done:
            writer.choose(_FIVE)
        pairs[first, second] += 1
        lasts[writer.choose(_FIVE)] += 1
    return pairs, lasts


def _assert_follow(
    pairs: npt.NDArray[np.float64],
    lasts: npt.NDArray[np.float64],
    expected: npt.NDArray[np.float64],
) -> None:
    both = np.outer(expected, expected).ravel()
    for found, shares in ((pairs.ravel(), both), (lasts, expected)):
        possible = shares > 0
        assert not found[~possible].any(), "a choice was made that has no probability"
        counted = found[possible]
        if len(counted) > 1:
            assert chisquare(counted, shares[possible] * counted.sum()).pvalue > LEVEL
