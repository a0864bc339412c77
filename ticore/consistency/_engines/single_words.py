r"""Added tokens with the flag single_word: found where no character of a word stands beside them.

Example, with an added token "<m>" that has the flag:

    "a <m>"    is read as "a ", then the added token
    "a<m>"     holds ordinary text alone, since "a" is a character of a word (\w)

An engine for the same tokenizer that never finds these tokens is right about every text that holds
none of their texts, or holds them beside a word alone. So it is enough to know where one *occurs*,
and which character follows:

1. The list holds the added token itself. If a word follows, the tokenizer would not have found it.
   Else the text is cut there: the rest is a text by itself.
2. Other tokens spell it. If a word stands beside it, the text is as any other. Else the tokenizer
   would have found it.

The tokenizer itself is asked about tokens that spell one, and where Unicode has to say whether a
character belongs to a word. It is asked to the end of a text after three kinds of added tokens: one
that may overlap another one or itself, which is not found inside; one that the model gives too, so
that a list may hold it where it is not found; and a special one, which may be like that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from ..._support.caches import cached_method
from ..._support.overlaps import may_overlap, overlaps_itself
from ..._support.packed_bits import Words, clear_bits, pack, set_bits
from ..._support.utf8 import unfinished_suffix
from ...interfaces import SingleWordTokenizer, Tokenizer, TokenizerStructure
from .._arrays import Bools, Ids
from .._tokenizer_rules.added_tokens import AddedTokens
from .._tokenizer_rules.single_word_texts import ADDED, SingleWordTexts
from .._tokenizer_rules.word_characters import LONGEST_CHARACTER, begins_word
from .._unsupported import Unsupported
from .base import Engine, Recovery, state_of, write_packed_masks
from .chain import Chain
from .retokenizing import Oracle

S = TypeVar("S")

_OTHER, _WORD, _UNSURE = 0, 1, 2  # what a token begins with


class Occurrence(NamedTuple):
    """An added token at the end of a text, or one that matters to the end of it.

    Attributes:
        is_itself: the list holds the added token, not other tokens that spell it.
        is_sure: no character of a word stands before it; else one may.
        lasts: it matters to the end; else until a character has followed.
    """

    is_itself: bool = False
    is_sure: bool = True
    lasts: bool = False


class SingleWordState(NamedTuple):
    """A list of tokens.

    Attributes:
        inner: its state in the engine that never finds the added tokens; if the list holds one, the
            state of what stands after the last one.
        end: the end of its text: as many bytes as an added token has, and two characters. `ADDED`
            stands after an added token.
        occurrence: the last one, as long as it matters.
        history: its ids.
    """

    inner: Any
    end: bytes = b""
    occurrence: Occurrence | None = None
    history: Chain = Chain()


class SingleWords(Generic[S]):
    """An engine for a tokenizer that has added tokens with the flag single_word. Thread-safe.

    Args:
        inner: an engine for the tokenizer that never finds them, and the same mode.
        texts: theirs, with their ids.
        lasting: those that matter to the end of a text.
        added: the ids of all added tokens.
        spelled: the bytes of every id.
        oracle: asks the tokenizer.

    Raises:
        Unsupported: see `SingleWordTexts`.
    """

    def __init__(
        self,
        inner: Engine[S],
        texts: Mapping[str, int],
        lasting: Iterable[str],
        added: Iterable[int],
        spelled: Sequence[bytes],
        oracle: Oracle,
    ) -> None:
        self._inner, self._spelled, self._oracle = inner, spelled, oracle
        self._ids = frozenset(texts.values())
        self._texts = SingleWordTexts(texts, lasting, oracle.mode)
        self._tokens = AddedTokens({}, spelled)
        self._kept = self._texts.longest + 2 * LONGEST_CHARACTER  # bytes of a text
        self._special = np.array(sorted(oracle.tokenizer.special_ids), dtype=np.int64)
        self._added_ids = frozenset(added)
        self._added = np.setdiff1d([*self._added_ids], self._special)
        spelling = [i for i, data in enumerate(spelled) if self._texts.may_change(data)]
        self._asked = np.setdiff1d([*spelling, *self._ids], self._special)
        kinds = {True: _WORD, False: _OTHER, None: _UNSURE}
        self._begins = np.array([kinds[begins_word(data)] for data in spelled], dtype=np.uint8)

    def start(self) -> SingleWordState:
        return SingleWordState(self._inner.start())

    def step(self, state: SingleWordState, token: int) -> SingleWordState:
        inner = self._inner.start() if token in self._ids else self._inner.step(state.inner, token)
        return self._after(state, token, inner)

    def state_of(self, ids: Sequence[int]) -> SingleWordState:
        text = self._text_of(ids)
        if self._texts.occur_in(text):
            return reduce(self.step, ids, self.start())
        marked = b"".join(
            self._spelled[i] + ADDED if i in self._added_ids else self._spelled[i]
            for i in ids[-self._kept :]
        )
        inner = state_of(self._inner, ids)
        return SingleWordState(inner, self._end_of(marked), None, reduce(Chain.then, ids, Chain()))

    def admits(self, state: SingleWordState, candidates: Ids) -> Bools:
        if state.occurrence and state.occurrence.lasts:
            return self._ask(state, candidates)
        return self._corrected(state, candidates, self._inner.admits(state.inner, candidates))

    def mask(self, state: SingleWordState) -> Bools:
        every = np.arange(len(self._spelled))
        if state.occurrence and state.occurrence.lasts:
            return self._ask(state, every)
        return self._corrected(state, every, self._inner.mask(state.inner))

    def packed_mask(self, state: SingleWordState, out: Words) -> None:
        self.packed_masks((state,), (out,))

    def packed_masks(self, states: Sequence[SingleWordState], out: Sequence[Words]) -> None:
        clear = [n for n, state in enumerate(states) if state.occurrence is None]
        inner = [states[n].inner for n in clear]
        write_packed_masks(self._inner, inner, [out[n] for n in clear])
        for state, words in zip(states, out, strict=True):
            if state.occurrence is not None:
                words[:] = pack(self.mask(state))
            else:
                asked = self._spelling_one(state)
                answers = self._ask(state, asked)
                clear_bits(words, asked[~answers])
                set_bits(words, asked[answers])

    def step_if_admitted(self, state: SingleWordState, token: int) -> SingleWordState | None:
        if self._may_matter(state, token):
            admitted = self.admits(state, np.array([token]))[0]
            return self.step(state, token) if admitted else None
        inner = self._inner.step_if_admitted(state.inner, token)
        return None if inner is None else self._after(state, token, inner)

    def step_if_refused(self, state: SingleWordState, token: int) -> SingleWordState | Recovery:
        if self._may_matter(state, token):
            return Recovery.UNKNOWN
        inner = self._inner.step_if_refused(state.inner, token)
        return inner if isinstance(inner, Recovery) else self._after(state, token, inner)

    def tokens_since_cut(self, state: SingleWordState) -> int | None:
        found = None if state.occurrence else self._inner.tokens_since_cut(state.inner)
        begun = self._texts.begun_in(state.end)
        if not begun or found is None:
            return found
        # An added token that begins before the cut changes what stands there.
        last = state.history.last(found)
        return None if len(begun[-1]) > len(self._text_of(last)) else found

    def never_recovers(self, state: SingleWordState, token: int) -> bool:
        if self._may_matter(state, token):
            return False  # nobody knows
        return self._inner.never_recovers(state.inner, token)

    def is_consistent(self, state: SingleWordState) -> bool:
        if state.occurrence:
            return self._oracle.is_consistent(state.history.ids())
        return self._inner.is_consistent(state.inner)

    # What is remembered of the text.

    def _after(self, state: SingleWordState, token: int, inner: Any) -> SingleWordState:
        text = state.end + self._spelled[token]
        occurrence = self._occurrence_after(state, token, text)
        end = self._end_of(text + ADDED if token in self._added_ids else text)
        return SingleWordState(inner, end, occurrence, state.history.then(token))

    def _occurrence_after(
        self, state: SingleWordState, token: int, text: bytes
    ) -> Occurrence | None:
        """The occurrence after one more token; `text` is `state.end` and the token."""
        before = state.occurrence
        if before is not None and before.lasts:
            return before
        new = list(self._texts.occurrences(text, len(state.end)))
        if any(self._texts.is_lasting(place.text) for place in new):
            return Occurrence(lasts=True)
        if token in self._ids:
            return Occurrence(is_itself=True)
        last = new[-1] if new else None
        found = before if last is None else Occurrence(is_sure=last.is_sure)
        # Where it began before this token, it ends where the text did, or inside a character of it.
        begins = len(state.end) - len(unfinished_suffix(state.end)) if last is None else last.stop
        return None if _has_character(text[begins:]) else found

    def _text_of(self, ids: Iterable[int]) -> bytes:
        return b"".join(map(self._spelled.__getitem__, ids))

    def _end_of(self, text: bytes) -> bytes:
        return text[max(0, len(text) - self._kept) :]

    # What the tokenizer is asked.

    def _ask(self, state: SingleWordState, candidates: Ids) -> Bools:
        if not len(candidates):
            return np.zeros(0, dtype=bool)
        return self._oracle.admits(self._tokens_that_matter(state), candidates.tolist())

    def _tokens_that_matter(self, state: SingleWordState) -> tuple[int, ...]:
        """The ids after the last stable cut; all of them, if an added token may begin there.

        Then what stands before the cut decides whether it is found.
        """
        if since_cut := self.tokens_since_cut(state):
            last = state.history.last(since_cut)
            if not self._texts.may_begin(self._text_of(last)):
                return last
        return state.history.ids()

    def _may_matter(self, state: SingleWordState, token: int) -> bool:
        """Whether the inner engine alone may be wrong about a token."""
        if state.occurrence is not None or token in self._ids:
            return True
        return self._texts.may_change(state.end + self._spelled[token], len(state.end))

    def _corrected(self, state: SingleWordState, candidates: Ids, answers: Bools) -> Bools:
        """The answers, from those of the inner engine: where it refuses, no text goes on, but one
        that has an added token."""
        asked = np.isin(candidates, self._spelling_one(state))
        if state.occurrence is not None:
            asked |= np.isin(candidates, self._added)
            if unfinished_suffix(state.end):
                asked |= answers
            else:
                begins, occurrence = self._begins[candidates], state.occurrence
                unsure = begins == _UNSURE
                if not (occurrence.is_itself or occurrence.is_sure):
                    unsure |= begins == _OTHER
                asked |= answers & unsure
                answers = answers & (begins == (_OTHER if occurrence.is_itself else _WORD))
        answers[asked] = self._ask(state, candidates[asked])
        return answers

    def _spelling_one(self, state: SingleWordState) -> Ids:
        """The ids after which an added token occurs that does not before."""
        begun = self._texts.begun_in(state.end)
        return self._completing(begun) if begun else self._asked

    @cached_method(256)
    def _completing(self, begun: tuple[bytes, ...]) -> Ids:
        """`_spelling_one` after these beginnings of added tokens."""
        starting = map(self._tokens.starting_with, self._texts.rests(begun))
        almost = [
            token
            for rest in self._texts.rests_of_almost(begun)
            for token in self._tokens.starting_with(rest).tolist()
            if len(self._spelled[token]) == len(rest)
        ]
        found = [self._asked, *starting, np.array(almost, dtype=np.int64)]
        return np.setdiff1d(np.concatenate(found), self._special)


def _has_character(data: bytes) -> bool:
    """Whether `data` holds more than the beginning of a character."""
    return len(unfinished_suffix(data)) < len(data)


def has_single_words(structure: TokenizerStructure) -> bool:
    """Whether a tokenizer has added tokens with the flag single_word."""
    return any(flags.single_word for flags in structure.added_flags.values())


def without_single_words(tokenizer: Tokenizer) -> Tokenizer:
    """The same tokenizer, which never finds these tokens.

    Raises:
        Unsupported: its adapter does not offer that.
    """
    if not isinstance(tokenizer, SingleWordTokenizer):
        raise Unsupported(
            "what stands beside its added tokens decides whether they are found (single_word), and "
            "it cannot be asked without them"
        )
    return tokenizer.without_single_words()


def with_single_words(
    inner: Engine[S], structure: TokenizerStructure, spelled: Sequence[bytes], oracle: Oracle
) -> Engine[Any]:
    """An engine for a tokenizer that has added tokens with the flag single_word.

    Args:
        inner: an engine for `without_single_words`.
        structure: of the tokenizer.
        spelled: the bytes of every id.
        oracle: asks the tokenizer.

    Raises:
        Unsupported: see `SingleWordTexts`.
    """
    added, flags = structure.added_tokens, structure.added_flags
    texts = {text: added[text] for text, its in flags.items() if its.single_word}
    special, given = oracle.tokenizer.special_ids, _given_by_model(structure, texts)
    lasting = [
        text
        for text, token in texts.items()
        if token in special
        or token in given
        or overlaps_itself(text)
        or may_overlap({text}, added.keys() - {text})
    ]
    return SingleWords(inner, texts, lasting, added.values(), spelled, oracle)


def _given_by_model(structure: TokenizerStructure, texts: Mapping[str, int]) -> set[int]:
    """Those of some added tokens that the model itself may give, and perhaps others."""
    merges = structure.merges
    if structure.kind != "bpe" or structure.ignore_merges or merges is None:
        return set(texts.values())
    merged = set(merges[:, 2].tolist())
    return {token for text, token in texts.items() if len(text) == 1 or token in merged}
