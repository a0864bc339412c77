"""Rollback always leaves a consistent text, with any sampler, and always comes to an end."""

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.support.toy_models import ToyBrackets, ToyModel, ToyTokenizer
from ticore import consistent_generate
from ticore.consistency import Verifier
from ticore.errors import SettingsError
from ticore.schemes import Gumbel
from ticore.watermarking import Rollback, greedy, multinomial, watermarked_sampler
from ticore.watermarking._logits import without
from ticore.watermarking._rollback import max_rewind

# Longest match first: whatever is written by shorter pieces is read back by the longer ones.
VOCABULARIES = [
    ["a", "b", "c", "ab", "bc", "abc", "ca"],
    ["a", "aa", "aaa", "aaaa", "b"],
    ["x", "y", "xy", "yx", "xyx", "yxy", "xx", "yy"],
    # Hardly anything may follow: "ab" cannot be written by pieces, nor can "ba".
    ["a", "b", "aba", "bab", "abab"],
    # Nothing may follow a "z".
    ["a", "z", "za", "zz"],
    # What follows a "<" is mended by a ">"; nothing may follow a "z".
    ["a", "b", "ab", "<", ">", "?"],
    ["z", "zz", "z<", "z>", "z?", "<", ">", "?"],
]
KEY = bytes(range(16))


def samplers(vocab_size):
    return {
        "greedy": greedy,
        "multinomial": multinomial(random.Random(5)),
        "gumbel": watermarked_sampler(Gumbel(KEY, vocab_size), random.Random(6)),
    }


def begin(
    pieces, name, *, seed=0, tokens=20, observation=2, end=False, max_backtracks=8, sharpness=2.0
):
    tokenizer = ToyBrackets([*pieces, "."] if end else pieces)
    model = ToyModel(tokenizer, seed=seed, sharpness=sharpness)
    prompt = tokenizer.encode(pieces[0])
    return tokenizer, Rollback(
        model.start(prompt),
        Verifier(tokenizer).start(prompt),
        samplers(tokenizer.vocab_size)[name],
        max_new_tokens=tokens,
        observation=observation,
        eos_ids=frozenset({len(pieces)} if end else ()),
        max_backtracks=max_backtracks,
    )


class Writing(RuleBasedStateMachine):
    """One text, a token at a time."""

    @initialize(
        pieces=st.sampled_from(VOCABULARIES),
        name=st.sampled_from(["greedy", "multinomial", "gumbel"]),
        seed=st.integers(0, 99),
        tokens=st.integers(0, 25),
        observation=st.integers(0, 12),
        end=st.booleans(),
        max_backtracks=st.sampled_from([0, 1, 8]),
        sharpness=st.sampled_from([0.0, 2.0, 30.0]),
    )
    def begin(self, pieces, name, **how):
        self.tokenizer, self.text = begin(pieces, name, **how)
        self.prompt = self.tokenizer.encode(pieces[0])
        self.tokens, self.observation = how["tokens"], how["observation"]

    @precondition(lambda self: self.text.end is None)
    @rule()
    def step(self):
        text = self.text
        before, banned = list(text.committed), set(text._banned)
        counts = text.rollbacks, text.backtracks
        text.step()
        if text.rollbacks > counts[0]:
            assert text.committed == before
            assert banned < text._banned
            assert len(text._banned) == len(banned) + 1
        elif text.backtracks > counts[1]:
            assert before[: len(text.committed)] == text.committed != before
        else:
            assert text.committed[: len(before)] == before

    @precondition(lambda self: self.text.end is not None)
    @rule()
    def nothing_comes_after_the_end(self):
        before = list(self.text.committed), self.text.end, self.text.forwards
        given = list(self.text.run())
        assert [token for tokens in given for token in tokens] == self.text.committed
        self.text.step()
        assert (self.text.committed, self.text.end, self.text.forwards) == before

    @invariant()
    def what_is_committed_is_consistent(self):
        ids = [*self.prompt, *self.text.committed]
        assert self.tokenizer.encode(self.tokenizer.decode(ids)) == ids
        assert len(self.text.committed) <= self.tokens

    @invariant()
    def what_is_pending_is_not(self):
        pending = self.text._pending
        assert len(pending) <= self.observation
        assert not pending or len(self.text.committed) + len(pending) < self.tokens
        for n in range(1, len(pending) + 1):
            ids = [*self.prompt, *self.text.committed, *pending[:n]]
            assert self.tokenizer.encode(self.tokenizer.decode(ids)) != ids

    @invariant()
    def the_decoder_reads_no_more_than_it_must(self):
        text = self.text
        written = [*self.prompt, *text.committed, *text._pending]
        assert list(text._decoder.ids) == written[: len(text._decoder.ids)]
        most = self.tokens + (self.observation + 1) * (text.rollbacks + 1)
        assert text.forwards <= most + text.backtracks * (self.observation + 1)

    @invariant()
    def the_decoder_lacks_at_most_the_last_token(self):
        text = self.text
        written = [*self.prompt, *text.committed, *text._pending]
        assert len(written) - len(text._decoder.ids) <= 1

    def teardown(self):
        if not hasattr(self, "text"):
            return
        for _ in range(20_000):
            if self.text.end is not None:
                break
            self.step()
            self.what_is_committed_is_consistent()
        assert self.text.end is not None
        assert self.text.end != "length" or len(self.text.committed) == self.tokens


