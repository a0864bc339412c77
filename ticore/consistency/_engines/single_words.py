r"""Added tokens with the flag single_word: found where no character of a word stands beside them.

Example, with an added token "<m>" that has the flag:

    "a <m>"    is read as "a ", then the added token
    "a<m>"     holds ordinary text alone, since "a" is a character of a word (\w)

An engine for the same tokenizer without these tokens is right about every text that holds none of
their texts. From where one *occurs*, the tokenizer itself is asked, until the text before no longer
matters:

1. The list holds the added token itself. Once a character that is of no word has followed, the text
   is cut there: the rest is a text by itself.
2. Other tokens spell it, beside a word. Once a boundary has followed that no text moves, the rest
   is read as if nothing had occurred. An engine that never asks the tokenizer needs no boundary.

Three kinds of tokens matter to the end of a text: one that may overlap another added token, which
is not found inside; one that the model gives too, so that a list may hold it where it is not found;
and a special one, which may be like that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from ..._support.caches import cached_method
from ..._support.overlaps import may_overlap
from ..._support.packed_bits import Words, clear_bits, pack, set_bits
from ..._support.utf8 import unfinished_suffix
from ...interfaces import TokenizerStructure
from .._tokenizer_rules.added_tokens import AddedTokens
from .._tokenizer_rules.single_word_texts import SingleWordTexts
from .._tokenizer_rules.word_characters import LONGEST_CHARACTER, begins_word
from .base import Bools, Engine, Ids, Recovery, state_of, write_packed_masks
from .retokenizing import Oracle
from .token_history import TokenHistory

S = TypeVar("S")


class Occurrence(NamedTuple):
    """The last place where an added token occurs, as long as it matters.

    Attributes:
        is_itself: the list holds the added token there, not other tokens that spell it.
        tokens_since: after the one that finished the character behind it; None before that.
        lasts: it matters to the end of the text.
    """

    is_itself: bool = False
    tokens_since: int | None = None
    lasts: bool = False


class SingleWordState(NamedTuple):
    """A list of tokens.

    Attributes:
        inner: its state in the engine that never finds the added tokens; if the list holds one, the
            state of what stands after the last one.
        end: the end of its text: as many bytes as an added token has, and a character.
        occurrence: the tokenizer is asked as long as there is one.
        history: its ids.
    """

    inner: Any
    end: bytes = b""
    occurrence: Occurrence | None = None
    history: TokenHistory = TokenHistory()

    @property
    def is_after_itself(self) -> bool:
        """Whether an added token may be the last one of the list."""
        occurrence = self.occurrence
        return occurrence is not None and occurrence.is_itself and occurrence.tokens_since is None


class SingleWords(Generic[S]):
    """An engine for a tokenizer that has added tokens with the flag single_word. Thread-safe.

    Args:
        inner: an engine for a tokenizer without them, and the same mode.
        texts: theirs, with their ids.
        lasting: those that matter to the end of a text.
        added: the ids of all added tokens.
        spelled: the bytes of every id.
        oracle: asks the tokenizer.
        inner_asks: whether the inner engine may ask the tokenizer about the end of a text.

    Raises:
        Unsupported: see `SingleWordTexts`.
    """

    def __init__(
        self,
        inner: Engine[S],
        texts: dict[str, int],
        lasting: Iterable[str],
        added: Iterable[int],
        spelled: Sequence[bytes],
        oracle: Oracle,
        *,
        inner_asks: bool,
    ) -> None:
        self._inner, self._inner_asks = inner, inner_asks
        self._spelled, self._oracle = spelled, oracle
        self._ids = frozenset(texts.values())
        self._texts = SingleWordTexts(texts, lasting, oracle.mode)
        self._tokens = AddedTokens({}, spelled)
        self._kept = self._texts.longest + LONGEST_CHARACTER  # bytes of a text
        self._special = np.array(sorted(oracle.tokenizer.special_ids), dtype=np.int64)
        spelling = [i for i, data in enumerate(spelled) if self._texts.may_change(data)]
        begins = [begins_word(data) for data in spelled]
        unsure = [i for i, is_word in enumerate(begins) if is_word is None]
        self._asked = np.setdiff1d([*spelling, *self._ids], self._special)
        self._asked_after_itself = np.setdiff1d([*spelling, *unsure, *added], self._special)
        self._begins_word = np.array([is_word is True for is_word in begins], dtype=bool)

    def start(self) -> SingleWordState:
        return SingleWordState(self._inner.start())

    def step(self, state: SingleWordState, token: int) -> SingleWordState:
        inner = self._inner.start() if token in self._ids else self._inner.step(state.inner, token)
        return self._after(state, token, inner)

    def state_of(self, ids: Sequence[int]) -> SingleWordState:
        text = self._text_of(ids)
        if not self._texts.occur_in(text):
            inner = state_of(self._inner, ids)
            return SingleWordState(inner, self._end_of(text), None, TokenHistory.of(ids))
        state = self.start()
        for token in ids:
            state = self.step(state, token)
        return state

    def admits(self, state: SingleWordState, candidates: Ids) -> Bools:
        asked = self._asked_in(state)
        if asked is None:
            return self._ask(state, candidates)
        answers = self._inner.admits(state.inner, candidates)
        if state.is_after_itself:
            answers &= ~self._begins_word[candidates]
        places = np.flatnonzero(np.isin(candidates, asked))
        answers[places] = self._ask(state, candidates[places])
        return answers

    def mask(self, state: SingleWordState) -> Bools:
        asked = self._asked_in(state)
        if asked is None:
            return self._ask(state, np.arange(len(self._spelled)))
        answers = self._inner.mask(state.inner)
        if state.is_after_itself:
            answers &= ~self._begins_word
        answers[asked] = self._ask(state, asked)
        return answers

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
        if self._must_ask(state, token):
            admitted = self._ask(state, np.array([token]))[0]
            return self.step(state, token) if admitted else None
        inner = self._inner.step_if_admitted(state.inner, token)
        return None if inner is None else self._after(state, token, inner)

    def step_if_refused(self, state: SingleWordState, token: int) -> SingleWordState | Recovery:
        if self._must_ask(state, token):
            return Recovery.UNKNOWN
        inner = self._inner.step_if_refused(state.inner, token)
        return inner if isinstance(inner, Recovery) else self._after(state, token, inner)

    def tokens_since_cut(self, state: SingleWordState) -> int | None:
        if state.occurrence:
            return None
        found = self._inner.tokens_since_cut(state.inner)
        begun = self._texts.begun_in(state.end)
        if not begun or found is None:
            return found
        # An added token that begins before the cut changes what stands there.
        length = len(self._text_of(state.history.ids()[-found:] if found else ()))
        return None if len(begun[-1]) > length else found

    def never_recovers(self, state: SingleWordState, token: int) -> bool:
        if self._must_ask(state, token):
            return False  # nobody knows
        return self._inner.never_recovers(state.inner, token)

    def is_consistent(self, state: SingleWordState) -> bool:
        if state.occurrence:
            return self._oracle.is_consistent(state.history.ids())
        return self._inner.is_consistent(state.inner)

    # What is remembered of the text.

    def _after(self, state: SingleWordState, token: int, inner: Any) -> SingleWordState:
        text = state.end + self._spelled[token]
        found = self._occurrence_after(state, token, text)
        if found is not None and self._is_over(found, inner):
            found = None
        return SingleWordState(inner, self._end_of(text), found, state.history.and_then(token))

    def _occurrence_after(
        self, state: SingleWordState, token: int, text: bytes
    ) -> Occurrence | None:
        """The last occurrence after one more token; `text` is `state.end` and the token."""
        before, length = state.occurrence, len(state.end)
        if before is not None and before.lasts:
            return before
        new = list(self._texts.occurrences(text, length))
        if any(map(self._texts.is_lasting, new)):
            return Occurrence(lasts=True)
        if token in self._ids:
            return Occurrence(is_itself=True)
        if before is not None and before.tokens_since is not None and not new:
            return before._replace(tokens_since=before.tokens_since + 1)
        if before is None and not new:
            return None
        behind = text[self._texts.last_stop(text) :]
        since = 0 if _has_character(behind) else None
        return Occurrence(not new and before is not None and before.is_itself, since)

    def _is_over(self, occurrence: Occurrence, inner: Any) -> bool:
        """Whether an occurrence no longer matters, given the inner state."""
        since = occurrence.tokens_since
        if since is None or occurrence.lasts:
            return False
        if occurrence.is_itself or not self._inner_asks:
            return True
        since_cut = self._inner.tokens_since_cut(inner)
        return since_cut is not None and since_cut <= since

    def _text_of(self, ids: Iterable[int]) -> bytes:
        return b"".join(map(self._spelled.__getitem__, ids))

    def _end_of(self, text: bytes) -> bytes:
        return text[max(0, len(text) - self._kept) :]

    # What the tokenizer is asked.

    def _ask(self, state: SingleWordState, candidates: Ids) -> Bools:
        if not len(candidates):
            return np.zeros(0, dtype=bool)
        return self._oracle.admits(self._tokens_that_matter(state), candidates.tolist())

    def _tokens_that_matter(self, state: SingleWordState) -> list[int]:
        """The ids after the last stable cut; all of them, if an added token may begin there.

        Then what stands before the cut decides whether it is found.
        """
        ids = state.history.ids()
        since_cut = self.tokens_since_cut(state)
        if not since_cut:
            return ids
        some = ids[-since_cut:]
        return ids if self._texts.may_begin(self._text_of(some)) else some

    def _must_ask(self, state: SingleWordState, token: int) -> bool:
        if state.occurrence is not None or token in self._ids:
            return True
        return self._texts.may_change(state.end + self._spelled[token], len(state.end))

    def _asked_in(self, state: SingleWordState) -> Ids | None:
        """The ids that the tokenizer is asked about; None for all."""
        if state.occurrence is None:
            return self._spelling_one(state)
        ends_in_character = bool(unfinished_suffix(state.end))
        if state.is_after_itself and not ends_in_character:
            return np.union1d(self._asked_after_itself, self._spelling_one(state))
        return None

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


def find_single_words(structure: TokenizerStructure) -> dict[str, int]:
    """The texts of added tokens with the flag single_word, and their ids."""
    added, flags = structure.added_tokens, structure.added_flags
    return {text: added[text] for text, its in flags.items() if its.single_word}


def _given_by_model(structure: TokenizerStructure, texts: Mapping[str, int]) -> set[int]:
    """Those of some added tokens that the model itself may give, and perhaps others."""
    merges = structure.merges
    if structure.kind != "bpe" or structure.ignore_merges or merges is None:
        return set(texts.values())
    merged = set(merges[:, 2].tolist())
    return {token for text, token in texts.items() if len(text) == 1 or token in merged}


def without_single_words(structure: TokenizerStructure) -> TokenizerStructure:
    """The structure of the same tokenizer without these added tokens."""
    left = {
        text: token
        for text, token in structure.added_tokens.items()
        if text not in find_single_words(structure)
    }
    flags = {text: its for text, its in structure.added_flags.items() if text in left}
    return replace(structure, added_tokens=left, added_flags=flags)


def with_single_words(
    inner: Engine[S],
    structure: TokenizerStructure,
    spelled: Sequence[bytes],
    oracle: Oracle,
    *,
    inner_asks: bool,
) -> Engine[Any]:
    """`inner`, made exact for added tokens with the flag single_word.

    Args:
        inner: an engine for `without_single_words(structure)`.
        structure: with such tokens.
        spelled: the bytes of every id.
        oracle: of the tokenizer.
        inner_asks: see `SingleWords`.

    Raises:
        Unsupported: see `SingleWordTexts`.
    """
    texts, added = find_single_words(structure), structure.added_tokens
    special, given = oracle.tokenizer.special_ids, _given_by_model(structure, texts)
    lasting = [
        text
        for text, token in texts.items()
        if token in special or token in given or may_overlap({text}, added.keys() - {text})
    ]
    return SingleWords(
        inner, texts, lasting, added.values(), spelled, oracle, inner_asks=inner_asks
    )
