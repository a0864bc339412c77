"""The pools that the codecs' figures are of, and how much of their entropy a codec uses.

What every codec is tested with is in `ticore.testing`.
"""

from itertools import cycle, islice

import numpy as np

from ticore.codecs import BitSource
from ticore.codecs._settling import shares
from ticore.testing._codecs import (
    LEVEL,
    messages,
    random_bits,
    random_tail,
    randomness_of,
    read,
    to_source,
    weights_of,
    write,
)

__all__ = [
    "LEVEL",
    "entropy",
    "messages",
    "normal_pools",
    "random_bits",
    "random_tail",
    "randomness_of",
    "read",
    "to_source",
    "utilisation",
    "write",
    "zipf_pools",
]


def normal_pools(tokens):
    """100 pools as of a model: logits are normal with deviation 3."""
    logits = np.sort(np.random.default_rng(tokens).normal(0, 3.0, (100, tokens)))[:, ::-1]
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