TestWriting = Writing.TestCase
TestWriting.settings = settings(max_examples=150, stateful_step_count=30, deadline=None)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["greedy", "gumbel"])
@given(st.sampled_from(VOCABULARIES[:3]), st.integers(0, 50), st.integers(0, 6), st.integers(1, 12))
@example(VOCABULARIES[0], 0, 2, 12)
def test_rollback_keeps_the_first_choice_that_stays_consistent_when_the_sampler_is_deterministic(
    name, pieces, seed, observation, tokens
):
    """The paper's intent: of the tokens in order of preference the first that stays, or is mended.

    Its tokens are followed for as long as they may be observed; here by brute force.
    """
    tokenizer, text = begin(pieces, name, seed=seed, observation=observation, tokens=tokens)
    for _ in text.run():
        pass
    if text.end == "dead end" or text.backtracks:
        return
    model, choose = ToyModel(tokenizer, seed=seed), samplers(tokenizer.vocab_size)[name]
    prompt = tokenizer.encode(pieces[0])
    expected = []
    while len(expected) < tokens:
        best = None
        banned = set()
        while best is None:
            tried = []
            for n in range(min(observation + 1, tokens - len(expected))):
                ids = [*prompt, *expected, *tried]
                logits = without(model.logits_after(ids), banned if n == 0 else set())
                tried.append(choose(ids, logits))
                ids = [*prompt, *expected, *tried]
                if tokenizer.encode(tokenizer.decode(ids)) == ids:
                    best = tried
                    break
            banned.add(tried[0])
        expected += best
    assert text.committed == expected


def test_run_yields_each_commit_when_there_are_no_backtracks():
    temporary = 0
    for seed in range(20):
        _, text = begin(VOCABULARIES[5], "multinomial", seed=seed, max_backtracks=0, tokens=30)
        pieces = list(text.run())
        assert [token for piece in pieces for token in piece] == text.committed
        assert text.temporary == sum(len(piece) > 1 for piece in pieces)
        temporary += text.temporary
    assert temporary > 20


def test_rollback_backtracks_when_no_token_may_follow():
    found = Counter()
    for seed in range(40):
        for most in (0, 8):
            _, text = begin(
                VOCABULARIES[4], "multinomial", seed=seed, max_backtracks=most, tokens=10
            )
            list(text.run())
            found[most, text.end] += 1
            assert text.backtracks <= most
    assert found[0, "dead end"] > found[8, "dead end"]
    assert found[8, "length"] > found[0, "length"]


def test_what_was_taken_back_is_not_chosen_again_when_another_commit_is():
    """Nothing may follow "y" or "z". Each is tried once, also when the other is taken back."""
    tokenizer = ToyTokenizer(["b", "y", "z", "yb", "yy", "yz", "zb", "zy", "zz"])
    preferred = [2, 1, 0, *range(3, 9)]
    text = Rollback(
        ToyModel(tokenizer).start([0]),
        Verifier(tokenizer).start([0]),
        lambda ids, logits: next(token for token in preferred if logits[token] > -np.inf),
        max_new_tokens=2,
        observation=0,
    )
    list(text.run())
    assert (tokenizer.decode(text.committed), text.end) == ("bz", "length")
    assert text.backtracks == 2


def test_a_sampler_that_chooses_a_banned_token_is_refused():
    """It chooses "a" after "a", which is read back as "aa", whatever the logits say."""
    model = ToyModel(ToyTokenizer(["a", "aa"]))
    with pytest.raises(SettingsError, match="sampler: expected a token whose logit is above -inf"):
        consistent_generate(model, "", sampler=lambda ids, logits: 0, max_new_tokens=12)


