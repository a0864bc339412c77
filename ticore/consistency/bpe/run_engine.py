"""Verification of BPE that reads the whole text as one run of characters, by table.

SentencePiece's BPE and its conversions: a token may follow another wherever the pair test keeps
them apart. Characters that are no piece are spelled in bytes, which never merge.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ...interfaces import TokenizerStructure
from ..chain import Chain
from ..engine import Bools, Hope
from ..modes import CONTINUATIONS, completions, pending
from ..normalization import METASPACE
from ..oracle import Oracle
from ..recent import Recent
from ..tail import WordCuts
from .table_engine import TableEngine
from .vocabulary import Vocabulary

_PAIRS = 1 << 16  # neighbours that are remembered
_SPACE_SIGN = "\N{LOWER ONE EIGHTH BLOCK}"  # stands for a space inside these tokenizers


_NONE = Chain()


class State(NamedTuple):
    """A list of tokens, as far as it matters for what may follow.

    Attributes:
        ids: the tokens since the last place where the text can be cut; the last one alone if the
            tokenizer never has to be asked.
        text: the text's last characters, the dummy prefix included, without an unfinished one: as
            many as an added token can have begun with, and one at least.
        unfinished: the bytes of that character.
        begun: before these bytes the text is more than a dummy prefix, which alone is no text, or
            spaces of which one may stand for it. The end of the text would not tell: of many spaces
            nobody knows whether anything stands before them.
        calm: the text has begun, and of it nothing but its last token matters to plain ones.
        context: what the normaliser may rewrite with the next character; empty if it changes none.
    """

    ids: Chain = _NONE
    text: str = ""
    unfinished: bytes = b""
    begun: bool = False
    calm: bool = False
    context: str = ""


class RunEngine(TableEngine[State]):
    """Decides by the pair test.

    Args:
        structure: characters as atoms, no pretokenizer.
        spelled: the bytes of every id.
        vocabulary: the pair test.
        oracle: for the few tokens that no table decides about.
        starting: `starting` of an equal engine, which is costly to find; None to find it.

    Attributes:
        starting: bool[vocab_size], what a text may begin with.
    """

    def __init__(
        self,
        structure: TokenizerStructure,
        spelled: Sequence[bytes],
        vocabulary: Vocabulary,
        oracle: Oracle,
        starting: Bools | None = None,
    ) -> None:
        super().__init__(structure, spelled, oracle)
        self._vocabulary = vocabulary
        self._drops_spaces = not structure.keeps_whitespace
        self._dummy_prefix = structure.dummy_prefix
        self._reads_beginning = structure.normalizer == METASPACE
        self._byte_ids = structure.byte_ids
        self._characters = _characters(structure, spelled)
        self._cuts = WordCuts(spelled, structure.added_tokens) if self._normalization.idle else None
        self._kept = max(1, self._added.longest)  # characters of a text
        self._anywhere = self._find_anywhere(structure)
        self._spelling: Recent[tuple[bytes, str], list[bool]] = Recent(4096)
        self.starting = self._find_starting(structure) if starting is None else starting
        # What almost every token comes to is decided without a detour: it is asked between two
        # forward passes, where nothing is in the processor's caches.
        self._plain = self._find_plain()
        nowhere = bytes(len(spelled))
        self._begins = nowhere if self._cuts is None else self._cuts.begins
        self._ends = nowhere if self._cuts is None else self._cuts.ends
        self._meet = lru_cache(_PAIRS)(self._do_meet)

    def start(self) -> State:
        return State()

    def follow(self, state: State, token: int) -> State | None:
        plain = self._plain[token]
        if plain is None or not state.calm:
            return super().follow(state, token)
        last = state.ids[-1]
        if (self._begins[token] & self._ends[last]) or not self._meet(last, token):
            return plain
        return None

    def step(self, state: State, token: int) -> State:
        if token in self._added.ids:  # no normaliser and no merge reaches across it
            return State(state.ids.then(token))
        data = state.unfinished + self._spelled[token]
        unfinished = pending(data)
        more = data[: len(data) - len(unfinished)].decode(errors="replace")
        cut = (
            self._cuts is not None
            and bool(state.ids)
            and not state.unfinished
            and self._cuts.is_between(state.ids[-1], token)
        )
        begun = state.begun or self._begins_with(state.text + more)
        # All of them are wanted only if the tokenizer may have to be asked.
        ids = (_NONE if cut or (begun and not self._addable) else state.ids).then(token)
        text = (state.text + more)[-self._kept :]
        calm = begun and not unfinished and not self._added.has_begun(text)
        return State(ids, text, unfinished, begun, calm, self._context_after(state.context, more))

    def _begins_with(self, text: str) -> bool:
        """Whether a text that is `text` so far has begun; see State."""
        return bool(text.strip(" ")) if self._reads_beginning else text not in ("", " ")

    def aside(self, state: State, token: int) -> State | Hope:
        """See Engine. Known of the bytes of a character, which come one by one."""
        if self.loses(state, token):
            return Hope.NONE
        if token in self._byte_ids and not self._added.has_begun(state.text):
            longer = self.step(state, token)
            # A last character in pieces, or one that is a piece, does not end like this.
            if longer.unfinished:
                return longer
        return Hope.UNKNOWN

    def kept(self, state: State) -> int | None:
        return None

    def finished_ok(self, state: State) -> bool:
        if state.unfinished or (self._drops_spaces and state.text.endswith(" ")):
            return False
        if state.ids and state.ids[-1] in self._added.ids:
            return True
        # Else perhaps the dummy prefix alone, which no text has.
        return state.begun or self._oracle.finished_ok(state.ids.ids())

    def loses(self, state: State, token: int) -> bool:
        if super().loses(state, token):
            return True
        if state.ids:
            return self._meet(state.ids[-1], token)
        begins = self._spelled[token].startswith(b" ") or token in self._added.ids
        return self._dummy_prefix and not begins

    def _key(self, state: State) -> Hashable:
        if self._reads_beginning and state.ids and not state.begun:
            return None
        return state.ids[-1:], state.unfinished, state.context

    def _decide(self, state: State) -> Bools:
        if state.unfinished:
            return self._continue_bytes(state)
        if not state.ids:
            return self.starting
        last = state.ids[-1]
        answers = self._anywhere.copy()
        if self._vocabulary.reachable[
            last
        ]:  # else bytes or an added token, which nothing merges with
            answers &= self._vocabulary.row(last) | ~self._vocabulary.reachable
        self._add_bytes(answers, state)
        return answers

    def _decide_one(self, state: State, token: int) -> bool:
        if state.unfinished or not state.ids or token in self._byte_ids:
            return bool(self._decide(state)[token])
        return bool(self._anywhere[token]) and not self._meet(state.ids[-1], token)

    def _do_meet(self, left: int, right: int) -> bool:
        """Whether they would merge, which they do in any text: nothing parts a run."""
        reachable = self._vocabulary.reachable
        meet = bool(reachable[left] and reachable[right])  # bytes and added tokens do not merge
        return meet and not self._vocabulary.apart(left, right)

    def _continue_bytes(self, state: State) -> Bools:
        """Inside a character that is spelled in bytes only its next byte may come."""
        answers = np.zeros(len(self._spelled), dtype=bool)
        self._add_bytes(answers, state)
        return answers

    def _has_begun(self, state: State) -> bool:
        return state.begun

    def _context(self, state: State) -> str:
        return state.context

    def _context_after(self, context: str, more: str) -> str:
        """The context of a text that goes on with `more`."""
        if self._normalization.idle:
            return ""
        return self._normalization.context(context + more) if more else context

    def _add_bytes(self, answers: Bools, state: State) -> None:
        """Admit byte tokens that spell a character which is no piece, or begin one."""
        if self._byte_ids:
            key = state.unfinished, state.context
            answers[list(self._byte_ids)] = self._spelling.get(
                key,
                lambda: [self._spells(key[0] + bytes([value]), key[1]) for value in range(256)],
            )

    def _spells(self, data: bytes, context: str) -> bool:
        """Whether `data` are the bytes of such a character, or its first ones."""
        if unfinished := pending(data):
            begun = unfinished == data and self._oracle.mode != "prefix"
            return begun and any(self._is_spelled(c, context) for c in completions(data))
        try:
            character = data.decode()
        except UnicodeDecodeError:
            return False
        return len(character) == 1 and self._is_spelled(character, context)

    def _is_spelled(self, character: str, context: str) -> bool:
        """Whether this character is spelled in bytes behind `context`."""
        return character not in self._characters and self._normalization.keeps(context + character)

    def _find_anywhere(self, structure: TokenizerStructure) -> Bools:
        """bool[vocab_size]: pieces that may follow if the pair test keeps them apart."""
        answers = self._vocabulary.reachable.copy()
        if self._normalization.idle and not structure.added_tokens:
            return answers
        for token in np.flatnonzero(answers).tolist():
            text = self._spelled[token].decode()
            answers[token] = (
                self._normalization.keeps(text)
                and not self._added.occurs_in(text)
                and (not (self._drops_spaces and text.endswith(" ")) or self._is_left_alone(token))
            )
        return answers

    def _find_plain(self) -> list[State | None]:
        """For each id the state after it, if that is the same behind every calm text; else None.

        It is where nothing of it joins with the characters before it, for the normaliser or to an
        added token: a calm text ends in the beginning of none.
        """
        found: list[State | None] = [None] * len(self._spelled)
        for token in [] if self._addable else np.flatnonzero(self._anywhere).tolist():
            data = self._spelled[token]
            if not self._normalization.head(data):
                text = data.decode()[-self._kept :]
                calm = not self._added.has_begun(text)
                context = self._context_after("", data.decode())
                found[token] = State(
                    _NONE.then(token), text, begun=True, calm=calm, context=context
                )
        return found

    def _find_starting(self, structure: TokenizerStructure) -> Bools:
        """What may come first; where the tokenizer treats that specially, as it says itself."""
        answers = self._anywhere.copy()
        self._add_bytes(answers, State())
        if structure.dummy_prefix:
            answers[:] = False  # but for what begins with it
        if structure.dummy_prefix or self._drops_spaces:
            asked = [
                token
                for token in np.flatnonzero(structure.pieces).tolist()
                if self._spelled[token].startswith(b" ")
            ]
            answers[asked] = self._oracle.admits([], asked)
        return answers

    def _is_left_alone(self, token: int) -> bool:
        """Whether a token that ends in a space is kept as it is by some text behind it."""
        return self._oracle.mode == "viable" and any(
            not text.startswith(" ")
            and self._normalization.keeps(text)
            and all(
                self._vocabulary.apart(token, first)
                for first in self._vocabulary.segment(text.encode())[:1]
            )
            for text in CONTINUATIONS
        )


def _characters(structure: TokenizerStructure, spelled: Sequence[bytes]) -> frozenset[str]:
    """The characters that are pieces themselves, or added tokens."""
    texts = (spelled[piece].decode() for piece in np.flatnonzero(structure.pieces).tolist())
    single = (text for text in (*texts, *structure.added_tokens) if len(text) == 1)
    return frozenset({_SPACE_SIGN, *single})
