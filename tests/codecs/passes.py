"""Passes through a codec, there and back, and the pools that the codecs' figures are of."""

from itertools import cycle, islice

import numpy as np
from hypothesis import strategies as st

from tests.codecs.tables import weights_of
from ticore.codecs import BitSource, pack_bits, unpack_bits
from ticore.codecs.shared import shares
from ticore.draws import Draws

LEVEL = 1e-4  # below this a fit is rejected; with fixed seeds a test passes always or never

messages = st.one_of(
    st.lists(st.integers(0, 1), max_size=200),
    st.builds(lambda bit, n: [bit] * n, st.integers(0, 1), st.sampled_from([0, 1, 127, 128])),
)


def draws_of(seed):
    return Draws(seed.to_bytes(16, "big"), "codec")


def random_bits(seed, count):
    return np.random.default_rng(seed).integers(0, 2, count).tolist()


def random_tail(seed):
    """A tail that has nothing to do with `random_bits` of the same seed."""
    rng = np.random.default_rng((seed, 1))
    return lambda count: int.from_bytes(rng.bytes(-(-count // 8))) >> (-count % 8)


def to_source(bits, tail):
    return BitSource(pack_bits(bits), len(bits), tail)


def write(codec, bits, steps, tail):
    """Indices chosen for `bits`, with the weights they were chosen from."""
    writer, chosen = codec.writer(to_source(bits, tail)), []
    for weights in steps:
        if writer.done:
            return chosen
        chosen.append((weights, writer.choose(weights)))
    raise AssertionError("the writer did not finish")


def read(codec, chosen, length):
    reader, value, count = codec.reader(), 0, 0
    for weights, index in chosen:
        settled, size = reader.observe(weights, index)
        assert 0 <= settled < 1 << size or settled == size == 0
        value, count = value << size | settled, count + size
    if count < length:
        value, count = value << (length - count) | reader.remainder(length - count), length
    return unpack_bits(value >> count - length, length)


def normal_pools(tokens, spread=3.0):
    """100 pools as of a model: logits are normal with deviation `spread`."""
    logits = np.sort(np.random.default_rng(tokens).normal(0, spread, (100, tokens)))[:, ::-1]
    return [weights_of(np.exp(row - row[0]) * 2**30, 32) for row in logits]


def zipf_pools(tokens):
    return [weights_of(2**30 / np.arange(1, tokens + 1), 32)]


def entropy(probabilities):
    """In bits."""
    return -(probabilities * np.log2(probabilities)).sum()


def utilisation(codec, pools, steps):
    """Bits settled in `steps` steps of a random message, over the entropy of their pools."""
    writer = codec.writer(BitSource(b"", 0, random_tail(0)))
    for weights in islice(cycle(pools), steps):
        writer.choose(weights)
    return writer.settled / (np.mean([entropy(shares(weights)) for weights in pools]) * steps)