@pytest.mark.parametrize("observation", [0, 2])
@pytest.mark.parametrize(
    "model",
    [
        ToyModel(ToyTokenizer(["a", "aa", "<s>"], special=[2])),
        ToyModel(ToyTokenizer(["a", "aa"]), width=4),
    ],
)
def test_ids_that_are_never_chosen_keep_no_token_from_being_taken_back(model, observation):
    """After "a" every token is banned, but a special id and an id without a token have logits."""
    backtracks = 0
    for seed in range(20):
        text = consistent_generate(model, "", max_new_tokens=12, seed=seed, observation=observation)
        assert model.tokenizer.encode(text.text) == list(text.ids)
        backtracks += text.backtracks
    assert backtracks


def test_rollback_ends_the_text_only_when_no_token_is_pending():
    ends, rollbacks = Counter(), 0
    for seed in range(40):
        tokenizer, text = begin(
            VOCABULARIES[0], "multinomial", seed=seed, end=True, observation=5, tokens=40
        )
        list(text.run())
        ends[text.end] += 1
        rollbacks += text.rollbacks
        assert not text._pending
        assert tokenizer.vocab_size - 1 not in text.committed
    assert ends["end of text"] > 10
    assert rollbacks > 0


def test_an_end_that_is_part_of_the_text_keeps_it_consistent():
    """As the line end is that stops a text: after a full stop some tokenizers join the two."""
    tokenizer = ToyTokenizer(["a", "b", "ab", "c"])
    b, ends, refused = 1, 0, 0
    for seed in range(40):
        model = ToyModel(tokenizer, seed=seed, sharpness=1.0)
        text = Rollback(
            model.start([3]),
            Verifier(tokenizer).start([3]),
            multinomial(random.Random(seed)),
            max_new_tokens=9,
            observation=2,
            eos_ids=frozenset({b}),
            spelled_ends={b},
        )
        list(text.run())
        written = [3, *text.committed, *[b] * (text.end == "end of text")]
        assert tokenizer.encode(tokenizer.decode(written)) == written
        ends += text.end == "end of text"
        refused += text.rollbacks > 0
    assert ends > 10
    assert refused > 3


class Watched:
    """A decoder, and by how many tokens it was rewound from the furthest place that it has read."""

    def __init__(self, decoder):
        self._decoder, self.rewound, self._furthest = decoder, 0, len(decoder.ids)

    @property
    def ids(self):
        return self._decoder.ids

    def logits(self):
        return self._decoder.logits()

    def push(self, token):
        self._decoder.push(token)
        self._furthest = max(self._furthest, len(self.ids))

    def rewind(self, count):
        self._decoder.rewind(count)
        self.rewound = max(self.rewound, self._furthest - len(self.ids))


@pytest.mark.parametrize("observation", [0, 1, 5])
def test_rollback_keeps_to_its_tokens_and_to_max_rewind(observation):
    furthest = 0
    for pieces in VOCABULARIES[4:]:
        for seed in range(8):
            for tokens in (3, 8):
                _, text = begin(
                    pieces,
                    "multinomial",
                    seed=seed,
                    tokens=tokens,
                    observation=observation,
                    sharpness=0.5,
                )
                text._decoder = watched = Watched(text._decoder)
                list(text.run())
                assert len(text.committed) <= tokens
                assert watched.rewound <= max_rewind(observation, 8)
                furthest = max(furthest, watched.rewound)
    assert furthest > observation


def test_rollback_commits_every_token_when_nothing_is_verified():
    tokenizer = ToyTokenizer(VOCABULARIES[0])
    model = ToyModel(tokenizer, seed=1)
    text = Rollback(model.start([0]), None, greedy, max_new_tokens=15, observation=3)
    list(text.run())
    expected = [0]
    while len(expected) < 16:
        expected.append(int(model.logits_after(expected).argmax()))
    assert [0, *text.committed] == expected
    assert text.forwards == 14


def test_reads_yields_each_token_that_the_decoder_has_to_read():
    """The text is that of `run`, which feeds the decoder itself."""
    _, alone = begin(VOCABULARIES[0], "multinomial", tokens=30)
    list(alone.run())
    _, text = begin(VOCABULARIES[0], "multinomial", tokens=30)
    for token in text.reads():
        text._decoder.push(token)
    assert text.committed == alone.committed
    assert text.forwards == alone.forwards > alone.rollbacks > 0


def test_rollback_takes_old_names_with_a_warning():
    model = ToyModel(ToyTokenizer("ab"))
    with pytest.warns(DeprecationWarning, match="use max_(new_tokens|backtracks)="):
        text = Rollback(model.start([0]), None, greedy, tokens=3, undo=0, observation=2)
    list(text.run())
    assert len(text.committed) == 3
    with pytest.warns(DeprecationWarning, match="Rollback.backtracks"):
        assert text.undone == 0
