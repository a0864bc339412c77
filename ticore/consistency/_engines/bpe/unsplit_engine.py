"""Verification of BPE without a pretokenizer, from tables: the whole text is one part.

This is SentencePiece's BPE, and what other libraries convert it to. A token may follow wherever it
does not merge with the last one (`pair_test`). Three things are added to that:

1. Byte fallback. A character that is no piece is spelled in bytes, which never merge. So a byte may
   follow iff some such character begins with the bytes before it and this byte. Let "€" be no piece
   and "₭" be one. They share two bytes. After these the last byte of "€" may follow, and that of
   "₭" may not.
   Some characters that are no piece merge all the same (`loose_characters`). The bytes of such one
   may follow iff it does not merge with the last token, and what follows must not merge with it.
2. The dummy prefix. The tokenizer puts a space before the text, and decode drops it. What may come
   first is asked of the tokenizer once, and stored.
3. A dummy suffix. The tokenizer ends each text with one space, which decode keeps. So no text ends
   in any other character.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from functools import lru_cache, partial, reduce
from typing import NamedTuple

import numpy as np

from ...._support.caches import BoundedCache, cached_method
from ...._support.token_heads import heads_of
from ...._support.utf8 import character_length, unfinished_suffix
from ....interfaces import TokenizerStructure
from ..._arrays import Bools
from ..._modes import CONTINUATIONS
from ..._tokenizer_rules.characters import completions
from ..._tokenizer_rules.normalizers import is_metaspace
from ..._unsupported import Unsupported
from ..base import Recovery
from ..chain import Chain
from ..retokenizing import Oracle
from ..stable_cuts import WordCuts
from .answer_rows import AnswerRows, TableAnswers, answer_of, answer_rows
from .table_engine import TableEngine
from .token_pairs import TokenPairs

_CACHED_PAIRS = 1 << 16
_CACHED_BYTES = 4096
# By the first byte of a character, how many bytes it has.
_LENGTH_AFTER = np.array(
    [1 if lead < 0xC0 else character_length(lead) for lead in range(256)], dtype=np.int64
)
_SPACE_SIGN = "\N{LOWER ONE EIGHTH BLOCK}"  # stands for a space inside these tokenizers
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
        self._is_metaspace = is_metaspace(structure)
        # Without them a text is never a dummy prefix alone, and the tokenizer is never asked.
        self._may_hide_spaces = structure.dummy_prefix or self._is_metaspace or self._drops_spaces
        byte_ids = enumerate(structure.byte_ids)
        self._byte_ids = {token: value for value, token in byte_ids if token >= 0}
        self._lost_bytes = frozenset(range(256)).difference(self._byte_ids.values())
        self._known_characters = _known_characters(structure, spelled)
        self._loose = {character: n for n, character in enumerate(loose, start=len(spelled))}
        texts = [*spelled, *(character.encode() for character in loose)]
        self._cuts = WordCuts(texts, structure.added_tokens) if self._normalization.idle else None
        self._text_length = max(1, self._added.longest_beginning)
        # Rules may also make an added token, which never merges all the same.
        self._mergeable = pairs.reachable.copy()
        self._mergeable[: len(spelled)] &= structure.pieces
        self._require_other_completions(structure.added_tokens)
        self.usable = self._find_usable(structure) if usable is None else usable
        self._byte_answers: BoundedCache[tuple[bytes, str, frozenset[str]], list[bool]] = (
            BoundedCache(_CACHED_BYTES)
        )
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
        if token in self._byte_ids:
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
        if token in self._byte_ids and not self._added.ends_in_beginning(state.text):
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
        if token in self._byte_ids:
            data = state.unfinished + self._spelled[token]
            return self._spells_unknown(data, state.context, self._merging_after(state.last))
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
        pieces[list(self._byte_ids)] = False
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
        if self._byte_ids:
            key = state.unfinished, state.context, self._merging_after(state.last)
            answers[list(self._byte_ids)] = self._byte_answers.get(
                key, lambda: self._find_byte_answers(*key)
            )

    def _find_byte_answers(
        self, unfinished: bytes, context: str, merging: frozenset[str]
    ) -> list[bool]:
        """`_spells_unknown` of each byte token after some bytes."""
        return [
            self._spells_unknown(unfinished + bytes([value]), context, merging)
            if answer is None
            else answer
            for value, answer in zip(
                self._byte_ids.values(), self._byte_answers_anywhere(unfinished), strict=True
            )
        ]

    @cached_method(_CACHED_BYTES)
    def _byte_answers_anywhere(self, unfinished: bytes) -> list[bool | None]:
        """`_spells_unknown` of each byte token, where the text before makes no difference."""
        found = (unfinished + bytes([value]) for value in self._byte_ids.values())
        return list(map(self._spells_unknown_anywhere, found))

    def _spells_unknown_anywhere(self, data: bytes) -> bool | None:
        """`_spells_unknown` if it is the same after every text; else None.

        The character must join nothing before it, or be one of several, one of which does not.
        """
        if unfinished := unfinished_suffix(data):
            if unfinished != data or self._oracle.mode == "prefix":
                return False
            return any(map(self._is_always_spelled_in_bytes, completions(data))) or None
        try:
            character = data.decode()
        except UnicodeDecodeError:
            return False
        if len(character) == 1 and (
            character in self._loose or self._normalization.joins(character)
        ):
            return None
        return self._spells_unknown(data, "", frozenset())

    def _merging_after(self, last: int) -> frozenset[str]:
        """The loose characters that merge with the token before them."""
        if not self._loose or last < 0 or not self._pairs.reachable[last]:
            return frozenset()
        unmerged = self._pairs.unmerged_after(last)
        return frozenset(character for character, n in self._loose.items() if not unmerged[n])

    def _spells_unknown(self, data: bytes, context: str, merging: frozenset[str]) -> bool:
        """Whether `data` are the bytes of a character that is spelled in bytes, or its first bytes.

        Args:
            data: some bytes.
            context: what the normalizer may compose with the character.
            merging: characters that merge with the token before.
        """
        if unfinished := unfinished_suffix(data):
            is_beginning = unfinished == data and self._oracle.mode != "prefix"
            return is_beginning and any(
                self._is_spelled_in_bytes(read, context, merging)
                for character in completions(data)
                # What it is changed into may have the same first bytes.
                if (read := self._first_read(context, character)).encode().startswith(data)
            )
        try:
            character = data.decode()
        except UnicodeDecodeError:
            return False
        is_spelled = len(character) == 1 and self._is_spelled_in_bytes(character, context, merging)
        # Bytes merge with nothing that follows, so any text may go on after them.
        return is_spelled and (self._oracle.mode == "viable" or self._may_end(character))

    def _first_read(self, context: str, character: str) -> str:
        """The first character that the normalizer makes of one after `context`; or nothing."""
        if self._normalization.keeps(context + character):
            return character
        read = self._normalization.read(context + character)
        return read[len(context) :][:1] if read.startswith(context) else ""

    def _is_spelled_in_bytes(self, character: str, context: str, merging: frozenset[str]) -> bool:
        """Whether this character is spelled in bytes; for the arguments see `_spells_unknown`."""
        if character in self._known_characters or character in merging:
            return False
        is_lost = not self._lost_bytes.isdisjoint(character.encode())
        return not is_lost and self._normalization.keeps(context + character)

    def _require_other_completions(self, added: Collection[str]) -> None:
        """Refuse added tokens whose last character alone might finish some first bytes.

        A text may go on after these bytes if they begin a character that is spelled in bytes. It
        must not complete an added token, which depends on the text. For most bytes there is another
        character that is spelled in bytes wherever it stands, so the text does not matter.

        Raises:
            Unsupported: for such added tokens.
        """
        if self._oracle.mode == "prefix" or not self._byte_ids:
            return
        lasts = {text[-1]: text for text in added if not text[-1].isascii()}
        for last, text in lasts.items():
            if last in self._known_characters:
                continue
            data = last.encode()
            for n in range(1, len(data)):
                if not any(
                    c not in lasts and self._is_always_spelled_in_bytes(c)
                    for c in completions(data[:n])
                ):
                    raise Unsupported(
                        f"the added token {text!r} ends in {last!r}, and no other character that "
                        f"begins with the same bytes is always spelled in bytes"
                    )

    def _is_always_spelled_in_bytes(self, character: str) -> bool:
        """Whether this character is spelled in bytes, whatever stands before it."""
        return (
            character not in self._known_characters
            and character not in self._loose
            and not self._normalization.joins(character)
            and self._normalization.keeps(character)
            and self._lost_bytes.isdisjoint(character.encode())
        )

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

    def _may_end(self, text: str) -> bool:
        """Whether spaces at the end of a text, or that there is none, let it be as it is."""
        if self._dummy_suffix:
            return not text or text.endswith(" ")
        return not (self._drops_spaces and text.endswith(" "))

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


def _merge(pairs: TokenPairs, mergeable: Bools, left: int, right: int) -> bool:
    """Whether two tokens merge. They then do so in every text, since the text is one part."""
    # Bytes and added tokens are not mergeable.
    return bool(mergeable[left] and mergeable[right]) and not pairs.do_not_merge(left, right)


def _known_characters(structure: TokenizerStructure, spelled: Sequence[bytes]) -> frozenset[str]:
    """The characters that are pieces themselves, or added tokens."""
    heads = heads_of(spelled)
    is_single = structure.pieces & (heads.lengths == _LENGTH_AFTER[heads.first])
    single = [spelled[token].decode() for token in np.flatnonzero(is_single).tolist()]
    single += [text for text in structure.added_tokens if len(text) == 1]
    return frozenset({_SPACE_SIGN, *single})
