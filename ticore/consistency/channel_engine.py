"""Verification for a text that passes a channel, where it changes nothing without retokenising.

If channel(text) == text, the answers are those of an engine that knows no channel. It remains to
see cheaply whether that is so, and to say what holds where it is not. Nearly always that is *no*:

Let t be the text of a list and y what arrives of it, y != t. The tokens of encode(y) spell y as the
normaliser leaves it, so for the list to come back, the normaliser would have to undo the channel.
Normal forms do not: t, being spelled by tokens of encode, is in normal form; so y is, since the
channels cut pieces off, put plain spaces or line feeds in, or compose; and the normaliser leaves y
as it is. Nor does U+2581, which some tokenizers read as a space: no channel puts one in. And since
nothing that comes behind mends what was changed, no longer list comes back either. With one
exception: white space at the end is safe from `strip` once something follows.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import lru_cache
from typing import Generic, TypeVar

import numpy as np

from ..interfaces import TokenizerStructure
from . import normalization
from .channels import Passage
from .engine import Bools, Engine, Hope, Ids
from .modes import pending
from .oracle import Oracle

S = TypeVar("S")


def obstacle(structure: TokenizerStructure | None) -> str:
    """Why `ChannelEngine` is not exact for a tokenizer; empty if it is."""
    if structure is None:
        return "the tokenizer's structure is not known"
    # Of the normalisers that are known, the one that is no normal form is Metaspace, and all it
    # does is to drop one space at the beginning, where no channel puts one.
    return normalization.obstacle(structure)


class _Verdict(IntEnum):
    """What is known of a candidate from the end of the text that it makes."""

    NO = 0
    SAME = 1  # as without the channel
    SAME_IF_FINISHED = 2  # no, or yes if the text may end there, or else the tokenizer must say
    ASK_IF_SAME = 3  # no where it is no without the channel, or else the tokenizer must say
    ASK = 4  # the tokenizer must say


@dataclass(frozen=True, slots=True)
class End:
    """The end of a list's text, as a channel sees it.

    Attributes:
        context: stands for what of it may be changed with what follows, or its last character if
            the text is changed already; empty while there is no text.
        unfinished: the bytes of an unfinished character.
        changed: the channel changes the text, whatever follows.
    """

    context: str = ""
    unfinished: bytes = b""
    changed: bool = False


@dataclass(frozen=True, slots=True)
class State(Generic[S]):
    """A list of tokens.

    Attributes:
        inner: the other engine's state.
        end: of the text.
        special: the list holds a special id.
        before: the list without its last token, None for the empty list.
        token: its last token.
    """

    inner: S
    end: End = End()
    special: bool = False
    before: State[S] | None = None
    token: int = -1

    def ids(self) -> list[int]:
        """The whole list."""
        found, state = [], self
        while state.before is not None:
            found.append(state.token)
            state = state.before
        return found[::-1]


class ChannelEngine(Generic[S]):
    """An engine for lists whose text passes a channel.

    Args:
        inner: an engine for the same tokenizer and mode, without the channel.
        passage: what the channel does.
        oracle: of the tokenizer, mode and channel; its tokenizer's structure has no `obstacle`.
    """

    def __init__(self, inner: Engine[S], passage: Passage, oracle: Oracle) -> None:
        tokenizer = oracle.tokenizer
        structure = tokenizer.structure()
        assert structure is not None, "see `obstacle`"
        self._inner, self._passage, self._oracle = inner, passage, oracle
        self._special = tokenizer.special_ids
        self._spelled = [tokenizer.token_bytes(i) for i in range(tokenizer.vocab_size)]
        self._goes_on, self._viable = oracle.mode != "prefix", oracle.mode == "viable"
        self._hides_spaces = structure.dummy_prefix or not structure.keeps_whitespace
        self._ignores_merges = structure.ignore_merges
        self._affected = sorted(c.encode() for c in passage.affected())
        self._finishing = lru_cache(maxsize=1024)(self._find_finishing)
        self._parting = self._find_parting()
        self._sort_vocabulary()
        self._first: Bools | None = None

    def start(self) -> State[S]:
        return State(self._inner.start())

    def step(self, state: State[S], token: int) -> State[S]:
        inner = self._inner.step(state.inner, token)
        special = state.special or token in self._special
        return State(inner, self._end(state, token), special, state, token)

    def finished_ok(self, state: State[S]) -> bool:
        if state.special or state.end.changed or self._is_trimmed(state.end):
            return False
        return self._inner.finished_ok(state.inner)

    def admits(self, state: State[S], candidates: Ids) -> Bools:
        verdicts = self._verdicts(state, candidates)
        answers = np.zeros(len(candidates), dtype=bool)
        open_ = (verdicts != _Verdict.NO) & (verdicts != _Verdict.ASK)
        if open_.any():
            answers[open_] = self._inner.admits(state.inner, candidates[open_])
        return self._settle(state, candidates, verdicts, answers)

    def follow(self, state: State[S], token: int) -> State[S] | None:
        return self.step(state, token) if self.admits(state, np.array([token]))[0] else None

    def aside(self, state: State[S], token: int) -> State[S] | Hope:
        longer = self.step(state, token)
        if longer.special or longer.end.changed:
            return Hope.NONE
        inner = self._inner.aside(state.inner, token)
        return inner if isinstance(inner, Hope) else replace(longer, inner=inner)

    def kept(self, state: State[S]) -> int | None:
        return None  # a cut is stable while the text grows, not while its end changes on the way

    def loses(self, state: State[S], token: int) -> bool:
        special = state.special or token in self._special
        return special or self._inner.loses(state.inner, token)

    def mask(self, state: State[S]) -> Bools:
        if state.before is not None:
            return self._mask(state)
        if self._first is None:  # which may take long, and comes again with each text
            self._first = self._mask(state)
        return self._first.copy()

    def _mask(self, state: State[S]) -> Bools:
        everything = np.arange(len(self._spelled))
        if state.special or state.end.changed:
            return np.zeros(len(everything), dtype=bool)
        answers = self._inner.mask(state.inner)
        if state.end.unfinished:
            looked_at = everything if self._parting else np.flatnonzero(answers)
        else:
            answers &= ~self._refused(state.end)
            unsure = self._unsure_if_yes
            if not state.end.context and self._hides_spaces:
                unsure = unsure | self._spaced
            looked_at = np.flatnonzero(answers & unsure | self._unsure)
        verdicts = self._verdicts(state, looked_at)
        answers[looked_at] = self._settle(state, looked_at, verdicts, answers[looked_at])
        return answers

    def _settle(
        self, state: State[S], candidates: Ids, verdicts: Ids, without_channel: Bools
    ) -> Bools:
        """The answers about candidates, from what is known of them and the inner answers."""
        answers: Bools = without_channel & (verdicts != _Verdict.NO)
        asked = (answers & (verdicts == _Verdict.ASK_IF_SAME)) | (verdicts == _Verdict.ASK)
        for n in np.flatnonzero(answers & (verdicts == _Verdict.SAME_IF_FINISHED)):
            longer = self._inner.step(state.inner, int(candidates[n]))
            asked[n] = not self._inner.finished_ok(longer)
        if asked.any():
            answers[asked] = self._oracle.admits(state.ids(), candidates[asked].tolist())
        return answers

    # One candidate.

    def _verdicts(self, state: State[S], candidates: Ids) -> Ids:
        found = (self._verdict(state, token) for token in candidates.tolist())
        return np.fromiter(found, dtype=np.uint8, count=len(candidates))

    def _verdict(self, state: State[S], token: int) -> _Verdict:
        end = self._end(state, token)
        trimmed = self._is_trimmed(end)
        if end.changed or state.special or token in self._special:
            return _Verdict.NO
        if end.unfinished:
            return self._verdict_inside(end)
        if trimmed:
            # What follows keeps white space from being trimmed, but not a line's end.
            return _Verdict.ASK_IF_SAME if self._viable else _Verdict.NO
        return _Verdict.SAME_IF_FINISHED if self._may_go_on_otherwise(end) else _Verdict.SAME

    def _verdict_inside(self, end: End) -> _Verdict:
        """Of a candidate that ends inside a character, which any of many may finish.

        Of those that the channel changes, none counts: what arrives does not begin with the list.
        Except where one is taken apart into two, the first of which the list would fit.
        """
        if not (self._goes_on and self._may_be_changed(end)):
            return _Verdict.SAME
        return _Verdict.ASK if end.unfinished in self._parting else _Verdict.ASK_IF_SAME

    def _may_be_changed(self, end: End) -> bool:
        """Whether the channel changes some character that finishes the unfinished one."""
        passage = self._passage
        for character in self._finishing(end.unfinished):
            text = end.context + character
            if passage.trims or passage.inside(text) != text:
                return True
        return False

    def _may_go_on_otherwise(self, end: End) -> bool:
        r"""Whether a continuation that counts without the channel may not count with it.

        There are two such. `strip` takes every line's end away that follows a text. But behind
        something else than white space, the text is read as if it ended before that, unless with
        `ignore_merges` a sign and a "\n" behind it are one part. And of a space before " \n",
        `spaces` leaves none; but mostly a text may end in a space anyway.
        """
        if not self._viable:
            return False
        if self._passage.trims:
            sign = self._ignores_merges and not end.context[-1:].isalnum()
            return sign or not end.context
        return end.context.endswith(" ") and " " in self._passage.joining()

    def _is_trimmed(self, end: End) -> bool:
        """Whether white space at the end of the text goes."""
        return self._passage.trims and not end.unfinished and end.context[-1:].isspace()

    def _end(self, state: State[S], token: int) -> End:
        """The end of the text of a list followed by `token`."""
        end, data = state.end, self._spelled[token]
        first = not (end.context or end.unfinished)
        if first and self._hides_spaces and b" " in data:
            data = self._oracle.tokenizer.decode([*state.ids(), token]).encode()
        data = end.unfinished + data
        unfinished = pending(data)
        text = data[: len(data) - len(unfinished)].decode(errors="replace")
        if not text:
            return replace(end, unfinished=unfinished)
        more = end.context + text
        changed = (
            end.changed
            or self._passage.inside(more) != more
            or (self._passage.trims and not end.context and text[0].isspace())
        )
        # A changed run would grow and grow, and be folded again with each token.
        return End(more[-1:] if changed else self._passage.context(more), unfinished, changed)

    # The whole vocabulary.

    def _sort_vocabulary(self) -> None:
        """Note what the channel does to each token behind a text that it does not join.

        `_unsure_if_yes` are the tokens to look at where the inner engine admits them, `_unsure`
        those to look at anyway.
        """
        passage, size = self._passage, len(self._spelled)
        self._changed, self._begins_white, self._ends_white = np.zeros((3, size), dtype=bool)
        self._unsure, self._unsure_if_yes = np.zeros((2, size), dtype=bool)
        self._spaced = np.array([b" " in data for data in self._spelled], dtype=bool)
        heads: dict[str, list[int]] = {}
        for token, data in enumerate(self._spelled):
            if data.isalnum():
                continue  # ASCII letters and digits, which no channel minds
            unfinished = pending(data)
            text = data[: len(data) - len(unfinished)].decode(errors="replace")
            if unfinished:
                self._unsure[token] = unfinished in self._parting
                self._unsure_if_yes[token] = self._goes_on and bool(self._finishing(unfinished))
            elif text:
                self._ends_white[token] = text[-1].isspace()
                self._unsure_if_yes[token] = self._may_go_on_otherwise(End(text))
            self._begins_white[token] = text[:1].isspace()
            self._changed[token] = passage.inside(text) != text
            if head := passage.head(text):
                heads.setdefault(head, []).append(token)
        if passage.trims and self._viable:
            self._unsure_if_yes |= self._ends_white
        self._heads = {head: np.array(tokens) for head, tokens in heads.items()}

    def _refused(self, end: End) -> Bools:
        """bool[vocab_size]: what the channel changes behind this text, and nothing mends."""
        refused = self._changed.copy()
        if self._passage.trims:
            if not end.context:
                refused |= self._begins_white
            if not self._viable:
                refused |= self._ends_white
        if not end.context and self._hides_spaces:
            refused &= ~self._spaced
        if end.context:
            for head, tokens in self._heads.items():
                text = end.context + head
                if self._passage.inside(text) != text:
                    refused[tokens] = True
        return refused

    # Characters that are not finished.

    def _find_finishing(self, unfinished: bytes) -> tuple[str, ...]:
        """The characters that begin with `unfinished` and that the channel may change."""
        first = bisect_left(self._affected, unfinished)
        last = bisect_left(self._affected, unfinished + b"\xff", first)
        return tuple(character.decode() for character in self._affected[first:last])

    def _find_parting(self) -> frozenset[bytes]:
        """Beginnings of characters that are taken apart, the first part beginning with them too.

        If none of the vocabulary's tokens reaches from inside the first part into the second, the
        second one does not matter, and the first alone would do as well.
        """
        reaching = [data for data in self._spelled if _reaches_on(data)]
        found = set[bytes]()
        for character in self._passage.affected() if reaching else ():
            first, *others = (c.encode() for c in self._passage.inside(character))
            whole = character.encode()
            if others and any(
                data.startswith(first[n:] + others[0][:1])
                for data in reaching
                for n in range(1, len(first))
            ):
                beginnings = (whole[:n] for n in range(1, len(whole)))
                found.update(part for part in beginnings if first.startswith(part))
        return frozenset(found)


def _reaches_on(data: bytes) -> bool:
    """Whether bytes begin inside one character and go on into another."""
    return 0x80 <= max(data[:1], default=0) < 0xC0 and max(data) >= 0xC0
