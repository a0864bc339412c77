"""Tokenizers that are refused, and engines that are found out."""

import random
import re

import numpy as np
import pytest

from tests.consistency.random_bpe import MODES, Bpe, engine_of, few_characters
from tests.models import ToyTokenizer
from tests.tokenizers import REAL, TRAINED, train_sentencepiece
from ticore.consistency import Verifier, verifier
from ticore.consistency.bpe.vocabulary import Vocabulary
from ticore.consistency.cut_engine import CutEngine
from ticore.consistency.oracle import Oracle
from ticore.consistency.trial import compare, require_sound
from ticore.errors import SettingsError

WORDS = tuple((word, 0) for word in (b"th", b"the", b" t", b" th", b" the", b"12", b"\n\n", b"'s"))
SMALL = Bpe(pattern="gpt2", ranks=WORDS)


class Restless(ToyTokenizer):
    """Like a tokenizer with dropout, it splits a word now and then."""

    def encode(self, text):
        draw = random.Random(self.calls)
        self.calls += 1
        whole = super().encode(text)
        return [t for i in whole for t in ([1, 2] if i == 3 and draw.random() < 0.5 else [i])]

    calls = 0


class RestlessInBatches(ToyTokenizer):
    def encode_batch(self, texts):
        return [[1, 2] if ids == [3] else ids[::-1] for ids in super().encode_batch(texts)]


class PutsASpaceBefore(ToyTokenizer):
    """And does not take it away again."""

    def encode(self, text):
        return super().encode(" " + text)


PIECES = ["", "a", "b", "ab", " a", "bab", " "]


@pytest.mark.parametrize("kind", [Restless, RestlessInBatches])
def test_a_tokenizer_that_encodes_by_chance_is_refused(kind):
    with pytest.raises(SettingsError, match=rf"found that {kind.__name__} gives different ids"):
        Verifier(kind(PIECES))


def test_a_tokenizer_that_does_not_read_back_what_it_wrote_is_refused():
    with pytest.raises(SettingsError, match=r"found that PutsASpaceBefore reads ' .*' as"):
        Verifier(PutsASpaceBefore(PIECES))


@pytest.mark.parametrize("name", sorted({**TRAINED, **REAL}))
def test_tokenizers_that_are_sound(name):
    require_sound({**TRAINED, **REAL}[name]())


def test_a_tokenizer_without_plain_words_is_not_refused():
    """There is nothing to try it with."""
    require_sound(ToyTokenizer(["", "é", "é é"]))
    require_sound(ToyTokenizer([""], special=[0]))


class Wrong:
    """An engine that answers as another one does, but for what `change` makes of it."""

    def __init__(self, engine, change):
        self._engine, self._change = engine, change

    def start(self):
        return (), self._engine.start()

    def step(self, state, token):
        return (*state[0], token), self._engine.step(state[1], token)

    def follow(self, state, token):
        return self.step(state, token) if self.mask(state)[token] else None

    def admits(self, state, candidates):
        return self.mask(state)[candidates]

    def mask(self, state):
        mask = self._engine.mask(state[1])
        self._change(state[0], mask)
        return mask

    def finished_ok(self, state):
        return self._engine.finished_ok(state[1])

    def loses(self, state, token):
        return False


def all_admitted(ids, mask):
    mask[:-1] = True


def none_admitted(ids, mask):
    mask[:] = False


def one_too_many_behind_two(ids, mask):
    if len(ids) >= 2:
        mask[:-1] |= np.random.default_rng(len(ids)).random(len(mask) - 1) < 0.2


def some_missing_behind_two(ids, mask):
    if len(ids) >= 2:
        mask[np.flatnonzero(mask)[::2]] = False


CHANGES = [all_admitted, none_admitted, one_too_many_behind_two, some_missing_behind_two]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("change", CHANGES)
def test_a_wrong_engine_is_found_out(change, mode):
    with few_characters():
        engine, oracle = engine_of(SMALL.open(), mode)
        right = compare(engine, oracle, from_masks=True)
        wrong = compare(Wrong(engine, change), oracle, from_masks=True)
    assert right.wrong == ""
    assert right.checks > 300
    assert wrong.wrong.startswith("after ")
    assert "it is wrong about id" in wrong.wrong
    assert 0 < wrong.checks <= right.checks


def all_admitted_after_a_run(ids, mask):
    if len(ids) > 64 and len(set(ids[-64:])) == 1:
        mask[:-1] = True


@pytest.mark.parametrize("mode", MODES)
def test_an_engine_that_forgets_what_stands_before_a_long_run_is_found_out(mode):
    with few_characters():
        engine, oracle = engine_of(SMALL.open(), mode)
        trial = compare(Wrong(engine, all_admitted_after_a_run), oracle, from_masks=True)
    assert re.match(r"after 'a? {64,65}' it is wrong about id", trial.wrong)


