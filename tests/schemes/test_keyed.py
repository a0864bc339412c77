"""The same numbers in every library; and numbers that look like chance."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tests.schemes.arrays import MAKERS, plain
from ticore.errors import KeyFormatError
from ticore.schemes.keyed import BITS, Key, number, place, rectangle

KEY = Key.derive(bytes(range(32)), "a purpose")
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


def test_golden_vectors():
    assert KEY.words == (1087037071, 3542556315, 3084045354, 3051189992)
    assert [KEY.seed(tokens) for tokens in ([], [5], [5, 7])] == SEEDS
    assert [number(SEEDS[2], token) for token in TOKENS] == NUMBERS
    assert [place(SEEDS[2], token, 50_257) for token in TOKENS[:7]] == PLACES


@pytest.mark.parametrize("name", MAKERS)
def test_every_library_computes_the_same(name):
    make = MAKERS[name]()
    tokens = np.arange(3000) * 50 % 2999
    seeds = KEY.seed([make(tokens), make(tokens[::-1].copy())])
    own = [KEY.seed([a, b]) for a, b in zip(tokens.tolist(), tokens[::-1].tolist(), strict=True)]
    assert [word % 2**32 for word in plain(seeds)] == own
    assert plain(number(seeds, make(tokens))) == [
        number(seed, token) for seed, token in zip(own, tokens.tolist(), strict=True)
    ]
    for seed in (own[0], own[1] ^ 2**31):
        assert plain(number(seed, make(tokens))) == [number(seed, t) for t in tokens.tolist()]
    found = plain(place(seeds, make(tokens), 2999))
    assert found == [place(s, t, 2999) for s, t in zip(own, tokens.tolist(), strict=True)]


@pytest.mark.parametrize("x64", [False, True])
def test_jax_computes_the_same_when_it_compiles(x64):
    pytest.importorskip("jax", reason="jax is not installed")
    code = f"""
import jax
jax.config.update("jax_enable_x64", {x64})
import jax.numpy as jnp
from ticore.schemes.keyed import Key, number, place
key = Key.derive(bytes(range(32)), "a purpose")
both = jax.jit(lambda a, t: (number(key.seed([a]), t), place(key.seed([a]), t, 50_257)))
found = both(jnp.asarray(9), jnp.arange(200))
print([x.tolist() for x in found])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    seed = KEY.seed([9])
    expected = [number(seed, t) for t in range(200)], [place(seed, t, 50_257) for t in range(200)]
    assert done.stdout.strip() == str([*expected])


@given(WORDS, st.integers(1, 600))
def test_places_are_an_order_of_all_tokens(seed, size):
    assert sorted(place(seed, token, size) for token in range(size)) == list(range(size))


@given(st.integers(1, 300_000))
def test_a_rectangle_holds_all_and_hardly_more(size):
    rows, columns = rectangle(size)
    assert 0 <= rows * columns - size < rows <= columns
    assert size < 100 or rows * columns - size <= 8


def test_numbers_and_seeds_are_uniform():
    tokens = np.arange(100_000, dtype=np.uint32)
    for words, bits in (
        (number(KEY.seed([3]), tokens), BITS),
        (number(KEY.seed([tokens]), 5), BITS),
        (KEY.seed([tokens]), 32),
    ):
        assert stats.kstest(words.astype(float) / 2**bits, "uniform").pvalue > 0.001
        ones = [(words >> bit & 1).sum() for bit in range(bits)]
        assert min(stats.binomtest(int(n), len(words)).pvalue for n in ones) > 1e-4


@given(WORDS, st.integers(0, 2**20), st.integers(0, 19))
def test_another_token_or_seed_gives_an_unrelated_number(seed, token, bit):
    changed = [
        number(seed, token) ^ number(seed, token ^ 1 << bit),
        number(seed, token) ^ number(seed ^ 1 << bit, token),
    ]
    # Of 31 bits 2 to 29 change, but once in 30 million.
    assert all(1 < change.bit_count() < 30 for change in changed)


def test_keys_and_purposes_are_told_apart():
    found = {
        Key.derive(key, purpose).words
        for key in (bytes(16), bytes(17), bytes([1] * 16))
        for purpose in ("a", "b")
    }
    assert len(found) == 6
    assert KEY.seed([1, 2]) != KEY.seed([2, 1])


@pytest.mark.parametrize("length", [0, 15, 65])
def test_a_key_of_another_length_is_refused(length):
    with pytest.raises(KeyFormatError, match=f"expected a key of 16 to 64 bytes, found {length}"):
        Key.derive(bytes(length), "a")
