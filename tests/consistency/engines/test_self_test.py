"""The self-test refuses tokenizers, and finds each answer of an engine that is wrong."""

import random
import re
from functools import cache, partial

import numpy as np
import pytest

from tests.support.random_bpe import MODES, Bpe, engine_of, few_characters
from tests.support.tokenizers import REAL, TRAINED, train_sentencepiece
from tests.support.toy_models import ToyTokenizer
from ticore._support.packed_bits import pack
from ticore.consistency import Verifier
from ticore.consistency import _verifier as verifier
from ticore.consistency._channels import PASSAGES
from ticore.consistency._engines.base import Engine, Recovery
from ticore.consistency._engines.bpe.pair_table import PairTable
from ticore.consistency._engines.channel_engine import ChannelEngine
from ticore.consistency._engines.retokenizing import Oracle, RetokenizingEngine
from ticore.consistency._engines.self_test import require_deterministic_round_trip, run_self_test
from ticore.consistency._unsupported import Unsupported
from ticore.errors import SettingsError

WORDS = tuple((word, 0) for word in (b"th", b"the", b" t", b" th", b" the", b"12", b"\n\n", b"'s"))
SMALL = Bpe(pattern="gpt2", ranks=WORDS)


class EncodesByChance(ToyTokenizer):
    """Splits a word now and then, as a tokenizer with dropout does."""

    def encode(self, text):
        draw = random.Random(self.calls)
        self.calls += 1
        whole = super().encode(text)
        return [t for i in whole for t in ([1, 2] if i == 3 and draw.random() < 0.5 else [i])]

    calls = 0


class EncodesBatchesByChance(ToyTokenizer):
    def encode_batch(self, texts):
        return [[1, 2] if ids == [3] else ids[::-1] for ids in super().encode_batch(texts)]


class PutsASpaceBefore(ToyTokenizer):
    """Its decode does not take the space away again."""

    def encode(self, text):
        return super().encode(" " + text)


PIECES = ["", "a", "b", "ab", " a", "bab", " "]


@pytest.mark.parametrize("kind", [EncodesByChance, EncodesBatchesByChance])
def test_verifier_refuses_a_tokenizer_that_encodes_by_chance(kind):
    with pytest.raises(SettingsError, match=rf"found that {kind.__name__} gives different ids"):
        Verifier(kind(PIECES))


def test_verifier_refuses_a_tokenizer_that_does_not_read_back_what_it_wrote():
    with pytest.raises(SettingsError, match=r"found that PutsASpaceBefore reads ' .*' as"):
        Verifier(PutsASpaceBefore(PIECES))


@pytest.mark.parametrize("name", sorted({**TRAINED, **REAL}))
def test_require_deterministic_round_trip_accepts_trained_and_real_tokenizers(name):
    require_deterministic_round_trip({**TRAINED, **REAL}[name]())


def test_require_deterministic_round_trip_accepts_a_tokenizer_without_plain_words():
    """Nothing is there to try it with."""
    require_deterministic_round_trip(ToyTokenizer(["", "é", "é é"]))
    require_deterministic_round_trip(ToyTokenizer([""], special=[0]))


class Wrong:
    """An engine that answers as another one does, but for what `change` makes of its masks."""

    def __init__(self, engine, change):
        self._engine, self._change = engine, change

    def start(self):
        return (), self._engine.start()

    def step(self, state, token):
        return (*state[0], token), self._engine.step(state[1], token)

    def step_if_admitted(self, state, token):
        return self.step(state, token) if self.mask(state)[token] else None

    def step_if_refused(self, state, token):
        return Recovery.UNKNOWN

    def admits(self, state, candidates):
        return self.mask(state)[candidates]

    def mask(self, state):
        mask = self._engine.mask(state[1])
        self._change(state[0], mask)
        return mask

    def packed_mask(self, state, out):
        out[:] = pack(self.mask(state))

    def is_consistent(self, state):
        return self._engine.is_consistent(state[1])

    def tokens_since_cut(self, state):
        return None

    def never_recovers(self, state, token):
        return False


def all_admitted(ids, mask):
    mask[:-1] = True


def none_admitted(ids, mask):
    mask[:] = False


def some_more_after_two(ids, mask):
    if len(ids) >= 2:
        mask[:-1] |= np.random.default_rng(len(ids)).random(len(mask) - 1) < 0.2


