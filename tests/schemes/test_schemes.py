"""Evidence scores the tokens that the bias prefers, in every array library."""

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ticore.errors import CredentialError, SettingsError
from ticore.schemes import SCHEMES, Gumbel, LeftHash, SelfHash, Unigram, make_scheme

KEY = bytes(range(32))
SIZE = 500
VARIANTS = {
    **{name: lambda name=name: SCHEMES[name](KEY, SIZE) for name in SCHEMES},
    **{
        f"{name}, version 1": lambda name=name: SCHEMES[name](KEY, SIZE, version=1)
        for name in SCHEMES
    },
    **{
        f"{name}, exact": lambda name=name: SCHEMES[name](KEY, SIZE, gamma=0.3, greens="exact")
        for name in ("left_hash", "self_hash", "unigram")
    },
    "left_hash, wide": lambda: LeftHash(KEY, SIZE, context=4),
    "self_hash, wide": lambda: SelfHash(KEY, SIZE, context=5),
    "gumbel, narrow": lambda: Gumbel(KEY, SIZE, context=1),
}


def scores_by_bias(scheme, context):
    """The score of every token after a context, from the bias on flat logits."""
    bias = scheme.bias(context, np.zeros(SIZE))
    if isinstance(scheme, Gumbel):
        return -np.log1p(-np.exp(-np.exp(-bias)))  # the bias is -log(-log(u))
    return (bias > 0).astype(float)


