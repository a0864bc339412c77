"""Version 1 of the numbers: the same in every library, and uniform."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from tests.support.arrays import MAKERS, plain
from ticore.errors import CredentialError
from ticore.schemes._feistel import permuted_rank, rectangle
from ticore.schemes._keyed_numbers import keyed_numbers
from ticore.schemes._keyed_numbers_v1 import KeyV1, keyed_uniform, rounds
from ticore.schemes._word_arithmetic import BITS

KEY = KeyV1.derive(bytes(range(32)), "a purpose")
WORDS = st.integers(0, 2**32 - 1)
TOKENS = [0, 1, 2, 3, 77, 4095, 31_999, 151_645, 2**31 - 1]

# Computed once by the plain Python path; they must never change, or old watermarks are lost.
SEEDS = [272433632, 3361848456, 4232511121]
NUMBERS = [
    1562663142,
    1945835109,
    57753153,
    1418337661,
    1441438968,
    2076703240,
    618700476,
    588491010,
    54186622,
]
PLACES = [6409, 39496, 10548, 35097, 29552, 38349, 49861]


def test_version_1_gives_the_golden_vectors():
    assert KEY.words == (1087037071, 3542556315, 3084045354, 3051189992)
    assert [KEY.seed(tokens) for tokens in ([], [5], [5, 7])] == SEEDS
    assert [keyed_uniform(SEEDS[2], token) for token in TOKENS] == NUMBERS
    numbers = keyed_numbers(1, bytes(16), "any", 50_257)  # ranks depend on the seed alone
    assert numbers.ranks(SEEDS[2], 50_257, np.empty(0))[TOKENS[:7]].tolist() == PLACES
    for token, place in zip(TOKENS[:7], PLACES, strict=True):
        one = numbers.any_tokens(token)
        assert numbers.is_ranked_below(SEEDS[2], one, place + 1)
        assert not numbers.is_ranked_below(SEEDS[2], one, place)


@pytest.mark.slow
@pytest.mark.parametrize("name", MAKERS)
def test_version_1_is_the_same_in_every_library(name):
    make = MAKERS[name]()
    tokens = np.arange(3000) * 50 % 2999
    seeds = KEY.seed([make(tokens), make(tokens[::-1].copy())])
    own = [KEY.seed([a, b]) for a, b in zip(tokens.tolist(), tokens[::-1].tolist(), strict=True)]
    assert [word % 2**32 for word in plain(seeds)] == own
    assert plain(keyed_uniform(seeds, make(tokens))) == [
        keyed_uniform(seed, token) for seed, token in zip(own, tokens.tolist(), strict=True)
    ]
    for seed in (own[0], own[1] ^ 2**31):
        assert plain(keyed_uniform(seed, make(tokens))) == [
            keyed_uniform(seed, t) for t in tokens.tolist()
        ]
    found = plain(permuted_rank(rounds(seeds), make(tokens), 2999))
    assert found == [
        permuted_rank(rounds(s), t, 2999) for s, t in zip(own, tokens.tolist(), strict=True)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("x64", [False, True])
def test_version_1_is_the_same_when_jax_compiles_it(x64):
    pytest.importorskip("jax", reason="jax is not installed")
    code = f"""
import jax
jax.config.update("jax_enable_x64", {x64})
import jax.numpy as jnp
from ticore.schemes._feistel import permuted_rank
from ticore.schemes._keyed_numbers_v1 import KeyV1, keyed_uniform, rounds
key = KeyV1.derive(bytes(range(32)), "a purpose")
@jax.jit
def both(a, t):
    seed = key.seed([a])
    return keyed_uniform(seed, t), permuted_rank(rounds(seed), t, 50_257)
found = both(jnp.asarray(9), jnp.arange(200))
print([x.tolist() for x in found])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    seed = KEY.seed([9])
    expected = (
        [keyed_uniform(seed, t) for t in range(200)],
        [permuted_rank(rounds(seed), t, 50_257) for t in range(200)],
    )
    assert done.stdout.strip() == str([*expected])


@given(WORDS, st.integers(1, 600))
def test_permuted_rank_is_a_permutation_of_all_tokens(seed, size):
    ranks = [permuted_rank(rounds(seed), token, size) for token in range(size)]
    assert sorted(ranks) == list(range(size))


@given(st.integers(1, 300_000))
@example(180_649)
def test_rectangle_has_hardly_more_cells_than_tokens(size):
    rows, columns = rectangle(size)
    assert 0 <= rows * columns - size < rows <= columns
    assert size < 100 or rows * columns - size <= 21  # as many for 180,649


def test_keyed_uniform_and_seeds_are_uniform():
    tokens = np.arange(100_000, dtype=np.uint32)
    for words, bits in (
        (keyed_uniform(KEY.seed([3]), tokens), BITS),
        (keyed_uniform(KEY.seed([tokens]), 5), BITS),
        (KEY.seed([tokens]), 32),
    ):
        assert stats.kstest(words.astype(float) / 2**bits, "uniform").pvalue > 0.001
        ones = [(words >> bit & 1).sum() for bit in range(bits)]
        assert min(stats.binomtest(int(n), len(words)).pvalue for n in ones) > 1e-4


@given(WORDS, st.integers(0, 2**20), st.integers(0, 19))
def test_keyed_uniform_is_unrelated_when_a_bit_of_token_or_seed_changes(seed, token, bit):
    changed = [
        keyed_uniform(seed, token) ^ keyed_uniform(seed, token ^ 1 << bit),
        keyed_uniform(seed, token) ^ keyed_uniform(seed ^ 1 << bit, token),
    ]
    # Of 31 bits 2 to 29 change, but once in 30 million.
    assert all(1 < change.bit_count() < 30 for change in changed)


def test_derive_gives_unrelated_words_for_other_keys_and_purposes():
    found = {
        KeyV1.derive(key, purpose).words
        for key in (bytes(16), bytes(17), bytes([1] * 16))
        for purpose in ("a", "b")
    }
    assert len(found) == 6
    assert KEY.seed([1, 2]) != KEY.seed([2, 1])


@pytest.mark.parametrize("length", [0, 15, 65])
def test_derive_refuses_a_key_of_another_length(length):
    with pytest.raises(CredentialError, match=f"expected a key of 16 to 64 bytes, found {length}"):
        KeyV1.derive(bytes(length), "a")