def some_missing_after_two(ids, mask):
    if len(ids) >= 2:
        mask[np.flatnonzero(mask)[::2]] = False


CHANGES = [all_admitted, none_admitted, some_more_after_two, some_missing_after_two]


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("change", CHANGES)
def test_run_self_test_finds_wrong_answers_about_candidates(change, mode):
    with few_characters():
        engine, oracle = engine_of(SMALL.open(), mode)
        right = run_self_test(engine, oracle)
        wrong = run_self_test(Wrong(engine, change), oracle)
    assert right.wrong == ""
    assert right.checks > 300
    assert wrong.wrong.startswith("after ")
    assert "it is wrong about id" in wrong.wrong
    assert 0 < wrong.checks <= right.checks


def all_admitted_after_a_run(ids, mask):
    if len(ids) > 64 and len(set(ids[-64:])) == 1:
        mask[:-1] = True


@pytest.mark.parametrize("mode", MODES)
def test_run_self_test_finds_an_engine_that_forgets_the_text_before_a_long_run(mode):
    with few_characters():
        engine, oracle = engine_of(SMALL.open(), mode)
        result = run_self_test(Wrong(engine, all_admitted_after_a_run), oracle)
    assert re.match(r"after 'a? {64,65}' it is wrong about id", result.wrong)


def test_run_self_test_finds_an_engine_that_forgets_the_text_before_many_marks():
    ranks = tuple((c.encode(), 0) for c in "\u0316\u0301ó")
    tokenizer = Bpe(pattern="cl100k", normal_form="NFC", ranks=ranks).open()
    (mark,), (acute,) = map(tokenizer.encode, "\u0316\u0301")

    def accent_admitted_after_marks(ids, mask):
        if ids[-32:] == (mark,) * 32:
            mask[acute] = True

    engine, oracle = engine_of(tokenizer, "prefix")
    result = run_self_test(Wrong(engine, accent_admitted_after_marks), oracle)
    assert result.wrong == f"after {'o' + chr(0x316) * 32!r} it is wrong about id {acute}"


class Lying:
    """An engine that answers as another one does, but for one answer."""

    def __init__(self, engine, answer, lie):
        self._engine = engine
        setattr(self, answer, partial(lie, engine))

    def __getattr__(self, name):
        return getattr(self._engine, name)


LIES = {
    ("start", "begins with a token"): lambda engine: engine.step(engine.start(), 300),
    ("step", "forgets the token"): lambda engine, state, token: state,
    ("admits", "all"): lambda engine, state, ids: np.ones(len(ids), dtype=bool),
    ("admits", "none"): lambda engine, state, ids: np.zeros(len(ids), dtype=bool),
    ("mask", "all"): lambda engine, state: np.ones_like(engine.mask(state)),
    ("mask", "none"): lambda engine, state: np.zeros_like(engine.mask(state)),
    ("packed_mask", "all"): lambda engine, state, out: out.fill(0xFFFFFFFF),
    ("packed_mask", "none"): lambda engine, state, out: out.fill(0),
    ("step_if_admitted", "always"): lambda engine, state, token: engine.step(state, token),
    ("step_if_admitted", "never"): lambda engine, state, token: None,
    ("step_if_admitted", "forgets the token"): lambda engine, state, token: (
        engine.step_if_admitted(state, token) and state
    ),
    ("step_if_refused", "never recovers"): lambda engine, state, token: Recovery.NEVER,
    ("step_if_refused", "forgets the token"): lambda engine, state, token: state,
    ("tokens_since_cut", "none"): lambda engine, state: 0,
    ("tokens_since_cut", "more than there are"): lambda engine, state: 1000,
    ("never_recovers", "always"): lambda engine, state, token: True,
    ("never_recovers", "what is refused"): lambda engine, state, token: (
        engine.step_if_admitted(state, token) is None
    ),
    ("is_consistent", "always the opposite"): lambda engine, state: not engine.is_consistent(state),
    ("is_consistent", "never"): lambda engine, state: False,
}
ENGINES = {
    "pretokenized": ("hf-gpt2", "identity"),
    "unsplit": ("sp-bpe", "identity"),
    "unigram": ("sp-unigram", "identity"),
    "channel": ("hf-gpt2", "strip"),
}


@cache
def opened(kind):
    """An engine of a kind that does not lie, and the oracle."""
    name, channel = ENGINES[kind]
    engine, oracle = engine_of(TRAINED[name](), "prefix")
    if channel != "identity":
        oracle = Oracle(oracle.tokenizer, "prefix", channel)
        engine = ChannelEngine(engine, PASSAGES[channel], oracle)
    return engine, oracle


