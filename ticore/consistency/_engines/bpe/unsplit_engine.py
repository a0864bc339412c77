"""Verification of BPE without a pretokenizer, from tables: the whole text is one part.

This is SentencePiece's BPE, and what other libraries convert it to. A token may follow wherever it
does not merge with the last one (`pair_test`). Three things are added to that:

1. Byte fallback. A character that is no piece is spelled in bytes (`byte_fallback`).
2. The dummy prefix. The tokenizer puts a space before the text, and decode drops it. What may come
   first is asked of the tokenizer once, and stored.
3. A dummy suffix. The tokenizer ends each text with one space, which decode keeps. So no text ends
   in any other character.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache, partial, reduce
from typing import NamedTuple

import numpy as np

from ...._support.utf8 import unfinished_suffix
from ....interfaces import TokenizerStructure
from ..._arrays import Bools
from ..._modes import CONTINUATIONS
from ..._tokenizer_rules.normalizers import is_metaspace
from ..base import Recovery
from ..chain import Chain
from ..retokenizing import Oracle
from ..stable_cuts import WordCuts
from .answer_rows import AnswerRows, TableAnswers, answer_of, answer_rows
from .byte_fallback import ByteFallback
from .table_engine import TableEngine
from .token_pairs import TokenPairs

_CACHED_PAIRS = 1 << 16
_NO_TOKENS = Chain()


class UnsplitState(NamedTuple):
    """A list of tokens, as far as it matters to what may follow.

    Attributes:
        ids: the tokens since the last place where the text can be cut; the last one alone if the
            tokenizer never has to be asked.
        text: the last characters of the text, with the dummy prefix and without an unfinished
            character: as many as an added token can have begun with, and at least one.
        unfinished: the bytes of the unfinished character.
        last: the last token before them: its id, the number of a loose character, or -1.
        has_begun: whether the text is more than a dummy prefix. It is not while it is empty or one
            space, and with Metaspace while it is spaces alone, one of which may be the prefix.
            `text` cannot tell: of a long run of spaces it does not hold the beginning.
        last_token_suffices: whether, for the tokens of `_state_after`, nothing of the text matters
            but its last token.
        context: what the normalizer may compose with the next character; empty for a normalizer
            that changes nothing.
    """

    ids: Chain = _NO_TOKENS
    text: str = ""
    unfinished: bytes = b""
    last: int = -1
    has_begun: bool = False
    last_token_suffices: bool = False
    context: str = ""


class UnsplitEngine(TableEngine[UnsplitState]):
    """Decides by the pair test.

    Args:
        structure: characters as atoms, no pretokenizer.
        spelled: the bytes of every id.
        pairs: the pair test, of the ids and then of the loose characters.
        oracle: for the few tokens that no table decides about.
        starting: `starting` of an equal engine, since finding it takes long; None to find it.
        loose: see `loose_characters`.
        usable: `usable` of an equal engine, in the same way.

    Attributes:
        usable: bool[vocab_size], the pieces that some text holds. They may follow where none
            merges.
        starting: bool[vocab_size], the tokens that a text may begin with.

    Raises:
        Unsupported: the answers about an added token would not be exact in the mode.
    """

    def __init__(
        self,
        structure: TokenizerStructure,
        spelled: Sequence[bytes],
        pairs: TokenPairs,
        oracle: Oracle,
        starting: Bools | None = None,
        loose: Sequence[str] = (),
        usable: Bools | None = None,
    ) -> None:
        super().__init__(structure, spelled, pairs, oracle)
        self._drops_spaces = not structure.keeps_whitespace
        self._dummy_prefix = structure.dummy_prefix
        self._dummy_suffix = structure.dummy_suffix
        # No method: `_fallback` would refer back to the engine.
        self._may_end = partial(_may_end, structure.dummy_suffix, not structure.keeps_whitespace)
        self._is_metaspace = is_metaspace(structure)
        # Without them a text is never a dummy prefix alone, and the tokenizer is never asked.
        self._may_hide_spaces = structure.dummy_prefix or self._is_metaspace or self._drops_spaces
        self._loose = {character: n for n, character in enumerate(loose, start=len(spelled))}
        self._fallback = ByteFallback(
            structure,
            spelled,
            pairs,
            self._loose,
            normalization=self._normalization,
            mode=oracle.mode,
            may_end=self._may_end,
        )
        texts = [*spelled, *(character.encode() for character in loose)]
        self._cuts = WordCuts(texts, structure.added_tokens) if self._normalization.idle else None
        self._text_length = max(1, self._added.longest_beginning)
        # Rules may also make an added token, which never merges all the same.
        self._mergeable = pairs.reachable.copy()
        self._mergeable[: len(spelled)] &= structure.pieces
        self._fallback.require_other_completions(structure.added_tokens)
        self.usable = self._find_usable(structure) if usable is None else usable
        self.starting = self._find_starting(structure) if starting is None else starting
        # `step_if_admitted` decides nearly every push from these tables alone. Between two forward
        # passes of a model, anything else would have left the processor's caches.
        self._state_after: dict[int, UnsplitState | None] = {}
        no_cuts = bytes(len(texts))
        self._begins = no_cuts if self._cuts is None else self._cuts.begins
        self._ends = no_cuts if self._cuts is None else self._cuts.ends
        self._merge = lru_cache(_CACHED_PAIRS)(partial(_merge, pairs, self._mergeable))

    def start(self) -> UnsplitState:
        return UnsplitState(has_begun=not self._may_hide_spaces)

    def step_if_admitted(self, state: UnsplitState, token: int) -> UnsplitState | None:
        found = self._state_after
        after = found[token] if token in found else self._find_state_after(token)
        if after is None or not state.last_token_suffices:
            return super().step_if_admitted(state, token)
        last = state.last
        if (self._begins[token] & self._ends[last]) or not self._merge(last, token):
            return after
        return None

    def _find_state_after(self, token: int) -> UnsplitState | None:
        """The one state that an id leads to where `last_token_suffices`, noted; else None.

        There is one under two conditions:

        1. The token's first characters compose with nothing before them, and what later ones
           compose with is in the token.
        2. It completes no added token. That always holds where `last_token_suffices`: the text
           ends in the beginning of none.
        """
        found = None
        data = self._spelled[token]
        may_ask = self._ordinary_added and self._may_hide_spaces
        if (
            self.usable[token]
            and not may_ask
            and not self._normalization.head(data)
            and self._normalization.holds_context(whole := data.decode())
        ):
            text = whole[-self._text_length :]
            found = UnsplitState(
                _NO_TOKENS.then(token),
                text,
                last=token,
                has_begun=True,
                last_token_suffices=not self._added.ends_in_beginning(text),
                context=self._context_after("", whole),
            )
        self._state_after[token] = found
        return found

    def step(self, state: UnsplitState, token: int) -> UnsplitState:
        if token in self._added.ids:  # no normalizer and no merge reaches across it
            if self._may_hide_spaces:
                return UnsplitState(state.ids.then(token), last=token)
            return UnsplitState(
                _NO_TOKENS.then(token), last=token, has_begun=True, last_token_suffices=True
            )
        data = state.unfinished + self._spelled[token]
        unfinished = unfinished_suffix(data)
        more = data[: len(data) - len(unfinished)].decode(errors="replace")
        is_cut = (
            self._cuts is not None
            and bool(state.ids)
            and not state.unfinished
            and self._cuts.is_between(state.ids[-1], token)
        )
        has_begun = state.has_begun or self._begins_with(state.text + more)
        # All tokens are needed only where the tokenizer may have to be asked.
        may_ask = self._ordinary_added and self._may_hide_spaces
        forget = is_cut or (has_begun and not may_ask)
        ids = (_NO_TOKENS if forget else state.ids).then(token)
        text = (state.text + more)[-self._text_length :]
        last_token_suffices = (
            has_begun and not unfinished and not self._added.ends_in_beginning(text)
        )
        context = self._context_after(state.context, more)
        last = state.last if unfinished else token
        if token in self._fallback.values:
            last = self._loose.get(more, last)
        return UnsplitState(ids, text, unfinished, last, has_begun, last_token_suffices, context)

    def state_of(self, ids: Sequence[int]) -> UnsplitState:
        state, read = self.start(), 0
        while read < len(ids) and not state.has_begun:
            state = self.step(state, ids[read])
            read += 1
        first = read if self._may_hide_spaces and self._ordinary_added else self._recent(ids)
        if first > read:
            state, read = UnsplitState(has_begun=True), first
        return reduce(self.step, ids[read:], state)

    def _recent(self, ids: Sequence[int]) -> int:
        """From which id on a long list must be read to know its state, once its text has begun."""
        length = 0
        for at in range(len(ids) - 1, 0, -1):
            try:
                text = self._spelled[ids[at]].decode()
            except UnicodeDecodeError:
                continue
            length += len(text)
            if length >= self._text_length and self._normalization.holds_context(text):
                return at
        return 0

    def _begins_with(self, text: str) -> bool:
        """Whether a text that is `text` so far has begun; see UnsplitState."""
        return bool(text.strip(" ")) if self._is_metaspace else text not in ("", " ")

    def step_if_refused(self, state: UnsplitState, token: int) -> UnsplitState | Recovery:
        """See Engine. There is a state for the bytes of a character, which come one by one."""
        if self.never_recovers(state, token):
            return Recovery.NEVER
        if token in self._fallback.values and not self._added.ends_in_beginning(state.text):
            longer = self.step(state, token)
            # There is no such state for a list that ends in a broken character, or in the bytes of
            # a character that is a piece.
            if longer.unfinished:
                return longer
        return Recovery.UNKNOWN

    def tokens_since_cut(self, state: UnsplitState) -> int | None:
        return None

    def is_consistent(self, state: UnsplitState) -> bool:
        if state.unfinished or not self._may_end(state.text):
            return False
        if state.ids and state.ids[-1] in self._added.ids:
            return True
        # Else it may be the dummy prefix alone, which no text has.
        return state.has_begun or self._oracle.is_consistent(state.ids.ids())

    def never_recovers(self, state: UnsplitState, token: int) -> bool:
        if super().never_recovers(state, token):
            return True
        if state.ids:
            return not state.unfinished and self._merge(state.last, token)
        is_prefixed = self._spelled[token].startswith(b" ") or token in self._added.ids
        return self._dummy_prefix and not is_prefixed

    def table_key(self, state: UnsplitState) -> Hashable:
        if self._is_metaspace and state.ids and not state.has_begun:
            return None
        return state.last, state.unfinished, state.context

    def decide_all(self, state: UnsplitState) -> Bools:
        if state.unfinished:
            return self._decide_inside(state)
        if not state.ids:
            return self.starting
        answers = self.usable.copy()
        if self._mergeable[state.last]:  # else it is bytes or an added token, which never merge
            unmerged = self._pairs.unmerged_after(state.last) | ~self._mergeable
            answers &= unmerged[: len(answers)]
        self._add_bytes(answers, state)
        return answers

    def decide_one(self, state: UnsplitState, token: int) -> bool:
        if not state.ids and not state.unfinished:
            return bool(self.starting[token])
        if token in self._fallback.values:
            data = state.unfinished + self._spelled[token]
            return self._fallback.spells(data, state.context, state.last)
        if state.unfinished:
            return False
        return bool(self.usable[token]) and not self._merge(state.last, token)

    def table_answers(self, state: UnsplitState) -> TableAnswers | None:
        if self.table_key(state) is None:
            return None
        rows = self._rows.get(self._row_key(state), lambda: self._make_rows(state))
        return TableAnswers(rows, self.last_to_merge(state))

    def last_to_merge(self, state: UnsplitState) -> int:
        return state.last if self._may_merge(state) else -1

    def is_cached(self, state: UnsplitState) -> bool:
        if self.table_key(state) is None or self._row_key(state) not in self._rows:
            return False
        return not self._may_merge(state) or self._pairs.is_cached(state.last)

    def answer_at_hand(self, state: UnsplitState, token: int) -> bool | None:
        rows = self._rows.peek(self._row_key(state))
        if rows is None:
            return None
        return answer_of(rows, self._pairs, self.last_to_merge(state), token)

    def _row_key(self, state: UnsplitState) -> Hashable:
        """What the rows depend on; where no row of the last token is used, as the table."""
        if not self._may_merge(state):
            return self.table_key(state)
        return None, state.unfinished, state.context  # equal to no key of a table: 1 == True

    def _may_merge(self, state: UnsplitState) -> bool:
        """Whether the answers are made with the row of the last token.

        Bytes and added tokens merge with nothing. Where characters are loose, the pair test has
        atoms that are no tokens, and rows of another length.
        """
        return (
            bool(state.ids)
            and not state.unfinished
            and not self._loose
            and bool(self._mergeable[state.last])
        )

    def _make_rows(self, state: UnsplitState) -> AnswerRows:
        if not self._may_merge(state):
            return answer_rows(self.decide_all(state))
        always = self.usable & ~self._mergeable
        self._add_bytes(always, state)
        pieces = self.usable & self._mergeable
        pieces[self._fallback.ids] = False
        return answer_rows(always, pieces)

    def _decide_inside(self, state: UnsplitState) -> Bools:
        """Inside a character that is spelled in bytes, only its next byte may follow."""
        answers = np.zeros(len(self._spelled), dtype=bool)
        self._add_bytes(answers, state)
        return answers

    def _has_begun(self, state: UnsplitState) -> bool:
        return state.has_begun

    def _ends_in_beginning(self, state: UnsplitState) -> bool:
        return not state.last_token_suffices and super()._ends_in_beginning(state)

    def _context(self, state: UnsplitState) -> str:
        return state.context

    def _context_after(self, context: str, more: str) -> str:
        """The context of a text that goes on with `more`."""
        if self._normalization.idle:
            return ""
        return self._normalization.context(context + more) if more else context

    def _add_bytes(self, answers: Bools, state: UnsplitState) -> None:
        """Admit the byte tokens that spell, or begin, a character that is no piece."""
        fallback = self._fallback
        if fallback.values:
            found = fallback.answers_after(state.unfinished, state.context, state.last)
            answers[fallback.ids] = found

    def _find_usable(self, structure: TokenizerStructure) -> Bools:
        """See `usable`."""
        answers = self._mergeable[: len(self._spelled)].copy()
        if self._normalization.idle and not structure.added_tokens:
            return answers
        tokens = np.flatnonzero(answers).tolist()
        texts = [self._spelled[token].decode() for token in tokens]
        kept = self._normalization.keeps_each(texts)
        for token, text, is_kept in zip(tokens, texts, kept, strict=True):
            if not is_kept:
                self._normalization.require_settled(text)
            answers[token] = (
                is_kept
                and not self._added.occurs_in(text)
                and (self._may_end(text) or self._may_go_on(token))
            )
        return answers

    def _find_starting(self, structure: TokenizerStructure) -> Bools:
        """The tokens that a text may begin with; asked of a tokenizer that adds or drops spaces."""
        answers = self.usable.copy()
        self._add_bytes(answers, UnsplitState())
        if structure.dummy_prefix:
            answers[:] = False  # except for what begins with a space
        if structure.dummy_prefix or self._drops_spaces:
            asked = [
                token
                for token in np.flatnonzero(structure.pieces).tolist()
                if self._spelled[token].startswith(b" ")
            ]
            answers[asked] = self._oracle.admits([], asked)
        return answers

    def _may_go_on(self, token: int) -> bool:
        """Whether some continuation leaves a token as it is that no text may end with."""
        suffix = " " if self._dummy_suffix else ""
        return self._oracle.mode == "viable" and any(
            not text.startswith(" ")
            and self._normalization.keeps(text)
            and all(
                self._pairs.do_not_merge(token, first)
                for first in self._pairs.segment((text + suffix).encode())[:1]
            )
            for text in CONTINUATIONS
        )


def _may_end(dummy_suffix: bool, drops_spaces: bool, text: str) -> bool:
    """Whether spaces at the end of a text, or that there is none, let it be as it is."""
    if dummy_suffix:
        return not text or text.endswith(" ")
    return not (drops_spaces and text.endswith(" "))


def _merge(pairs: TokenPairs, mergeable: Bools, left: int, right: int) -> bool:
    """Whether two tokens merge. They then do so in every text, since the text is one part."""
    # Bytes and added tokens are not mergeable.
    return bool(mergeable[left] and mergeable[right]) and not pairs.do_not_merge(left, right)
