"""The fast check of many lists against the definition."""

import random

import numpy as np

import ticore
from benchmarks.verification.seams import SeamCases
from tests.support.tokenizer_contract import any_ids
from tests.support.tokenizers import (
    FRAGMENTS,
    TRAINED,
    byte_level_with_added,
    byte_level_with_digits_apart,
)
from ticore.consistency import compare
from ticore.consistency._drift import Drift, drifts_by_parts
from ticore.consistency._drift_check import DriftCheck
from ticore.consistency._engines.list_check import ChangedPart, ListCheck
from ticore.consistency._engines.retokenizing import Oracle

WITH_ADDED = {**TRAINED, "added": byte_level_with_added}


def test_lists_are_consistent_where_the_definition_says_so():
    """Any ids, pieces of text put together, special tokens and halves of added ones."""
    by_tables = 0
    for name, opened in sorted(WITH_ADDED.items()):
        tokenizer, draw = opened(), random.Random(name)
        cases, oracle = SeamCases(tokenizer, FRAGMENTS, f"4 {name}"), Oracle(tokenizer)
        special = sorted(tokenizer.special_ids)
        lists = []
        for _ in range(60):
            ids = []
            for _ in range(draw.randrange(5)):
                ids += tokenizer.encode(cases.text(3))
                if special and draw.random() < 0.2:
                    ids.append(draw.choice(special))
                if draw.random() < 0.2:
                    ids += any_ids(tokenizer, [draw.randrange(1 << 16)])
            lists.append(ids)
        check = DriftCheck(tokenizer)
        by_tables += not check.why
        arrays = [np.array(ids, dtype=np.int64) for ids in lists]
        for _ in range(2):  # the second time all pieces are known
            found = check.compare(arrays, [None] * len(lists))
            for ids, answer in zip(lists, found, strict=True):
                assert (answer is None) == oracle.is_consistent(ids), (name, ids)
                if answer is not None:
                    assert answer == Drift.of(compare(tokenizer, ids))
    assert by_tables > len(WITH_ADDED) / 3


def test_unknown_text_is_lost_even_where_both_lists_have_it():
    tokenizer = ticore.load_tokenizer("tiny-en")
    unknown, start = 0, 1
    ids = [start, *tokenizer.encode("It was late."), unknown]
    assert tokenizer.unknown_ids == {unknown}
    found = compare(tokenizer, ids, reread=ids)
    assert (found.consistent, found.cause) == (False, "normalizer")
    assert (found.specials, found.specials_again) == ((0,), (0,))
    assert found.unknowns == (len(ids) - 1,)
    arrays = np.array(ids), np.array(ids[:-1])
    lost, kept = DriftCheck(tokenizer).compare(arrays, arrays)
    assert lost == Drift.of(found)
    assert kept is None


def test_wrong_ids_are_errors_of_their_own_list():
    tokenizer = ticore.load_tokenizer("tiny-en")
    good, wrong = np.array([377]), np.array([tokenizer.vocab_size])
    found = DriftCheck(tokenizer).compare([good, wrong, good], [None, None, wrong])
    assert found[0] is None
    assert all(isinstance(one, ticore.TicoreError) for one in found[1:])


def test_text_before_an_added_token_is_encoded_as_if_it_ended_there():
    """GPT-2 splits line ends before a sign, but not before the end: of "<t>" it sees nothing."""
    tokenizer = byte_level_with_added()
    (added,), ends = tokenizer.encode("<t>"), tokenizer.encode("\n")
    check = DriftCheck(tokenizer)
    lists = [[*tokenizer.encode("\n\n"), added], [*ends, *ends, added], [*ends, *ends]]
    found = check.compare([np.array(ids) for ids in lists], [None] * 3)
    assert [one is None for one in found] == [True, False, False]
    for ids, one in zip(lists, found, strict=True):
        assert (one is None) == (tokenizer.encode(tokenizer.decode(ids)) == ids)


def test_line_ends_before_digits_are_read_as_the_digits_after_them_have_it():
    """Three digits are cut out first, and the line ends before them stay whole; before two not."""
    tokenizer = byte_level_with_digits_apart()
    check, oracle = DriftCheck(tokenizer), Oracle(tokenizer)
    assert not check.why
    digits, ends = tokenizer.encode("123"), tokenizer.encode("\n")
    lists = [
        [*ends, *ends, *digits],
        [*tokenizer.encode("\n\n"), *digits],
        [*ends, *ends, *tokenizer.encode("12")],
    ]
    found = check.compare([np.array(ids) for ids in lists], [None] * 3)
    assert [one is None for one in found] == [False, True, True]
    assert [oracle.is_consistent(ids) for ids in lists] == [False, True, True]


def test_a_part_that_comes_back_as_it_was_is_no_drift():
    """Should the tables be too strict, that costs time and gives no wrong answer."""

    class Strict(ListCheck):
        def changed_parts(self, lists):
            return [ChangedPart(n, 0, len(ids)) for n, ids in enumerate(lists)]

    tokenizer = byte_level_with_added()
    good = np.array(tokenizer.encode("one two"), dtype=np.int64)
    bad = np.array(tokenizer.encode("\n") * 2, dtype=np.int64)
    found = drifts_by_parts(tokenizer, Strict(tokenizer), [good, bad])
    assert found == {0: None, 1: Drift.of(compare(tokenizer, bad.tolist()))}