def test_lies_are_there_for_every_answer_of_an_engine():
    answers = {name for name in vars(Engine) if not name.startswith("_")}
    assert {answer for answer, _ in LIES} == answers


@pytest.mark.parametrize("kind", ENGINES)
def test_run_self_test_finds_nothing_wrong_in_an_engine_that_does_not_lie(kind):
    result = run_self_test(*opened(kind))
    assert (result.wrong, result.checks > 300) == ("", True)


@pytest.mark.parametrize("kind", ENGINES)
@pytest.mark.parametrize(("answer", "lie"), LIES)
def test_run_self_test_finds_an_engine_that_lies_in_one_answer(kind, answer, lie):
    engine, oracle = opened(kind)
    assert run_self_test(Lying(engine, answer, LIES[answer, lie]), oracle).wrong != ""


@pytest.mark.parametrize("mode", MODES)
def test_verifier_takes_the_next_method_when_an_engine_is_wrong(mode, monkeypatch):
    true = verifier.table_engine
    monkeypatch.setattr(
        verifier, "table_engine", lambda oracle: Wrong(true(oracle), some_more_after_two)
    )
    with few_characters():
        stepped_down = Verifier(SMALL.open(), mode=mode)
        asked = Verifier(SMALL.open(), mode=mode, method="retokenize")
    assert stepped_down.method == "suffix"
    assert stepped_down.why.startswith("table: after ")
    some = range(128)
    assert stepped_down.start().admits(some).tolist() == asked.start().admits(some).tolist()


class CutsEverywhere:
    def advance(self, ids, cut):
        return len(ids)


def test_verifier_takes_the_last_method_when_cuts_are_wrong(monkeypatch):
    def unsupported(oracle):
        raise Unsupported("not today")

    monkeypatch.setattr(verifier, "table_engine", unsupported)
    monkeypatch.setattr(verifier, "cut_finder", lambda tokenizer: CutsEverywhere())
    other = Verifier(train_sentencepiece(vocab_size=500))
    assert other.method == "retokenize"
    assert other.why.startswith("table: not today; suffix: after ")


def test_verifier_refuses_a_wrong_engine_that_is_asked_for(monkeypatch):
    monkeypatch.setattr(
        verifier,
        "table_engine",
        lambda oracle: Wrong(RetokenizingEngine(oracle, None), none_admitted),
    )
    with pytest.raises(
        SettingsError, match=r"'table' is not exact .*: table: after '' it is wrong"
    ):
        Verifier(SMALL.open(), method="table")


def test_verifier_reaches_tables_when_spaces_are_the_name_of_a_special_token():
    """Such a token is a boundary in a text of spaces, and no engine is asked about it."""
    verifier = Verifier(Bpe(pattern="gpt2", special=("   ",)).open())
    assert (verifier.method, verifier.why) == ("table", "")


def test_run_self_test_asks_the_same_each_time():
    seen = []

    class Watched(RetokenizingEngine):
        def admits(self, state, candidates):
            seen.append((state, candidates.tolist()))
            return super().admits(state, candidates)

    oracle = Oracle(SMALL.open())
    for _ in range(2):
        run_self_test(Watched(oracle, None), oracle)
    assert seen[: len(seen) // 2] == seen[len(seen) // 2 :]
    assert len(seen) > 20


# A few hundred tokens, of which few pairs merge.
SMALL_ONES = pytest.mark.parametrize("name", ["sp-bpe", "hf-llama", "hf-gpt2", "hf-cl100k"])


@SMALL_ONES
def test_run_self_test_finds_cuts_that_are_made_everywhere(name):
    oracle = Oracle(TRAINED[name]())
    engine = RetokenizingEngine(oracle, CutsEverywhere())
    assert run_self_test(engine, oracle, masks_are_fast=False).wrong != ""


@SMALL_ONES
@pytest.mark.parametrize("mode", MODES)
def test_run_self_test_finds_an_engine_that_tests_no_pairs(name, mode, monkeypatch):
    engine, oracle = engine_of(TRAINED[name](), mode)
    monkeypatch.setattr(PairTable, "_exclude_merging", lambda self, left, unmerged: None)
    assert run_self_test(engine, oracle).wrong != ""