@pytest.mark.slow
@pytest.mark.parametrize("name", VARIANTS)
@given(st.lists(st.integers(0, SIZE - 1), min_size=5, max_size=12))
def test_bias_prefers_the_tokens_that_evidence_scores(name, ids):
    scheme = VARIANTS[name]()
    evidence = scheme.evidence(ids)
    assert evidence.positions.tolist() == list(range(scheme.context, len(ids)))
    if scheme.version == 1:
        assert (evidence.draw_ids & 0xFFFFFFFF).tolist() == ids[scheme.context :]
        assert (evidence.draw_ids >> 32 & 0xFFFFFFFF).tolist() == evidence.seeds.tolist()
    for at, score in zip(evidence.positions.tolist(), evidence.scores, strict=True):
        expected = scores_by_bias(scheme, ids[at - scheme.context : at])[ids[at]]
        assert score == pytest.approx(expected, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("library", ["torch", "jax"])
def test_bias_is_the_same_in_every_library(name, library):
    xp = pytest.importorskip("torch" if library == "torch" else "jax.numpy")
    scheme = VARIANTS[name]()
    rng = np.random.default_rng(0)
    logits = rng.normal(size=SIZE).astype(np.float32)
    context = rng.integers(0, SIZE, size=scheme.context).tolist()
    expected = scheme.bias(context, logits)
    found = scheme.bias(context, xp.asarray(logits))
    assert type(found).__module__.startswith(library)
    np.testing.assert_allclose(np.asarray(found), expected, rtol=2e-6, atol=2e-6)
    # Several texts at once.
    many = rng.integers(0, SIZE, size=(3, scheme.context))
    rows = scheme.bias(xp.asarray(many), xp.asarray(np.stack([logits] * 3)))
    alone = np.stack([scheme.bias(row.tolist(), logits) for row in many])
    np.testing.assert_allclose(np.asarray(rows), alone, rtol=2e-6, atol=2e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", VARIANTS)
def test_bias_is_the_same_when_jax_compiles_it(name):
    jax = pytest.importorskip("jax", reason="jax is not installed")
    scheme = VARIANTS[name]()
    context, logits = jax.numpy.arange(scheme.context), jax.numpy.linspace(0.0, 1.0, SIZE)
    found = np.asarray(jax.jit(scheme.bias)(context, logits))
    np.testing.assert_allclose(found, np.asarray(scheme.bias(context, logits)), rtol=1e-6)


@pytest.mark.parametrize("name", SCHEMES)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_bias_marks_logits_of_half_precision(name, dtype):
    torch = pytest.importorskip("torch")
    scheme, logits = SCHEMES[name](KEY, 500), torch.zeros(500, dtype=getattr(torch, dtype))
    for last in range(20):
        context = [1, 2, 3, 4, last][5 - scheme.context :]
        biased = scheme.bias(context, logits)
        assert biased.dtype == logits.dtype
        assert torch.isfinite(biased).all()
        best = int(scheme.bias(context, logits.double()).argmax())
        assert biased[best] == biased.max()


@pytest.mark.parametrize("name", VARIANTS)
def test_bias_prefers_no_padding(name):
    scheme = VARIANTS[name]()
    context = list(range(scheme.context))
    logits = np.linspace(0, 1, SIZE + 12)
    before = logits.copy()
    biased = scheme.bias(context, logits)
    assert (logits == before).all()
    assert (biased[:SIZE] == scheme.bias(context, logits[:SIZE])).all()
    if scheme.greedy:
        assert (biased[SIZE:] == -np.inf).all()
    else:
        assert (biased[SIZE:] == logits[SIZE:]).all()


@pytest.mark.parametrize("make", [LeftHash, SelfHash, Unigram])
@pytest.mark.parametrize("gamma", [0.25, 0.5])
def test_bias_makes_a_share_gamma_of_the_tokens_green(make, gamma):
    rng = np.random.default_rng(1)
    exact = make(KEY, SIZE, gamma=gamma, greens="exact")
    for _ in range(20):
        greens = exact.bias(rng.integers(0, SIZE, size=exact.context).tolist(), np.zeros(SIZE)) > 0
        if make is not SelfHash:  # there each candidate may be judged by a list of its own
            assert greens.sum() == int(gamma * SIZE)
    independent = make(KEY, 100_000, gamma=gamma)
    greens = independent.bias([1] * independent.context, np.zeros(100_000)) > 0
    assert abs(greens.mean() - gamma) < 0.01


def test_gumbel_chooses_each_token_with_its_probability_over_all_keys():
    """Over many keys a token is chosen as often as the model would have it."""
    logits = np.log([0.5, 0.3, 0.15, 0.05])
    chosen = [
        int(np.argmax(Gumbel(n.to_bytes(16, "little"), 4).bias([0] * 5, logits)))
        for n in range(4000)
    ]
    shares = np.bincount(chosen, minlength=4) / 4000
    assert np.abs(shares - [0.5, 0.3, 0.15, 0.05]).max() < 0.025


@pytest.mark.slow
@pytest.mark.parametrize("name", VARIANTS)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=60))
def test_distinct_counts_a_pair_of_context_and_token_once(name, ids):
    """Version 2 of gumbel counts a context once, whatever follows it: it marks it once."""
    scheme = VARIANTS[name]()
    evidence = scheme.evidence(ids)
    first = {}
    for row, at in enumerate(evidence.positions.tolist()):
        context = tuple(ids[at - scheme.context : at])
        if isinstance(scheme, SelfHash):  # one token of the window decides, wherever it stands
            context = (int(evidence.seeds[row]),)
        first.setdefault(context if getattr(scheme, "once", False) else (*context, ids[at]), row)
        if not getattr(scheme, "once", False):
            same = evidence.draw_ids == evidence.draw_ids[row]
            assert (evidence.scores[same] == evidence.scores[row]).all()
    distinct = evidence.distinct()
    assert distinct.positions.tolist() == evidence.positions[sorted(first.values())].tolist()


# Written by the first release of either version: others are lost if they change.
GOLDEN = {
    ("left_hash", "independent", 1): "000101010101110010001011011001101011001",
    ("left_hash", "exact", 1): "001101000010001011000101011001100001001",
    ("self_hash", "independent", 1): "1011001100010011010101110100000110000",
    ("self_hash", "exact", 1): "0010111001010000001010000100000100111",
    ("unigram", "independent", 1): "0110111100111101110010011001111100010010",
    ("unigram", "exact", 1): "1001100101010101101110111100010010100100",
    ("left_hash", "independent", 2): "100100001101011000010110111111010011111",
    ("left_hash", "exact", 2): "011001100000100110010111110101111111111",
    ("self_hash", "independent", 2): "0110000111011010100100101101010110010",
    ("self_hash", "exact", 2): "0101000111000011110011101000111011100",
    ("unigram", "independent", 2): "0000101111001000110111111111000100001010",
    ("unigram", "exact", 2): "1110010010000100101000110100101001111111",
}
GOLDEN_GUMBEL = {
    1: [0.43835, 0.238365, 1.449364, 0.021926, 1.60103, 0.055512, 0.755246, 1.019359],
    2: [5.437747, 1.831053, 1.06161, 0.2529, 0.185979, 2.549812, 2.617223, 0.455442],
}
SQUARES = [n * n % 499 for n in range(40)]


