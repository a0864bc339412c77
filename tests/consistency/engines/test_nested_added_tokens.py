"""Added tokens that are part of one another, against the library."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.support.random_added_tokens import Added, Model, added_models, tokens_to_compare, walk
from tests.support.random_bpe import MODES
from ticore.consistency import Verifier
from ticore.consistency._engines.build import table_engine
from ticore.consistency._engines.nested_added_tokens import may_nest
from ticore.consistency._engines.retokenizing import Oracle
from ticore.consistency._engines.stable_cuts import cut_finder
from ticore.consistency._unsupported import Unsupported
from ticore.consistency._verifier import Verification

choices = st.lists(st.integers(0, 99), min_size=2, max_size=9)
LINES = tuple(Added("\n" * n) for n in (1, 2, 4))
SPACES = tuple(Added(" " * n) for n in (2, 3, 5))


@settings(max_examples=60)
@given(model=added_models(flags=True), mode=st.sampled_from(MODES), choices=choices)
def test_answers_are_the_librarys_for_random_added_tokens(model, mode, choices):
    assume(model.open().structure() is not None)
    walk(model, mode, choices)


@settings(max_examples=40)
@given(model=added_models(flags=True), picks=st.lists(st.integers(0, 99), max_size=8))
def test_a_verification_says_of_each_list_what_the_library_says(model, picks):
    """Of inconsistent lists too, and of those that become consistent again."""
    tokenizer = model.open()
    assume(tokenizer.structure() is not None)
    tokens, oracle = tokens_to_compare(tokenizer), Oracle(tokenizer)
    try:
        cuts = cut_finder(tokenizer)
    except Unsupported:
        cuts = None
    verification = Verification(table_engine(oracle), oracle, cuts, ())
    for pick in picks:
        verification.push(tokens[pick % len(tokens)])
        ids = list(verification.ids)
        assert verification.consistent == oracle.is_consistent(ids)
        if verification.unrecoverable:
            assert not oracle.recovers_with(ids, ["", "a", " ", "\n", "b", "<", ">"])


@pytest.mark.parametrize("kind", ["gpt2", "cl100k", "marks"])
@pytest.mark.parametrize("added", [LINES, SPACES], ids=["lines", "spaces"])
def test_answers_are_the_librarys_for_runs(kind, added):
    for first, mode in ((0, "prefix"), (3, "open"), (6, "prefix"), (9, "viable")):
        walk(Model(kind, added=added), mode, [first, 0, 1, 2, 7, 3])


@pytest.mark.parametrize("kind", ["gpt2", "marks"])
def test_places_inside_an_added_token_do_not_count(kind):
    """With aab and ab, of aabc the first is found."""
    added = tuple(map(Added, ("aab", "ab", "bc", "abcx", "aabcd")))
    tokenizer = Model(kind, added=added).open()
    verifier = Verifier(tokenizer)
    assert verifier.method == "table"
    ids = tokenizer.encode("aab")
    assert verifier.start([*ids, *tokenizer.encode("c")]).consistent
    assert not verifier.start([*ids, *tokenizer.encode("c"), *tokenizer.encode("d")]).consistent
    walk(Model(kind, added=added), "prefix", [0, 1, 2, 3, 4, 5, 6])


@pytest.mark.parametrize(
    ("added", "expected"),
    [
        ({"a": 0, "ab": 1}, True),
        ({"b": 0, "abc": 1}, True),
        ({"b": 0, "ab": 1}, False),
        ({"ab": 0, "bc": 1}, False),
        ({"a": 9, "ab": 1}, False),
        ({"a": 1, "ab": 9}, True),
        ({}, False),
    ],
)
def test_may_nest_where_more_text_makes_a_longer_token(added, expected):
    assert may_nest(added, {9}) == expected
