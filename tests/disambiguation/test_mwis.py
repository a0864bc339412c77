"""MWIS: no other set keeps more."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.pools import nested, pool, prefix_free, toys
from tests.support.toy_models import ToyTokenizer
from ticore.disambiguation import Mwis, PromptContext
from ticore.disambiguation._mwis import heaviest
from ticore.disambiguation._prefixes import PrefixForest

masses = st.integers(0, 1 << 30) | st.integers(0, 8) | st.sampled_from([0, 1 << 30])
weighted = st.tuples(nested.map(str.encode), masses)


def kept_of(tokenizer, candidates):
    session = Mwis(PromptContext(tokenizer, "", [])).start()
    return session.refine(candidates, iter([]))


def best_of_all_sets(strings, mass):
    """Greatest mass of a set in which none begins another, and the most members of such a set."""
    sets = np.arange(1 << len(strings))
    allowed, total, members = (np.zeros(len(sets), dtype=np.int64) for _ in range(3))
    for n, string in enumerate(strings):
        clashes = sum(1 << m for m, other in enumerate(strings)
                      if m != n and other.startswith(string))  # fmt: skip
        inside = sets >> n & 1
        allowed += inside * (sets & clashes != 0)
        total += inside * mass[n]
        members += inside
    total[allowed > 0] = -1
    return total.max(), members[total == total.max()].max()


def best_of_tree(strings, mass):
    """The same by recursion: over the shortest strings, and within each over those it begins."""
    if not strings:
        return 0, 0
    first = strings[0]
    inside = [n for n in range(1, len(strings)) if strings[n].startswith(first)]
    below = best_of_tree([strings[n] for n in inside], [mass[n] for n in inside])
    best = below if inside and below[0] >= mass[0] else (mass[0], 1)
    beyond = len(inside) + 1
    rest = best_of_tree(strings[beyond:], mass[beyond:])
    return best[0] + rest[0], best[1] + rest[1]


def keeps_the_best(best, strings):
    """Whether what `heaviest` keeps of {string: mass} is a set as good as `best` says."""
    ordered = sorted(strings)
    mass = [strings[string] for string in ordered]
    which = heaviest(PrefixForest(ordered).among(np.arange(len(ordered))), np.array(mass))
    kept = [string for string, chosen in zip(ordered, which, strict=True) if chosen]
    assert prefix_free(kept)
    return (sum(strings[string] for string in kept), len(kept)) == best(ordered, mass)


@given(st.lists(weighted, min_size=1, max_size=16).map(dict))
def test_heaviest_finds_the_heaviest_of_all_sets(strings):
    assert keeps_the_best(best_of_all_sets, strings)


@pytest.mark.parametrize("seed", range(20))
def test_heaviest_agrees_with_the_recursion_on_large_pools(seed):
    rng = np.random.default_rng(seed)
    letters = ["ab", "abc", "aé"][seed % 3]
    strings = {
        "".join(rng.choice(list(letters), size=rng.integers(1, 12))).encode(): mass
        for mass in (rng.integers(0, [2, 10, 1 << 30][seed % 3], size=400)).tolist()
    }
    assert len(strings) > 200
    assert keeps_the_best(best_of_tree, strings)


@given(toys())
def test_mwis_keeps_the_heaviest_tokens_in_order(toy):
    tokenizer, candidates = toy
    merged = {}
    for token, mass in zip(
        candidates.ids.tolist(), candidates.unnormalized_probs.tolist(), strict=True
    ):
        merged.setdefault(tokenizer.pieces[token].encode(), (token, mass))  # the first is heaviest
    strings = sorted(merged)
    choices = kept_of(tokenizer, candidates)
    kept = choices.ids.tolist()
    assert prefix_free(tokenizer.pieces[i] for i in kept)
    assert kept == [i for i in candidates.ids if i in kept]
    assert set(kept) <= {token for token, _ in merged.values()}
    total = sum(mass for token, mass in merged.values() if token in kept)
    assert (total, len(kept)) == best_of_tree(strings, [merged[s][1] for s in strings])
    assert (
        choices.mass.tolist()
        == candidates.keep(np.isin(candidates.ids, kept)).unnormalized_probs.tolist()
    )


def test_heaviest_keeps_the_children_when_masses_are_equal():
    tokenizer = ToyTokenizer(["a", "ab", "b", "ba"])
    candidates = pool(0, 1, 2, 3)
    equal = type(candidates)(candidates.ids, np.zeros(4, dtype=np.int64))
    assert kept_of(tokenizer, equal).ids.tolist() == [1, 3]
    assert kept_of(tokenizer, candidates).ids.tolist() == [0, 2]