@pytest.mark.parametrize(("name", "greens", "version"), GOLDEN)
def test_green_lists_give_the_golden_tokens(name, greens, version):
    found = SCHEMES[name](KEY, SIZE, greens=greens, version=version).evidence(SQUARES)
    assert "".join(f"{score:.0f}" for score in found.scores) == GOLDEN[name, greens, version]


@pytest.mark.parametrize("version", GOLDEN_GUMBEL)
def test_gumbel_gives_the_golden_scores(version):
    found = Gumbel(KEY, SIZE, version=version).evidence(SQUARES).scores[:8]
    np.testing.assert_allclose(found, GOLDEN_GUMBEL[version], atol=1e-6)


@pytest.mark.parametrize("name", SCHEMES)
def test_versions_of_a_scheme_are_unrelated(name):
    """Nor have schemes and keys."""
    ids = np.random.default_rng(3).integers(0, SIZE, 2000)
    scores = [
        SCHEMES[other](key, SIZE, version=version).evidence(ids).scores[-1990:]
        for other, key, version in (
            *((name, KEY, 2), (name, KEY, 1), (name, KEY[::-1], 2)),
            *((each, KEY, 2) for each in SCHEMES if each != name),
        )
    ]
    assert all(abs(np.corrcoef(scores[0], other)[0, 1]) < 0.11 for other in scores[1:])


@pytest.mark.parametrize("version", [0, 3, "2", True, None])
@pytest.mark.parametrize("name", SCHEMES)
def test_schemes_refuse_unknown_versions(name, version):
    with pytest.raises(SettingsError, match="version: expected 1 or 2, found"):
        SCHEMES[name](KEY, SIZE, version=version)


@pytest.mark.parametrize("name", VARIANTS)
def test_bias_takes_context_ids_beyond_the_vocabulary(name):
    """A model has more ids than its tokenizer; so may the text that it continues."""
    scheme = VARIANTS[name]()
    context = [SIZE + 40] * scheme.context
    assert np.isfinite(scheme.bias(context, np.zeros(SIZE))).all()
    arrays = scheme.bias(np.array(context, dtype=np.int64), np.zeros(SIZE))
    assert (arrays == scheme.bias(context, np.zeros(SIZE))).all()


@pytest.mark.parametrize("name", VARIANTS)
def test_schemes_are_the_same_when_they_are_copied(name):
    scheme = VARIANTS[name]()
    context = list(range(scheme.context))
    expected = scheme.bias(context, np.zeros(SIZE))
    for copied in (copy.deepcopy(scheme), pickle.loads(pickle.dumps(scheme))):
        assert (copied.bias(context, np.zeros(SIZE)) == expected).all()


@pytest.mark.parametrize("name", ["left_hash", "unigram"])
def test_bias_is_right_when_sizes_and_dtypes_alternate(name):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    scheme = SCHEMES[name](KEY, SIZE)
    context = [4] * scheme.context
    whole = scheme.bias(context, np.zeros(SIZE))
    for size in (SIZE, 100, SIZE, 7):
        for kind in (torch.float32, torch.float64, torch.bfloat16):
            found = scheme.bias(context, torch.zeros(size, dtype=kind))
            assert found.dtype == kind
            assert found.tolist() == whole[:size].tolist()
        assert scheme.bias(context, np.zeros(size)).tolist() == whole[:size].tolist()


@pytest.mark.parametrize(("name", "usual"), [("left_hash", 1), ("self_hash", 3), ("gumbel", 5)])
def test_context_says_which_tokens_a_score_depends_on(name, usual):
    """A change of the token that is `context` before a token changes its score, none further."""
    whole = SCHEMES[name](KEY, SIZE)
    assert whole.context == usual
    for width in (1, 2, usual, 7):
        scheme = make_scheme(name, KEY, SIZE, context=width)
        if width == usual:
            assert (scheme.evidence(SQUARES).scores == whole.evidence(SQUARES).scores).all()
        rng = np.random.default_rng(width)
        context = rng.integers(0, SIZE, width).tolist()
        near, far = [context[0] ^ 1, *context[1:]], [3, *context]
        bias = scheme.bias(context, np.zeros(SIZE))
        assert (scheme.bias(near, np.zeros(SIZE)) != bias).any()
        tokens = rng.integers(0, SIZE, 40).tolist()
        last = [scheme.evidence([*before, token]) for before in (far, context) for token in tokens]
        scores = [found.scores[-1] for found in last]
        assert scores[:40] == scores[40:]


