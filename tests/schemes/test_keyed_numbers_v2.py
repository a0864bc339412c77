"""Version 2 of the numbers: lists depend on more than 32 bits, and all libraries agree."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tests.support.arrays import MAKERS, plain
from ticore.errors import CredentialError
from ticore.schemes import _feistel as feistel
from ticore.schemes import _keyed_numbers_v1 as keyed_numbers_v1
from ticore.schemes import _keyed_numbers_v2 as keyed_numbers_v2
from ticore.schemes._keyed_numbers import keyed_numbers
from ticore.schemes._keyed_numbers_v1 import KeyV1
from ticore.schemes._keyed_numbers_v2 import KeyV2, Seed
from ticore.schemes._word_arithmetic import BITS, is_below, ordered_number, xor

KEY = KeyV2.derive(bytes(range(32)), "a purpose")
# Keys as users have them; words that were chosen, all zeros for two keys, say, have equal lists.
KEYS = st.integers(0, 2**64).map(lambda n: KeyV2.derive(n.to_bytes(16, "little"), "a purpose"))
PAIRS = st.tuples(KEYS, KEYS).filter(lambda pair: pair[0] != pair[1])
SOME = settings(max_examples=15)
TOKENS = [0, 1, 2, 3, 77, 4095, 31_999, 151_645, 2**31 - 1]
ALL = np.arange(3000, dtype=np.uint32)

# Computed once by the plain Python path; they must never change, or watermarks are lost.
TOKEN_WORDS = [
    3398757898,
    2563188877,
    300228946,
    953234378,
    3677875146,
    3208258381,
    865715756,
    858129008,
    1468742373,
]
SEEDS = [(1682766402, 907543972), (2831432784, 3240242813), (122219003, 578821901)]
NUMBERS = [
    1773986649,
    814784378,
    1837528726,
    17251210,
    1150071022,
    414938766,
    1958261651,
    237625546,
    704840615,
]
PLACES = [3492, 41354, 28485, 11352, 6340, 48966, 43246]


def seed_of(key, tokens):
    return key.seed([key.token_word(token) for token in tokens])


def numbers_of(key, tokens, ids=ALL):
    return keyed_numbers_v2.keyed_uniform(seed_of(key, tokens), key.token_word(ids))


def rank_of(seed, token, size):
    return feistel.permuted_rank(keyed_numbers_v2.rounds(seed, KEY.token_word), token, size)


def are_unrelated(one, other):
    """Whether as many numbers are on the same side of the middle as chance would have."""
    same = int(((one < 1 << 30) == (other < 1 << 30)).sum())
    return abs(same - len(one) / 2) < 5.5 * np.sqrt(len(one)) / 2  # once in 26 million


def test_version_2_gives_the_golden_vectors(monkeypatch):
    assert KEY.words[:2] == (693903296, 2308429288)
    assert [KEY.token_word(token) for token in TOKENS] == TOKEN_WORDS
    assert [seed_of(KEY, tokens) for tokens in ([], [5], [5, 7])] == SEEDS
    seed = Seed(*SEEDS[2])
    assert [keyed_numbers_v2.keyed_uniform(seed, word) for word in TOKEN_WORDS] == NUMBERS
    numbers = keyed_numbers(2, bytes(16), "any", 50_257)
    monkeypatch.setattr(numbers, "_key", KEY)  # of the purpose of these vectors
    assert numbers.ranks(seed, 50_257, np.empty(0))[TOKENS[:7]].tolist() == PLACES
    for token, place in zip(TOKENS[:7], PLACES, strict=True):
        one = numbers.any_tokens(np.array([token], np.uint32))
        assert numbers.is_ranked_below(seed, one, place + 1)
        assert not numbers.is_ranked_below(seed, one, place)


@pytest.mark.slow
@pytest.mark.parametrize("name", MAKERS)
def test_version_2_is_the_same_in_every_library(name):
    make = MAKERS[name]()
    ids = (np.arange(400) * 50 % 2999).astype(np.int64)
    tokens, others = make(ids), make(ids[::-1].copy())
    words = KEY.token_word(tokens)
    own = [KEY.token_word(token) for token in ids.tolist()]
    assert [word % 2**32 for word in plain(words)] == own
    seed = KEY.seed([words, KEY.token_word(others)])
    seeds = [KEY.seed(pair) for pair in zip(own, own[::-1], strict=True)]
    for found, expected in zip(seed, zip(*seeds, strict=True), strict=True):
        assert [word % 2**32 for word in plain(found)] == list(expected)
    numbers = [keyed_numbers_v2.keyed_uniform(*pair) for pair in zip(seeds, own, strict=True)]
    assert plain(keyed_numbers_v2.keyed_uniform(seed, words)) == numbers
    drawn = keyed_numbers_v2.keyed_word(seed, words)
    for bound in (0, 1, 1 << 29, 1 << 30, (1 << 31) - 1):
        assert plain(is_below(drawn, bound)) == [number < bound for number in numbers]
    # One seed in Python's integers for all.
    for one in (seeds[0], Seed(seeds[1].a ^ 2**31, seeds[1].b ^ 2**31)):
        assert plain(keyed_numbers_v2.keyed_uniform(one, words)) == [
            keyed_numbers_v2.keyed_uniform(one, word) for word in own
        ]
    least = KEY.least([seed, Seed(7, 2**32 - 7)], words, words)
    assert [word % 2**32 for word in plain(least)] == [
        KEY.least([s, Seed(7, 2**32 - 7)], word, word) for s, word in zip(seeds, own, strict=True)
    ]
    ranks = plain(rank_of(seed, tokens, 2999))
    assert ranks == [rank_of(s, t, 2999) for s, t in zip(seeds, ids.tolist(), strict=True)]


@pytest.mark.slow
@pytest.mark.parametrize("x64", [False, True])
def test_version_2_is_the_same_when_jax_compiles_it(x64):
    jax = pytest.importorskip("jax", reason="jax is not installed")

    @jax.jit
    def all_of_it(context, tokens):
        seed, words = KEY.seed([KEY.token_word(context)]), KEY.token_word(tokens)
        ranks = feistel.all_ranks(keyed_numbers_v2.rounds(seed, KEY.token_word), tokens, 150)
        return keyed_numbers_v2.keyed_uniform(seed, words), ranks

    with jax.enable_x64(x64):
        found = all_of_it(jax.numpy.asarray(9), jax.numpy.arange(150))
    seed = seed_of(KEY, [9])
    assert plain(found[0]) == [
        keyed_numbers_v2.keyed_uniform(seed, KEY.token_word(token)) for token in range(150)
    ]
    assert plain(found[1]) == [rank_of(seed, token, 150) for token in range(150)]


@SOME
@given(KEYS, st.integers(1, 600), st.sampled_from([1, 2]))
def test_permuted_rank_is_a_permutation_of_all_tokens(key, size, version):
    rounds = rounds_of(key, [5], version)
    ranks = [feistel.permuted_rank(rounds, token, size) for token in range(size)]
    assert sorted(ranks) == list(range(size))


def rounds_of(key, context, version):
    if version == 2:
        return keyed_numbers_v2.rounds(seed_of(key, context), key.token_word)
    return keyed_numbers_v1.rounds(KeyV1(key.words[:4]).seed(context))


@SOME
@given(
    KEYS,
    st.integers(1, 300),
    st.lists(st.integers(0, 99), min_size=1, max_size=3),
    st.sampled_from([1, 2]),
    st.sampled_from(["numpy uint32", "torch int32"]),
)
def test_all_ranks_agree_with_the_rank_of_each_token(key, size, contexts, version, library):
    make = MAKERS[library]()
    halves = make(np.arange(max(feistel.rectangle(size))))
    several = rounds_of(key, [make(np.array(contexts)[:, None])], version)
    found = feistel.all_ranks(several, halves, size)
    one = feistel.all_ranks(rounds_of(key, contexts[:1], version), halves, size)
    expected = [
        [
            feistel.permuted_rank(rounds_of(key, [context], version), token, size)
            for token in range(size)
        ]
        for context in contexts
    ]
    assert plain(found) == expected
    assert plain(one) == expected[0]


def test_keyed_uniform_is_uniform():
    ids = np.arange(100_000, dtype=np.uint32)
    for numbers in (
        numbers_of(KEY, [3], ids),
        keyed_numbers_v2.keyed_uniform(KEY.seed([KEY.token_word(ids)]), KEY.token_word(5)),
        keyed_numbers_v2.keyed_uniform(
            KEY.seed([KEY.token_word(ids), KEY.token_word(8)]), KEY.token_word(5)
        ),
    ):
        counts = np.histogram(numbers, bins=256, range=(0, 2**BITS))[0]
        assert stats.chisquare(counts).pvalue > 0.001
        assert stats.kstest(numbers / 2**BITS, "uniform").pvalue > 0.001
        ones = [(numbers >> bit & 1).sum() for bit in range(BITS)]
        assert min(stats.binomtest(int(n), len(numbers)).pvalue for n in ones) > 1e-4


@SOME
@given(KEYS, st.integers(0, 6), st.integers(0, 31))
def test_lists_are_unrelated_when_a_bit_of_the_key_changes(key, which, bit):
    words = list(key.words)
    words[which] ^= 1 << bit
    for context in ([], [9], [1, 2, 3, 4, 5]):
        changed = KeyV2(tuple(words))
        assert are_unrelated(numbers_of(key, context), numbers_of(changed, context))


@SOME
@given(KEYS, st.lists(st.integers(0, 2**18), min_size=1, max_size=5), st.data())
def test_lists_are_unrelated_when_a_token_of_the_context_changes(key, context, data):
    at = data.draw(st.integers(0, len(context) - 1))
    changed = list(context)
    changed[at] ^= 1 << data.draw(st.integers(0, 17))
    assert are_unrelated(numbers_of(key, context), numbers_of(key, changed))


@SOME
@given(PAIRS, st.integers(0, 7))
def test_lists_are_unrelated_when_two_keys_share_a_word(pair, which):
    one, other = pair
    words = list(other.words)
    words[which] = one.words[which]
    for context in ([], [3]):
        assert are_unrelated(numbers_of(one, context), numbers_of(KeyV2(tuple(words)), context))


@SOME
@given(PAIRS)
def test_lists_of_version_2_do_not_depend_on_one_word_alone(pair):
    """Each 32-bit word that a number passes through, equal for two keys: the lists differ."""
    one, other = pair
    seeds = seed_of(one, [3]), seed_of(other, [3])
    words = one.token_word(ALL), other.token_word(ALL)
    lists = [
        # Either word of the seed, with the other key's tokens, and with the same ones.
        (
            keyed_numbers_v2.keyed_uniform(Seed(seeds[0].a, s.b), w)
            for s, w in zip(seeds, words, strict=True)
        ),
        (
            keyed_numbers_v2.keyed_uniform(Seed(s.a, seeds[0].b), w)
            for s, w in zip(seeds, words, strict=True)
        ),
        (keyed_numbers_v2.keyed_uniform(Seed(seeds[0].a, s.b), words[0]) for s in seeds),
        (keyed_numbers_v2.keyed_uniform(Seed(s.a, seeds[0].b), words[0]) for s in seeds),
        # The whole seed: what is left are the tokens' words.
        (keyed_numbers_v2.keyed_uniform(seeds[0], w) for w in words),
        # The state of one token after the first multiplication, by another `a`.
        (
            keyed_numbers_v2.keyed_uniform(
                Seed(seeds[0].a ^ xor(words[0][at], words[1][at]), seeds[0].b), words[1]
            )
            for at in (0, 1)
        ),
    ]
    for lists_of_both in lists:
        assert are_unrelated(*lists_of_both)
    # The word of one token, by the last word of the key.
    first, last = one.token_word(7), other.token_word(7)
    inner = KeyV2((*other.words[:3], other.words[3] ^ _unmixed(first) ^ _unmixed(last)) + (0,) * 4)
    assert inner.token_word(7) == first
    assert are_unrelated(
        keyed_numbers_v2.keyed_uniform(seeds[0], words[0]),
        keyed_numbers_v2.keyed_uniform(seeds[0], inner.token_word(ALL)),
    )


def _unmixed(word):
    """The inverse of `mixed`."""
    for shift, factor in ((16, 0x846CA68B), (15, 0x7FEB352D), (16, 1)):
        found = word
        for _ in range(32 // shift + 1):
            found = word ^ found >> shift
        word = found * pow(factor, -1, 2**32) & 0xFFFFFFFF
    return word


@SOME
@given(PAIRS)
def test_lists_of_version_1_depend_on_one_word_alone(pair):
    """Why there is a version 2: two keys that meet in one word have the same lists."""
    key, other = (KeyV1(each.words[:4]) for each in pair)
    state = _unmixed(KeyV1((*other.words[:3], 0)).seed([0]))
    same = KeyV1((*other.words[:3], state ^ _unmixed(key.seed([0]))))
    assert same.words != key.words
    assert (
        keyed_numbers_v1.keyed_uniform(key.seed([0]), ALL)
        == keyed_numbers_v1.keyed_uniform(same.seed([0]), ALL)
    ).all()


@pytest.mark.slow
def test_seeds_of_contexts_do_not_collide():
    """Of 2^32 seeds some of 400,000 contexts would share one: about 19 pairs."""
    rng = np.random.default_rng(0)
    words = KEY.token_word(rng.integers(0, 1000, (5, 400_000)).astype(np.uint32))
    seed = KEY.seed(list(words))
    contexts = len(np.unique(words, axis=1).T)
    pairs = seed.a.astype(np.int64) << 32 | seed.b.astype(np.int64)
    assert len(np.unique(pairs)) == contexts
    assert len(np.unique(seed.a)) < contexts


def test_lists_of_neighbouring_contexts_are_independent():
    """Pairs of lists, and of tokens over all contexts, agree as often as chance has it."""
    contexts = np.arange(400, dtype=np.uint32)[:, None]
    seed = KEY.seed([KEY.token_word(contexts)])
    for share in (0.5, 0.25):
        green = keyed_numbers_v2.keyed_uniform(seed, KEY.token_word(ALL)) < share * 2**31
        centred = (green - share) / np.sqrt(share * (1 - share))
        for rows in (centred, centred.T[:400]):
            z = (rows @ rows.T / np.sqrt(rows.shape[1]))[np.triu_indices(len(rows), 1)]
            assert abs(z.mean()) < 5 / np.sqrt(len(z))
            assert abs(z.var() - 1) < 0.03
            assert abs(z).max() < 6


def test_keyed_uniform_is_the_upper_31_bits_of_the_word():
    words = keyed_numbers_v2.keyed_word(seed_of(KEY, [1]), KEY.token_word(ALL))
    assert (ordered_number(words) == (words ^ np.uint32(1 << 31)) >> 1).all()


def test_derive_gives_unrelated_words_for_other_keys_and_purposes():
    found = {
        KeyV2.derive(key, purpose).words
        for key in (bytes(16), bytes(17), bytes([1] * 16))
        for purpose in ("a", "b")
    }
    assert len(found) == 6
    assert "693903296" not in repr(KEY)


@pytest.mark.parametrize("length", [0, 15, 65])
def test_derive_refuses_a_key_of_another_length(length):
    with pytest.raises(CredentialError, match=f"expected a key of 16 to 64 bytes, found {length}"):
        KeyV2.derive(bytes(length), "a")
