"""Huffman coding: the golden choices, and how far they are from the pool."""

import numpy as np
import pytest

from tests.support.codec_runs import entropy, normal_pools, zipf_pools
from tests.support.weight_tables import weights_of
from ticore.codecs import BitSource, HuffmanCodec, zeros
from ticore.codecs._settling import shares


@pytest.mark.parametrize(
    ("pools", "tokens", "divergence", "utilisation"),
    [
        (normal_pools, 16, 0.37, 1.41),
        (normal_pools, 256, 0.09, 1.04),
        (normal_pools, 4096, 0.03, 1.01),
        (zipf_pools, 16, 0.03, 1.04),
        (zipf_pools, 256, 0.04, 1.04),
        (zipf_pools, 4096, 0.02, 0.99),
    ],
)
def test_huffman_carries_what_its_docstring_says(pools, tokens, divergence, utilisation):
    weights = pools(tokens)
    pool, emitted = [shares(w) for w in weights], [HuffmanCodec().emitted(w) for w in weights]
    apart = [(q * np.log2(q / p)).sum() for p, q in zip(pool, emitted, strict=True)]
    assert np.mean(apart) == pytest.approx(divergence, abs=0.005)
    carried, most = (np.mean([entropy(p) for p in each]) for each in (emitted, pool))
    assert carried / most == pytest.approx(utilisation, abs=0.005)


def test_huffman_choices_follow_powers_of_two_exactly():
    """Where all shares are powers of two, choices are the pool's."""
    weights = np.array([64, 16, 128, 32, 16])
    assert HuffmanCodec().emitted(weights).tolist() == shares(weights).tolist()


def test_huffman_choices_are_those_of_former_versions():
    """Old texts stay readable: these choices belong to these bits for ever."""
    steps = [weights_of(masses, 32) for masses in ([9, 3, 1], [1, 1], [7, 5, 5, 0], [100, 1])] * 8
    writer = HuffmanCodec().writer(BitSource(bytes.fromhex("c0ffee15600d"), 48, zeros))
    golden = "01012000011001300101210010312001"
    assert "".join(str(writer.choose(weights)) for weights in steps) == golden
    assert writer.settled == 42