@pytest.mark.parametrize("context", [0, 257, 2.0, True, "3", None])
@pytest.mark.parametrize("name", ["left_hash", "self_hash", "gumbel"])
def test_schemes_refuse_contexts_out_of_range(name, context):
    with pytest.raises(SettingsError, match=r"context: expected an integer from 1 to 256 .*found"):
        make_scheme(name, KEY, SIZE, context=context)


@pytest.mark.parametrize("name", SCHEMES)
def test_evidence_is_empty_when_the_list_is_short(name):
    scheme = SCHEMES[name](KEY, SIZE)
    for length in range(scheme.context + 1):
        assert len(scheme.evidence([1] * length)) == 0 or scheme.context == 0
    assert len(scheme.evidence([1] * (scheme.context + 1))) == 1


@pytest.mark.parametrize("ids", [[0, 1, 2, 3, 4, 5, SIZE], [-1] * 9, np.zeros((2, 9), dtype=int)])
@pytest.mark.parametrize("name", SCHEMES)
def test_evidence_refuses_ids_of_another_tokenizer(name, ids):
    with pytest.raises(SettingsError, match="ids: expected"):
        SCHEMES[name](KEY, SIZE).evidence(ids)


@pytest.mark.parametrize(
    ("settings", "part"),
    [
        ({"gamma": 0}, "gamma: expected a number above 0 and below 1, found 0"),
        ({"gamma": 1.0}, "gamma: expected"),
        ({"gamma": 2.0**-32}, r"gamma: expected a share from 2\^-31 to 1 - 2\^-31, found 2\.3"),
        ({"gamma": 1 - 2.0**-32}, "gamma: expected a share from"),
        ({"gamma": "x"}, "gamma: expected"),
        ({"gamma": float("nan")}, "gamma: expected"),
        ({"delta": -1}, "delta: expected a number above 0"),
        ({"delta": float("inf")}, "delta: expected"),
        ({"greens": "some"}, "greens: expected independent or exact, found 'some'"),
        ({"gamma": 0.001, "greens": "exact"}, "found 0 green of 500"),
        ({"depth": 3}, "expected settings that left_hash has, found depth"),
    ],
)
def test_schemes_refuse_settings_out_of_range(settings, part):
    with pytest.raises(SettingsError, match=part):
        make_scheme("left_hash", KEY, SIZE, **settings)


@pytest.mark.parametrize("size", ["500", 500.0, None, 0, -1])
@pytest.mark.parametrize("name", SCHEMES)
def test_schemes_refuse_a_vocabulary_that_is_none(name, size):
    with pytest.raises(SettingsError, match="vocab_size: expected an integer of at least"):
        SCHEMES[name](KEY, size)


@pytest.mark.parametrize("name", SCHEMES)
def test_the_size_of_a_vocabulary_may_be_an_unsigned_integer(name):
    ids = list(range(40))
    found = SCHEMES[name](KEY, np.uint32(SIZE))
    assert type(found.vocab_size) is int
    assert np.array_equal(found.evidence(ids).scores, SCHEMES[name](KEY, SIZE).evidence(ids).scores)


def test_exact_lists_are_those_of_a_plain_integer():
    sizes = np.uint32(257), 257
    unsigned, plain = (LeftHash(KEY, size, greens="exact", version=1) for size in sizes)
    assert np.array_equal(unsigned.evidence(range(200)).scores, plain.evidence(range(200)).scores)


@pytest.mark.parametrize("number", [np.int64(2), np.float32(2), Fraction(2)])
def test_settings_are_numbers_of_any_kind(number):
    found = make_scheme("left_hash", KEY, SIZE, delta=number)
    assert found.delta == 2
    assert type(found.delta) is float


def test_make_scheme_knows_names_and_objects():
    with pytest.raises(SettingsError, match="unknown scheme 'x': choose one of dipmark, gumbel"):
        make_scheme("x", KEY, SIZE)
    with pytest.raises(CredentialError, match="expected a key, found none"):
        make_scheme("gumbel", None, SIZE)
    scheme = Gumbel(KEY, SIZE)
    assert make_scheme(scheme, None, SIZE) is scheme
    with pytest.raises(SettingsError, match="found both"):
        make_scheme(scheme, KEY, SIZE)
