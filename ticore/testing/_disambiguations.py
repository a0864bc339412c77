"""What every disambiguation keeps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import numpy as np
import pytest

from .._support.shared_randomness import SharedRandomness
from ..candidates import PROB_BITS, Pool, non_candidates
from ..disambiguation import (
    BranchingSession,
    Choices,
    Disambiguation,
    PromptContext,
    Session,
    SharingSession,
)
from ..errors import BrokenCharacterError, CapacityError
from ..interfaces import Tokenizer
from ._same import require_same
from ._toys import ToyTokenizer

MakeDisambiguation = Callable[[PromptContext], Disambiguation]

_TOKENIZERS: dict[str, Callable[[], Tokenizer]] = {
    # Every letter has a token, so every text can be read.
    "nested": lambda: ToyTokenizer(["", "a", "b", "ab", "ba", "aab", "c", "cab", " ", " a", "!"]),
    "apart": lambda: ToyTokenizer(["a", "b", "c", "d"]),
    # Two bytes make "é" or "è". The text may not end between them: it would decode to U+FFFD.
    "bytes": lambda: ToyTokenizer([b"\xc3", b"\xa8", b"\xa9", "a", "b", "c", "é", "\ufffd"]),
}
_LENGTHS = (0, 1, 2, 12)
_SEEDS = range(8)
_PATIENCE = 60  # tokens after which a text that may not end is given up


class DisambiguationContract:
    """Writer and reader see the same choices, and the reader finds what the writer chose.

    Needs a fixture `make_disambiguation`: a function from a `PromptContext` to a disambiguation.

    Attributes:
        certain: whether the reader always finds the writer's tokens.
        keyed: whether sessions use random numbers that both sides share.

    A complete test file, for a disambiguation that writes one character per token:

        import pytest

        from ticore.disambiguation import Choices
        from ticore.errors import CapacityError
        from ticore.testing import DisambiguationContract


        class OneCharacter:
            def __init__(self, context):
                self.context = context

            def start(self):
                return Session(self.context)

            def read(self, text):
                return Received(self.context, text[len(sent_prompt(self.context)) :])


        class Session:
            def __init__(self, context):
                self.context, self.written = context, sent_prompt(context)

            def refine(self, pool, outside):
                for some in (pool, *outside):
                    spelled = [self.context.tokenizer.token_bytes(i) for i in some.ids]
                    kept = some.keep([len(data) == 1 and data.isascii() for data in spelled])
                    if len(kept):
                        return Choices.of(kept)
                raise CapacityError("no token of one character")

            def push(self, token):
                self.written += self.context.tokenizer.token_bytes(token).decode()

            def text(self):
                return self.written

            def may_end(self):
                return True


        class Received:
            known_ids = None  # only the choices tell the tokens

            def __init__(self, context, text):
                self.context, self.left = context, text

            @property
            def exhausted(self):
                return not self.left

            def locate(self, choices):
                spelled = [self.context.tokenizer.token_bytes(i) for i in choices.ids]
                index = spelled.index(self.left[0].encode())
                self.left = self.left[1:]
                return index


        def sent_prompt(context):
            return context.prompt if context.view == "whole" else ""


        class TestOneCharacter(DisambiguationContract):
            @pytest.fixture
            def make_disambiguation(self):
                return OneCharacter
    """

    certain: ClassVar[bool] = True
    keyed: ClassVar[bool] = False

    @pytest.fixture(params=_TOKENIZERS)
    def context(self, request: pytest.FixtureRequest) -> PromptContext:
        """A prompt that is sent with its continuation."""
        return _context(str(request.param), "whole")

    @pytest.mark.parametrize("view", ["whole", "continuation"])
    @pytest.mark.parametrize("name", _TOKENIZERS)
    def test_reader_finds_the_choices_of_the_writer(
        self, make_disambiguation: MakeDisambiguation, name: str, view: str
    ) -> None:
        if not self.certain:
            pytest.skip("this disambiguation does not promise it")
        context = _context(name, view)
        made = make_disambiguation(context)
        found = 0
        for length in _LENGTHS:
            for seed in _SEEDS:
                written = _write(made, self._session(made), context, seed, length)
                if written is None:
                    continue
                session, received = self._session(made), made.read(written.text)
                if received.known_ids is not None:
                    require_same(list(received.known_ids), written.ids, "the tokens known")
                for step in written.steps:
                    assert not received.exhausted
                    choices = session.refine(step.pool, iter(step.outside))
                    _assert_same(choices, step.choices)
                    assert received.locate(choices) == step.index
                    _go_on(session, choices, step.index)
                assert received.exhausted
                assert session.text() == written.text
                found += len(written.steps) >= max(_LENGTHS)
        assert found >= len(_SEEDS) // 2, "hardly any long text could be written"

    def test_choices_are_from_the_pool_or_else_all_from_outside(
        self, make_disambiguation: MakeDisambiguation, context: PromptContext
    ) -> None:
        made = make_disambiguation(context)
        seen = 0
        for length, seed in product(_LENGTHS, _SEEDS):
            written = _write(made, self._session(made), context, seed, length)
            for step in [] if written is None else written.steps:
                _assert_valid(step.choices, step.pool)
                if not isinstance(made.start(), BranchingSession):
                    _assert_tokens(step.choices)
                seen += 1
        assert seen > 0

    def test_sessions_of_one_disambiguation_are_independent(
        self, make_disambiguation: MakeDisambiguation, context: PromptContext
    ) -> None:
        made = make_disambiguation(context)
        one, other = self._session(made), self._session(made)
        before = other.text()
        pool, outside = _random_pool(np.random.default_rng(1), context.tokenizer)
        _go_on(one, one.refine(pool, iter(outside)), 0)
        assert one.text() != before
        assert other.text() == before

    def test_nothing_to_choose_from_is_a_capacity_error(
        self, make_disambiguation: MakeDisambiguation, context: PromptContext
    ) -> None:
        nothing = Pool(np.array([], dtype=np.int64), np.array([], dtype=np.int64))
        with pytest.raises(CapacityError):
            self._session(make_disambiguation(context)).refine(nothing, iter([]))

    def _session(self, made: Disambiguation) -> Session:
        session = made.start()
        assert isinstance(session, SharingSession) == self.keyed
        if isinstance(session, SharingSession):
            session.share(SharedRandomness(bytes(16), "test"))
        return session


@dataclass(frozen=True)
class _WrittenStep:
    pool: Pool
    outside: list[Pool]
    choices: Choices
    index: int


@dataclass(frozen=True)
class _Written:
    text: str
    ids: list[int]
    steps: list[_WrittenStep]


def _context(name: str, view: str) -> PromptContext:
    tokenizer, prompt = _TOKENIZERS[name](), "c"
    ids = tokenizer.encode(prompt)
    if view == "whole":
        return PromptContext(tokenizer, prompt, ids, "whole")
    return PromptContext(tokenizer, prompt, ids, "continuation")


def _write(
    made: Disambiguation, session: Session, context: PromptContext, seed: int, length: int
) -> _Written | None:
    """A text of `length` tokens, or a few more until it may end; None if it cannot go on."""
    rng, steps, ids = np.random.default_rng((seed, length)), list[_WrittenStep](), list[int]()
    while len(steps) < length or not session.may_end():
        if len(steps) > length + _PATIENCE:
            return None
        pool, outside = _random_pool(rng, context.tokenizer)
        try:
            choices = session.refine(pool, iter(outside))
            index = int(rng.integers(len(choices.ids)))
            steps.append(_WrittenStep(pool, outside, choices, index))
            back, tokens = _go_on(session, choices, index)
        except (CapacityError, BrokenCharacterError):
            return None
        ids = [*ids[: len(ids) - back], *tokens]
    return _Written(session.text(), ids, steps)


def _go_on(session: Session, choices: Choices, index: int) -> tuple[int, Sequence[int]]:
    """Take a choice: how many tokens that takes back, and which ones it adds."""
    if isinstance(session, BranchingSession):
        return session.take(choices, index)
    token = int(choices.ids[index])
    session.push(token)
    return 0, [token]


def _random_pool(rng: np.random.Generator, tokenizer: Tokenizer) -> tuple[Pool, list[Pool]]:
    """Some tokens with random logits, and the other tokens in parts."""
    ids = rng.permutation(np.flatnonzero(~non_candidates(tokenizer, ())))
    logits = np.sort(rng.integers(-6000, 1, size=len(ids)))[::-1].astype(np.int64)
    size = int(rng.integers(1, len(ids) + 1))
    pool, rest = Pool(ids[:size], logits[:size]), Pool(ids[size:], logits[size:])
    half = len(rest) // 2
    return pool, [rest.keep(slice(half)), rest.keep(slice(half, None))]


def _assert_same(one: Choices, other: Choices) -> None:
    for name in ("ids", "mass", "group"):
        require_same(getattr(one, name).tolist(), getattr(other, name).tolist(), name)


def _assert_valid(choices: Choices, pool: Pool) -> None:
    kept, count = set(choices.kept.ids.tolist()), len(choices.ids)
    assert count == len(choices.mass) > 0
    assert ((choices.mass >= 0) & (choices.mass <= 1 << PROB_BITS)).all()
    assert kept <= set(pool.ids.tolist()) or not kept & set(pool.ids.tolist())
    assert len(choices.group) == len(choices.kept)
    assert set(choices.group.tolist()) <= set(range(count))


def _assert_tokens(choices: Choices) -> None:
    """Each choice is one of the tokens kept, or of a group of them."""
    ids, kept = choices.ids.tolist(), choices.kept.ids.tolist()
    assert len(ids) == len(set(ids))
    assert set(ids) <= set(kept)
    assert set(choices.group.tolist()) == set(range(len(ids)))
    for number, token in enumerate(ids):
        assert choices.group[kept.index(token)] == number
