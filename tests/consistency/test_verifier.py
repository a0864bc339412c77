"""The verifier against the definition, on every kind of tokenizer that trains in a test."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.models import ToyTokenizer
from tests.tokenizers import REAL, TRAINED
from ticore.consistency import Verifier, oracle
from ticore.errors import InconsistentStateError, SettingsError

TOY = ToyTokenizer(["", "a", "b", "ab", "ba", "aab", "c"])
TEXT = (
    "It's what we'll do, isn't it?  Two  spaces,\n\n lines\r\n and 12345 numbers; naïve café "
    "e\u0301 e\u0308x 日本語のテスト 中文 🙂👩‍👩‍👧 don'T  ſ's \t tabs   \n x"
)
NAMES = sorted(TRAINED)


def histories(tokenizer):
    """Id lists: tokens of real text, cut anywhere, with some arbitrary tokens after them."""
    ids = tokenizer.encode(TEXT)
    arbitrary = st.lists(st.integers(0, tokenizer.vocab_size - 1), max_size=6)
    return st.builds(
        lambda start, end, more: ids[start : start + end] + more,
        st.integers(0, len(ids)),
        st.integers(0, 25),
        arbitrary,
    )


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=30)
@given(data=st.data())
def test_rungs_agree_with_the_oracle(name, data):
    """Pushing, also through inconsistent lists, and asking: always what the definition says."""
    tokenizer = TRAINED[name]()
    history = data.draw(histories(tokenizer))
    candidates = data.draw(st.lists(st.integers(0, tokenizer.vocab_size - 1), max_size=8))
    verification = Verifier(tokenizer).start()
    for n, token in enumerate(history):
        if verification.consistent:
            expected = oracle.admits(tokenizer, history[:n], [*candidates, token])
            assert verification.admits([*candidates, token]).tolist() == expected.tolist()
        verification.push(token)
        assert verification.consistent == oracle.is_consistent(tokenizer, history[: n + 1])


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=10)
@given(data=st.data())
def test_admitted_walks_stay_consistent(name, data):
    """Long consistent lists, which arbitrary ones never become: cuts advance, answers hold."""
    tokenizer = TRAINED[name]()
    rng = np.random.default_rng(data.draw(st.integers(0, 10_000)))
    true_ids = tokenizer.encode(TEXT)
    verification = Verifier(tokenizer).start()
    for _ in range(40):
        some = (
            rng.choice(true_ids, 5).tolist() + rng.integers(tokenizer.vocab_size, size=5).tolist()
        )
        expected = oracle.admits(tokenizer, verification.ids, some)
        assert verification.admits(some).tolist() == expected.tolist()
        if not expected.any():
            break
        verification.push(int(rng.choice(np.array(some)[expected])))
        assert verification.consistent


@pytest.mark.parametrize("name", sorted(REAL))
def test_real_tokenizers_agree_with_the_oracle(name):
    tokenizer = REAL[name]()
    rng = np.random.default_rng(7)
    true_ids = tokenizer.encode(TEXT * 2)
    verification = Verifier(tokenizer).start()
    for token in true_ids:
        some = [token, *rng.integers(tokenizer.vocab_size, size=5).tolist()]
        expected = oracle.admits(tokenizer, verification.ids, some)
        assert verification.admits(some).tolist() == expected.tolist()
        if not expected[0]:
            break
        verification.push(token)


@given(tokens=st.lists(st.integers(1, 6), max_size=12), data=st.data())
def test_rewind_equals_a_fresh_start(tokens, data):
    verification = Verifier(TOY).start([1])
    for token in tokens:
        verification.push(token)
    count = data.draw(st.integers(0, len(tokens)))
    verification.rewind(count)
    fresh = Verifier(TOY).start([1])
    for token in tokens[: len(tokens) - count]:
        fresh.push(token)
    assert list(verification.ids) == list(fresh.ids)
    assert verification.consistent == fresh.consistent
    if fresh.consistent:
        assert verification.mask().tolist() == fresh.mask().tolist()


def test_views():
    whole = Verifier(TOY, view="whole").start([1])
    assert whole.mask().tolist() == [False, True, False, False, False, True, True]
    alone = Verifier(TOY, view="continuation").start([1])
    assert alone.ids == []
    assert alone.mask().tolist() == [False, *[True] * 6]


def test_an_inconsistent_list_cannot_be_asked():
    verification = Verifier(TOY).start()
    verification.push(1)
    verification.push(2)
    assert not verification.consistent
    for ask in (verification.mask, lambda: verification.admits([1])):
        with pytest.raises(InconsistentStateError, match="rewind it"):
            ask()
    verification.rewind(1)
    assert verification.admits([6]).all()


def test_rewind_stops_at_the_start():
    verification = Verifier(TOY).start([1])
    with pytest.raises(SettingsError, match="expected 0 to 0 ids, found 1"):
        verification.rewind(1)


def test_which_rung_and_why():
    assert Verifier(TOY).rung == "oracle"
    assert Verifier(TOY).why == "the tokenizer's structure is not known"
    with pytest.raises(SettingsError, match="tail rung is not exact here"):
        Verifier(TOY, rung="tail")
    rungs = {name: Verifier(make()).rung for name, make in TRAINED.items()}
    assert set(rungs.values()) == {"tail", "oracle"}
    for name, make in TRAINED.items():
        assert bool(Verifier(make()).why) == (rungs[name] == "oracle")


@pytest.mark.parametrize("wrong", [{"mode": "loose"}, {"view": "all"}, {"rung": "fast"}])
def test_unknown_settings(wrong):
    with pytest.raises(SettingsError, match="expected one of"):
        Verifier(TOY, **wrong)
