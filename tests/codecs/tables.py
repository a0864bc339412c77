"""Weights for codecs under test: arbitrary tables that sum to a power of two."""

import numpy as np
from hypothesis import strategies as st

from ticore.candidates import to_weights


def weights_of(masses, bits):
    """Weights from arbitrary masses, as pools make them."""
    return to_weights(np.array(masses, dtype=np.int64), bits)


def tables(max_tokens=12):
    """Weight tables: single candidates, near-certainties, equals, faint tails, any width."""
    mass = st.one_of(st.integers(0, 1 << 30), st.sampled_from([0, 1, 1 << 30]))
    masses = st.lists(mass, min_size=1, max_size=max_tokens)
    return st.builds(weights_of, masses, st.integers(8, 32))


def endless(some, seed):
    """Tables drawn from `some` for ever, some with real choices among them."""
    rng = np.random.default_rng(seed)
    open_choice = weights_of([5, 3, 1, 1], 16)
    while True:
        yield some[rng.integers(len(some))]
        if rng.random() < 0.5:
            yield open_choice
