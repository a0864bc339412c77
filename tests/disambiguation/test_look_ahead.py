"""Look-ahead: groups of paths, what is drawn from them, and that both are the model's choice."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import chisquare

from tests.support.pools import nested, pool, prefix_free, toys
from tests.support.toy_models import ToyTokenizer
from ticore._support.shared_randomness import SharedRandomness
from ticore.candidates import Pool
from ticore.disambiguation import LookAhead, Mwis, PromptContext
from ticore.disambiguation._look_ahead import Path, Paths, grouped

TOY = ToyTokenizer(["a", "ab", "abb", "b", "ba", "c"])
LEVEL = 1e-4  # below this a fit is rejected; with fixed seeds a test passes always or never
draws = st.integers(0, (1 << 128) - 1)
A, AB, B = 0, 1, 3


def session_of(tokenizer, key=None):
    session = LookAhead(PromptContext(tokenizer, "", [])).start()
    if key is not None:
        session.share(SharedRandomness(key, "look-ahead"))
    return session


def spell(tokenizer):
    return [piece.encode() for piece in tokenizer.pieces]


@st.composite
def places(draw):
    """Paths at a place of a text, and the pool of what may follow the one that was read."""
    tokenizer, candidates = draw(toys())
    mass = st.integers(0, 1 << 40) | st.just(0)
    longer = draw(st.lists(st.tuples(nested, mass), max_size=6))
    longer = tuple(Path((100, n), text.encode(), size) for n, (text, size) in enumerate(longer))
    return Paths((7,), draw(mass), longer), candidates, spell(tokenizer)


def every_path(paths, candidates, spelled):
    """The paths of a place with the masses that the model gives them, as fractions."""
    probs = candidates.unnormalized_probs.tolist()
    following = [
        Path((7, token), spelled[token], Fraction(paths.mass * prob, sum(probs)))
        for token, prob in zip(candidates.ids.tolist(), probs, strict=True)
    ]
    return [*paths.longer, *following]


@given(places(), draws)
def test_groups_are_the_paths_of_one_root(place, draw):
    _, candidates, _ = place
    if not candidates.unnormalized_probs.sum():
        return
    every, choices = every_path(*place), grouped(*place, draw)
    texts = {path.spelled for path in every}
    roots = [text for text in texts if not any(text[:n] in texts for n in range(1, len(text)))]
    assert sorted(choices.spelled) == sorted(roots)
    total = sum(p.mass for p in every)
    for text, after in zip(choices.spelled, choices.after, strict=True):
        group = [p for p in every if p.spelled.startswith(text)]
        same = [p for p in group if p.spelled == text]
        longer = {p.tokens: p for p in group if p.spelled != text}
        assert after.read in {p.tokens for p in same}
        assert {p.tokens: p.spelled for p in after.longer} == {
            tokens: p.spelled[len(text) :] for tokens, p in longer.items()
        }
        # The masses of all paths are in one proportion to those of the model.
        scale = Fraction(sum(candidates.unnormalized_probs.tolist()))
        assert after.mass == scale * sum(p.mass for p in same)
        assert all(p.mass == scale * longer[p.tokens].mass for p in after.longer)
    assert total or not choices.mass.any()


@given(places())
def test_draws_pick_each_path_that_spells_the_same_by_its_mass(place):
    """The least and the greatest number that pick a path are the bounds of its share."""
    every = every_path(*place)
    for after in grouped(*place, 0).after:
        root = next(p.spelled for p in every if p.tokens == after.read)
        same, start = [p for p in every if p.spelled == root], Fraction(0)
        mass = sum(p.mass for p in same)
        for path in same if mass else ():
            bounds = [Fraction(at * 2**128, 1) / mass for at in (start, start + path.mass)]
            least, stop = (-(-bound.numerator // bound.denominator) for bound in bounds)
            start += path.mass
            for draw in (least, stop - 1) if least < stop else ():
                picked = [each.read for each in grouped(*place, draw).after]
                assert path.tokens in picked


def test_a_path_is_taken_back_where_another_one_spells_the_same():
    """The model reads "a". Then "ab" as one token, and "a" + "b", spell the same."""
    backs = set()
    for key in range(20):
        session = session_of(TOY, key.to_bytes(16, "big"))
        choices = session.refine(pool(A, AB), iter([]))
        assert choices.spelled == [b"a"]
        assert session.take(choices, 0) == (0, (A,))
        choices = session.refine(pool(B), iter([]))
        assert choices.spelled == [b"b"]
        backs.add(session.take(choices, 0))
        assert session.text() == "ab"
    assert backs == {(1, (AB,)), (0, (B,))}


def test_message_chooses_among_tokens_that_begin_one_another():
    """In SyncPool they are one choice."""
    session = session_of(TOY, bytes(16))
    session.take(session.refine(pool(A, AB), iter([])), 0)
    choices = session.refine(pool(5, A), iter([]))
    assert sorted(choices.spelled) == [b"a", b"b", b"c"]
    assert sorted(prefix.decode() for prefix in choices.spelled) == ["a", "b", "c"]


def after_token(token):
    """A pool that depends on the token before, in which no token is certain or hardly possible."""
    order = np.random.default_rng(token + 1).permutation(TOY.vocab_size)
    return Pool(order, np.arange(0, -250 * TOY.vocab_size, -250))


def test_tokens_follow_the_model():
    """The groups by their mass, as a codec chooses them: two tokens of a text have their shares."""
    rng, counts = np.random.default_rng(0), np.zeros((TOY.vocab_size,) * 2)
    for key in range(4000):
        session, ids = session_of(TOY, key.to_bytes(16, "big")), []
        while len(ids) - len(session._paths.read) < 2:  # until all paths begin with two tokens
            choices = session.refine(after_token(ids[-1] if ids else -1), iter([]))
            index = rng.choice(len(choices.mass), p=choices.mass / choices.mass.sum())
            back, tokens = session.take(choices, int(index))
            ids[len(ids) - back :] = tokens
            assert "".join(TOY.pieces[token] for token in ids) == session.text()
        counts[ids[0], ids[1]] += 1
    shares = np.zeros_like(counts)
    for first, share in zip(*_distribution(-1), strict=True):
        shares[first, _distribution(first)[0]] = share * _distribution(first)[1]
    expected = shares * counts.sum()
    assert (expected > 20).all()
    assert chisquare(counts.ravel(), expected.ravel()).pvalue > LEVEL


def _distribution(token):
    some = after_token(token)
    return some.ids, some.unnormalized_probs / some.unnormalized_probs.sum()


def test_paths_that_rounding_to_twelve_places_drops_are_kept():
    """The published program multiplies by the share of the path that was read, and rounds."""
    share, probability = 1e-6, 3e-7
    assert round(share * probability, 12) == 0
    paths = Paths((), 1, (Path((AB,), b"c", 999_999),))
    following = Pool(np.array([A, B]), np.array([0, -15 << 10]))  # e^-15 is 3e-7
    choices = grouped(paths, following, spell(TOY), 0)
    rare = choices.after[choices.spelled.index(b"b")].mass
    assert 0 < rare < 1e-12 * sum(after.mass for after in choices.after)


@given(places(), draws)
@example((Paths((7,), 1 << 200, (Path((1,), b"x", 1 << 150),)), pool(A), spell(TOY)), 0)
def test_trimmed_paths_keep_their_shares(place, draw):
    for after in grouped(*place, draw).after:
        found = after.trimmed()
        total = found.mass + sum(path.mass for path in found.longer)
        whole = after.mass + sum(path.mass for path in after.longer)
        assert total < 1 << 96
        pairs = zip(
            (found.mass, *(p.mass for p in found.longer)),
            (after.mass, *(p.mass for p in after.longer)),
            strict=True,
        )
        for mass, before in pairs if total else ():
            assert abs(Fraction(mass, total) - Fraction(before, whole)) < Fraction(1, 1 << 80)
        cut = len(after.read) - len(found.read)
        assert [p.tokens for p in found.longer] == [p.tokens[cut:] for p in after.longer]


@given(toys())
def test_choices_are_those_of_mwis_before_share(toy):
    tokenizer, candidates = toy
    found = session_of(tokenizer).refine(candidates, iter([]))
    expected = Mwis(PromptContext(tokenizer, "", [])).start().refine(candidates, iter([]))
    for name in ("ids", "mass", "group"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()
    assert prefix_free([text.decode() for text in found.spelled])


@pytest.mark.parametrize(
    "session", [session_of(TOY), LookAhead(PromptContext(TOY, "", [])).read("a")]
)
def test_choices_of_another_disambiguation_are_refused(session):
    choices = Mwis(PromptContext(TOY, "", [])).start().refine(pool(A), iter([]))
    with pytest.raises(TypeError, match="found Choices"):
        session.take(choices, 0) if hasattr(session, "take") else session.locate(choices)
