"""Pools, and strings that begin one another, for disambiguations under test."""

from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

from tests.support.toy_models import ToyTokenizer
from ticore.candidates import Pool

# Many of them begin one another, and some are equal.
nested = st.text("ab", min_size=1, max_size=5)


def pool(*ids):
    """The first is the most probable."""
    return Pool(np.array(ids, dtype=np.int64), np.arange(len(ids), 0, -1))


@st.composite
def toys(draw):
    """A toy tokenizer and a pool of some of its tokens: equal levels, and levels with no mass."""
    pieces = draw(st.lists(nested, min_size=1, max_size=16))
    ids = draw(st.permutations(range(len(pieces))))[: draw(st.integers(1, len(pieces)))]
    level = st.integers(-2000, 0) | st.sampled_from([0, -1000, -40_000, -50_000])
    levels = draw(st.lists(level, min_size=len(ids), max_size=len(ids)))
    return ToyTokenizer(pieces), Pool(np.array(ids), np.array(sorted(levels, reverse=True)))


def random_pool(rng, ids, size):
    """At most `size` of `ids`, some equally probable and some hardly at all."""
    chosen = rng.permutation(ids)[:size]
    levels = np.sort(rng.normal(size=len(chosen)).round(1) * rng.choice([2000, 20_000]))[::-1]
    return Pool(chosen, levels.astype(np.int64))


def prefix_free(strings):
    """No string is equal to another, or begins it."""
    ordered = sorted(strings)
    return not any(b.startswith(a) for a, b in pairwise(ordered))
