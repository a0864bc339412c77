"""The computed trees are those of ticore's own classes, and the exact algorithm is exact."""

import itertools
import json
import math
from collections import defaultdict
from dataclasses import asdict

import pytest

from benchmarks.paper.rollback_distribution import Toy, _algorithms, measure, summarize
from benchmarks.paper.rollback_distribution._algorithms import (
    algorithm_4,
    frontier_rollback,
    plain,
    rejected_windows,
)
from benchmarks.paper.rollback_distribution._text_tree import TextTree
from tests.support.choice_trees import outcomes, sampler_of
from tests.support.toy_models import ToyBrackets, ToyModel
from ticore.consistency import Verification, Verifier
from ticore.errors import CapacityError
from ticore.watermarking import Rollback, WholeTextRejection

KINDS = ["permanent", "temporary"]


class Model(ToyModel):
    """A toy as a model of ticore."""

    def __init__(self, toy):
        tokenizer = ToyBrackets([*toy.pieces, "."], special={toy.end})
        super().__init__(tokenizer, eos_ids={toy.end})
        self._toy = toy

    def logits_after(self, ids):
        return self._toy.logits_after(ids)


@pytest.fixture
def mendable(monkeypatch):
    """Verifications of a toy know as much of the future as the computed trees do."""

    def give(toy):
        known = property(lambda verification: not toy.is_mendable(verification.ids))
        monkeypatch.setattr(Verification, "unrecoverable", known)

    return give


def enumerated(toy, make):
    """What a class of ticore writes: texts' probabilities, that of an error, forward passes."""
    model = Model(toy)
    verifier = Verifier(model.tokenizer)
    shares, fails, forwards = defaultdict(float), 0.0, 0.0

    def write(choose):
        text = make(
            model.start([]),
            verifier.start(),
            sampler_of(choose),
            max_new_tokens=toy.length,
            eos_ids=model.eos_ids,
        )
        try:
            list(text.run())
        except CapacityError:
            return None, text.forwards
        return tuple(text.committed), text.forwards

    for (text, read), p in outcomes(write):
        forwards += p * read
        if text is None:
            fails += p
        else:
            shares[text] += p
    return shares, fails, forwards


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_trees_of_rollback_are_those_of_ticore(kind, mendable):
    toy = Toy(kind, seed=1, length=3)
    mendable(toy)
    tree = TextTree.of(toy)
    for observation in (0, 2):
        found, fails, forwards = enumerated(
            toy, lambda *a, q=observation, **how: Rollback(*a, observation=q, **how)
        )
        expected = frontier_rollback(tree, observation)
        assert fails == 0
        assert dict(found) == pytest.approx({t: p for t, p in expected.shares.items() if p})
        assert forwards == pytest.approx(expected.forwards)


@pytest.mark.parametrize("kind", KINDS)
def test_trees_of_whole_text_rejection_are_those_of_ticore(kind, mendable):
    """Of one attempt; the expected number of attempts is 1 / Z."""
    toy = Toy(kind, seed=1, length=4)
    mendable(toy)
    tree = TextTree.of(toy)
    found, fails, forwards = enumerated(
        toy, lambda *a, **how: WholeTextRejection(*a, max_attempts=1, **how)
    )
    share = tree.consistent_share
    expected = rejected_windows(tree, toy.length)
    assert fails == pytest.approx(1 - share)
    assert {text: p / share for text, p in found.items()} == pytest.approx(dict(expected.shares))
    assert dict(expected.shares) == pytest.approx(tree.target)
    assert forwards / share == pytest.approx(expected.forwards)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loops", ["steps", "tokens"])
def test_algorithm_4_is_what_its_pseudocode_does(kind, loops, monkeypatch):
    """As printed; and until the text is full, but for some steps only: else paths are too many."""
    toy, observation = Toy(kind, seed=3, length=3, choices=None if loops == "steps" else 0), 1
    steps = toy.length if loops == "steps" else 8
    monkeypatch.setattr(_algorithms, "_MOST_STEPS", steps)

    def write(choose):
        ids, n, read, is_unread = (), 0, 0, False
        for _ in range(steps):
            read += is_unread
            token = sampler_of(choose)(ids, toy.logits_after(ids))
            if token == toy.end:
                return ids, read
            ids, is_unread = (*ids, token), True
            n = 0 if toy.is_consistent(ids) else n + 1
            if n > observation:
                ids, is_unread = ids[: -observation - 1], False
            if loops == "tokens" and len(ids) == toy.length:
                return ids, read
        return (ids if loops == "steps" else None), read

    shares, forwards = defaultdict(float), 0.0
    for (text, read), p in outcomes(write):
        shares[text] += p
        forwards += p * read
    written = algorithm_4(TextTree.of(toy), observation, loops)
    assert shares.pop(None, 0.0) == pytest.approx(written.unfinished)
    assert shares == pytest.approx({text: p for text, p in written.shares.items() if p})
    assert forwards == pytest.approx(written.forwards)