def test_an_engine_that_forgets_what_stands_before_many_marks_is_found_out():
    ranks = tuple((c.encode(), 0) for c in "\u0316\u0301ó")
    tokenizer = Bpe(pattern="cl100k", normal_form="NFC", ranks=ranks).open()
    (mark,), (acute,) = map(tokenizer.encode, "\u0316\u0301")

    def accent_admitted_after_marks(ids, mask):
        if ids[-32:] == (mark,) * 32:
            mask[acute] = True

    engine, oracle = engine_of(tokenizer, "prefix")
    trial = compare(Wrong(engine, accent_admitted_after_marks), oracle, from_masks=True)
    assert trial.wrong == f"after {'o' + chr(0x316) * 32!r} it is wrong about id {acute}"


class GivesUp(Wrong):
    """An engine that gives up what it does not admit, or all."""

    def __init__(self, engine, *, all_):
        super().__init__(engine, lambda ids, mask: None)
        self._all = all_

    def loses(self, state, token):
        return self._all or not self.mask(state)[token]


@pytest.mark.parametrize("all_", [True, False])
def test_an_engine_that_gives_up_what_some_text_mends_is_found_out(all_):
    engine, oracle = engine_of(TRAINED["hf-gpt2"](), "prefix")
    trial = compare(GivesUp(engine, all_=all_), oracle, from_masks=True)
    assert re.match("after '.*' it gives up id .*, which some text mends", trial.wrong)


def test_an_engine_that_does_not_follow_what_it_admits_is_found_out():
    class NeverFollows(Wrong):
        def follow(self, state, token):
            return None

    engine, oracle = engine_of(SMALL.open(), "prefix")
    trial = compare(NeverFollows(engine, lambda ids, mask: None), oracle, from_masks=True)
    assert trial.wrong.startswith("after '' it does not follow id")


def test_an_engine_that_is_wrong_about_endings_is_found_out():
    class NeverEnds(Wrong):
        def finished_ok(self, state):
            return False

    engine, oracle = engine_of(SMALL.open(), "prefix")
    trial = compare(NeverEnds(engine, lambda ids, mask: None), oracle, from_masks=True)
    assert trial.wrong == "it is wrong about whether a text may be ''"


@pytest.mark.parametrize("mode", MODES)
def test_a_verifier_steps_down_from_a_wrong_engine(mode, monkeypatch):
    true = verifier.table_engine
    monkeypatch.setattr(
        verifier, "table_engine", lambda oracle: Wrong(true(oracle), one_too_many_behind_two)
    )
    with few_characters():
        stepped_down = Verifier(SMALL.open(), mode)
        asked = Verifier(SMALL.open(), mode, rung="oracle")
    assert stepped_down.rung == "tail"
    assert stepped_down.why.startswith("mask: after ")
    some = range(128)
    assert stepped_down.start().admits(some).tolist() == asked.start().admits(some).tolist()


def test_a_verifier_steps_down_from_cuts_that_are_wrong(monkeypatch):
    class CutsEverything:
        def advance(self, ids, cut):
            return len(ids)

    monkeypatch.setattr(verifier, "table_engine", lambda oracle: "not today")
    monkeypatch.setattr(verifier, "cut_finder", lambda tokenizer: CutsEverything())
    stepped_down = Verifier(train_sentencepiece(vocab_size=500))
    assert stepped_down.rung == "oracle"
    assert stepped_down.why.startswith("mask: not today; tail: after ")


def test_a_wrong_engine_cannot_be_asked_for(monkeypatch):
    monkeypatch.setattr(
        verifier, "table_engine", lambda oracle: Wrong(CutEngine(oracle, None), none_admitted)
    )
    with pytest.raises(SettingsError, match="'mask' is not exact here: mask: after '' it is wrong"):
        Verifier(SMALL.open(), rung="mask")


def test_trials_are_the_same_each_time():
    seen = []

    class Watched(CutEngine):
        def admits(self, state, candidates):
            seen.append((state, candidates.tolist()))
            return super().admits(state, candidates)

    oracle = Oracle(SMALL.open())
    for _ in range(2):
        compare(Watched(oracle, None), oracle, from_masks=True)
    assert seen[: len(seen) // 2] == seen[len(seen) // 2 :]
    assert len(seen) > 20


# A few hundred tokens, of which few pairs merge.
SMALL_ONES = pytest.mark.parametrize("name", ["sp-bpe", "hf-llama", "hf-gpt2", "hf-cl100k"])


@SMALL_ONES
def test_cuts_made_everywhere_are_found_out(name):
    class CutsEverything:
        def advance(self, ids, cut):
            return len(ids)

    oracle = Oracle(TRAINED[name]())
    engine = CutEngine(oracle, CutsEverything())
    assert compare(engine, oracle, from_masks=False).wrong != ""


@SMALL_ONES
@pytest.mark.parametrize("mode", MODES)
def test_an_engine_that_tests_no_pairs_is_found_out(name, mode, monkeypatch):
    engine, oracle = engine_of(TRAINED[name](), mode)
    monkeypatch.setattr(Vocabulary, "row", lambda self, left: self.reachable.copy())
    assert compare(engine, oracle, from_masks=True).wrong != ""