def test_mendable_lists_are_those_that_two_more_tokens_mend():
    for kind in KINDS:
        toy = Toy(kind, seed=0, length=6)
        for ids in itertools.chain(*(itertools.product(range(3), repeat=n) for n in range(5))):
            longer = itertools.product(range(3), repeat=2)
            mended = toy.is_mendable(ids) or any(toy.is_mendable((*ids, *more)) for more in longer)
            assert mended == toy.is_mendable(ids)


def test_every_algorithm_is_a_distribution_and_only_whole_texts_give_the_target():
    for kind in KINDS:
        tree = TextTree.of(Toy(kind, seed=2, length=4))
        written = [plain(tree), algorithm_4(tree, 2, "tokens"), frontier_rollback(tree, 1)]
        written += [rejected_windows(tree, window) for window in (1, 2, 3, 4)]
        written += [frontier_rollback(tree, 3, bans=False)]
        for one in written:
            assert sum(one.shares.values()) + one.unfinished == pytest.approx(1)
        assert written[0].shares == pytest.approx(tree.texts)
        distances = [
            sum(abs(one.shares.get(text, 0.0) - p) for text, p in tree.target.items())
            for one in written[3:7]
        ]
        assert min(distances[:3]) > 0.01
        assert distances[3] < 1e-12
        # Without observation, a ban leaves the others in the proportions of a mask.
        assert frontier_rollback(tree, 0).shares == pytest.approx(written[3].shares)


def test_measure_gives_rows_for_json_and_summarize_their_means():
    toys = [Toy(kind, seed=1, length=4) for kind in KINDS] + [Toy("permanent", seed=5, length=3)]
    rows = measure(1, toys, observations=(0, 2, 20))
    by_name = {(row.kind, row.seed, row.algorithm, row.setting): row for row in rows}
    for row in rows:
        assert json.loads(json.dumps(asdict(row))) == asdict(row)
        assert 0 <= row.tv <= 1
        assert row.tv_per_inconsistent == pytest.approx(row.tv / (1 - row.consistent_share))
        if row.kl_bits is not None:  # Pinsker's inequality
            assert row.tv <= math.sqrt(row.kl_bits * math.log(2) / 2) + 1e-9
    for kind in KINDS:
        exact = by_name[kind, 1, "whole-text rejection", None]
        assert exact.tv < 1e-12
        assert exact.cost > 1
        none = by_name[kind, 1, "none", None]
        assert (none.kl_bits, none.cost) == (None, 1)
        assert none.tv_per_inconsistent == pytest.approx(1)
        assert by_name[kind, 1, "algorithm 4", 2].inconsistent > 0
        rolled = by_name[kind, 1, "frontier rollback", 20]
        assert rolled.inconsistent == 0
        assert 0 < rolled.tv < none.tv
    summary = summarize(rows)
    (masking,) = (s for s in summary if (s.kind, s.algorithm) == ("permanent", "masking"))
    both = [row for row in rows if (row.kind, row.algorithm) == ("permanent", "masking")]
    assert masking.toys == len(both) == 2
    assert masking.cost == pytest.approx(sum(row.cost for row in both) / 2)
    assert masking.cost_range == (min(r.cost for r in both), max(r.cost for r in both))
    assert json.loads(json.dumps(asdict(summary[0])))["algorithm"] == "none"


def test_every_algorithm_writes_tokens_when_there_are_no_choices():
    """A first token that is forced and inconsistent would leave the empty text alone."""
    for seed in range(20):
        tree = TextTree.of(Toy("temporary", seed, length=3, choices=0))
        assert rejected_windows(tree, 1).tokens > 0


def test_measure_refuses_a_toy_without_inconsistent_texts():
    with pytest.raises(ValueError, match="expected a toy with inconsistent texts"):
        measure(0, [Toy("permanent", seed=0, length=1)])
