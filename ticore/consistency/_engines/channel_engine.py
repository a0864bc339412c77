r"""Verification of lists whose text passes a channel, mostly without retokenizing.

Let t be the text of a list, and y = channel(t) what arrives. There are three cases.

1. **The channel changes nothing**, y == t. The answer is that of an engine without the channel.
   Example: "a b" under `spaces`.
2. **The channel changes something, and what follows cannot undo it.** The answer is no: encode(y)
   does not give the list back. Example: under `spaces`, "a \t b" arrives as "a b".

   Suppose that it does. The tokens of encode(y) spell what the normalizer makes of y, and those of
   the list spell t. So the normalizer turns y back into t. This is impossible:

   a. t is in the tokenizer's normal form, since the normalizer has made it. Example: "é" as one
      character, under NFC.
   b. So y is in normal form too, since a channel does one of three things to t: it cuts off an end,
      it puts in a plain space or a line feed, or it composes. Example: `newlines` makes "\n" of
      "\r\n".
   c. So the normalizer leaves y as it is, and y != t. A tokenizer that reads U+2581 as a space does
      not turn y into t either, because no channel puts in U+2581.

   In mode `viable` it matters also what arrives of longer texts: "a  " and a line feed arrive under
   `spaces` as "a \n". A normalizer that reads a line feed as a space makes "a  " of it.
3. **White space at the end, under `strip`.** The channel removes it now, but not when something
   follows. So the list is not consistent, but a longer list may be. Example: "a " arrives as "a",
   and "a b" arrives as it is.

The engine looks at the end of the text to see which case holds. It asks the tokenizer about the few
candidates where the end does not tell.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np

from ..._support.caches import cached_method
from ..._support.packed_bits import Words, pack
from ..._support.utf8 import is_continuation_byte, unfinished_suffix
from ...interfaces import TokenizerStructure
from .._arrays import Bools, Ids
from .._channels import Passage
from .._modes import Mode
from .._tokenizer_rules import normalizers
from .._tokenizer_rules.line_ends import may_see_line_ends
from .._unsupported import Unsupported
from .base import Engine, Recovery
from .retokenizing import Oracle
from .tokenizer_parts import spelled_by, structure_of

S = TypeVar("S")

_PUT_IN = " \n"  # the white space that channels put in
_DECOMPOSED = "e\u0301"


class _Rule(IntEnum):
    """How to answer about a candidate, as the end of the text after it tells."""

    REFUSE = 0
    AS_WITHOUT = 1  # as without the channel
    AS_WITHOUT_IF_CONSISTENT = 2  # as without; but ask if that is yes and no text may end there
    ASK_IF_ADMITTED_WITHOUT = 3  # no if it is no without the channel; else ask
    ASK = 4  # ask the tokenizer


@dataclass(frozen=True, slots=True)
class _TextEnd:
    """The end of a list's text, as far as a channel looks at it.

    Attributes:
        context: characters that the channel treats as it treats the end of the text, when more
            follows. The last character if `changed`. Empty while there is no text.
        unfinished: the bytes of an unfinished character.
        changed: whether the channel changes the text, whatever follows (case 2).
    """

    context: str = ""
    unfinished: bytes = b""
    changed: bool = False


@dataclass(frozen=True, slots=True)
class ChannelState(Generic[S]):
    """A list of tokens.

    Attributes:
        inner: its state in the engine without the channel.
        end: the end of its text.
        special: whether it holds a special id.
        before: the list without its last token; None for the empty list.
        token: its last token.
    """

    inner: S
    end: _TextEnd = _TextEnd()
    special: bool = False
    before: ChannelState[S] | None = None
    token: int = -1

    def ids(self) -> list[int]:
        """The whole list, which takes time in proportion to its length."""
        found, state = [], self
        while state.before is not None:
            found.append(state.token)
            state = state.before
        return found[::-1]


def _require_not_undone(structure: TokenizerStructure, passage: Passage, mode: Mode) -> None:
    """Refuse a tokenizer for which case 2 does not hold: it may undo what the channel does.

    Raises:
        Unsupported: for such a tokenizer.
    """
    if structure.dummy_suffix:
        raise Unsupported("a channel may change the space that is put after each text")
    composes = passage.send(_DECOMPOSED) != _DECOMPOSED
    if composes and not normalizers.keeps_composed(structure):
        raise Unsupported("its normalizer may decompose again what the channel composes")
    read = normalizers.Normalization(structure).read
    if any(c.isspace() and c not in _PUT_IN for put in _PUT_IN for c in read(put)):
        raise Unsupported("its normalizer makes other white space of spaces or line feeds")
    if mode == "viable" and " " in passage.joining() and read("\n").startswith(" "):
        raise Unsupported("its normalizer makes spaces of line feeds, with which a text may go on")


class ChannelEngine(Generic[S]):
    """An engine for lists whose text passes a channel. Thread-safe.

    Args:
        inner: an engine for the same tokenizer and mode, without the channel.
        passage: what the channel does.
        oracle: of the tokenizer, mode and channel.

    Raises:
        Unsupported: the answers would not be exact for the tokenizer.
    """

    def __init__(self, inner: Engine[S], passage: Passage, oracle: Oracle) -> None:
        tokenizer = oracle.tokenizer
        structure = structure_of(tokenizer)
        # Of the known normalizers only Metaspace is not a normal form. All it does is to drop one
        # space at the beginning of a text. This undoes no channel, since none adds a space there.
        normalizers.require_known(structure)
        if structure.adds_leading_space and passage.trims:
            raise Unsupported("the tokenizer puts back a space that the channel removes")
        _require_not_undone(structure, passage, oracle.mode)
        self._inner, self._passage, self._oracle = inner, passage, oracle
        self._special = tokenizer.special_ids
        self._spelled = spelled_by(tokenizer)
        self._may_be_unfinished, self._viable = oracle.mode != "prefix", oracle.mode == "viable"
        self._hides_spaces = structure.dummy_prefix or not structure.keeps_whitespace
        self._ignores_merges = structure.ignore_merges
        self._may_see_line_ends = may_see_line_ends(structure.pretokenizer)
        self._affected = sorted(c.encode() for c in passage.affected())
        self._taken_apart = self._find_taken_apart()
        self._sort_vocabulary()

    def start(self) -> ChannelState[S]:
        return ChannelState(self._inner.start())

    def step(self, state: ChannelState[S], token: int) -> ChannelState[S]:
        inner = self._inner.step(state.inner, token)
        special = state.special or token in self._special
        return ChannelState(inner, self._end(state, token), special, state, token)

    def is_consistent(self, state: ChannelState[S]) -> bool:
        if state.special or state.end.changed or self._is_trimmed(state.end):
            return False
        return self._inner.is_consistent(state.inner)

    def admits(self, state: ChannelState[S], candidates: Ids) -> Bools:
        rules = self._rules(state, candidates)
        answers = np.zeros(len(candidates), dtype=bool)
        open_ = (rules != _Rule.REFUSE) & (rules != _Rule.ASK)
        if open_.any():
            answers[open_] = self._inner.admits(state.inner, candidates[open_])
        return self._apply(state, candidates, rules, answers)

    def step_if_admitted(self, state: ChannelState[S], token: int) -> ChannelState[S] | None:
        return self.step(state, token) if self.admits(state, np.array([token]))[0] else None

    def step_if_refused(self, state: ChannelState[S], token: int) -> ChannelState[S] | Recovery:
        longer = self.step(state, token)
        if longer.special or longer.end.changed:
            return Recovery.NEVER
        inner = self._inner.step_if_refused(state.inner, token)
        return inner if isinstance(inner, Recovery) else replace(longer, inner=inner)

    def tokens_since_cut(self, state: ChannelState[S]) -> int | None:
        return None  # a cut is stable while a text grows; a channel may change its end

    def never_recovers(self, state: ChannelState[S], token: int) -> bool:
        special = state.special or token in self._special
        return special or self._inner.never_recovers(state.inner, token)

    def mask(self, state: ChannelState[S]) -> Bools:
        if state.before is not None:
            return self._mask(state)
        return self._first_mask.copy()

    def packed_mask(self, state: ChannelState[S], out: Words) -> None:
        out[:] = pack(self.mask(state))

    @cached_property
    def _first_mask(self) -> Bools:
        """The mask of the empty list. It may take seconds, and every text needs it."""
        return self._mask(self.start())

    def _mask(self, state: ChannelState[S]) -> Bools:
        everything = np.arange(len(self._spelled))
        if state.special or state.end.changed:
            return np.zeros(len(everything), dtype=bool)
        answers = self._inner.mask(state.inner)
        if state.end.unfinished:
            looked_at = everything if self._taken_apart else np.flatnonzero(answers)
        else:
            answers &= ~self._changed_tokens(state.end)
            unsure = self._unsure_if_yes
            if not state.end.context and self._hides_spaces:
                unsure = unsure | self._spaced
            looked_at = np.flatnonzero(answers & unsure | self._unsure)
        rules = self._rules(state, looked_at)
        answers[looked_at] = self._apply(state, looked_at, rules, answers[looked_at])
        return answers

    def _apply(
        self, state: ChannelState[S], candidates: Ids, rules: Ids, without_channel: Bools
    ) -> Bools:
        """The answers about candidates, from their rules and the answers without the channel."""
        answers: Bools = without_channel & (rules != _Rule.REFUSE)
        asked = (answers & (rules == _Rule.ASK_IF_ADMITTED_WITHOUT)) | (rules == _Rule.ASK)
        for n in np.flatnonzero(answers & (rules == _Rule.AS_WITHOUT_IF_CONSISTENT)):
            longer = self._inner.step(state.inner, int(candidates[n]))
            asked[n] = not self._inner.is_consistent(longer)
        if asked.any():
            answers[asked] = self._oracle.admits(state.ids(), candidates[asked].tolist())
        return answers

    # One candidate.

    def _rules(self, state: ChannelState[S], candidates: Ids) -> Ids:
        found = (self._rule(state, token) for token in candidates.tolist())
        return np.fromiter(found, dtype=np.uint8, count=len(candidates))

    def _rule(self, state: ChannelState[S], token: int) -> _Rule:
        end = self._end(state, token)
        trimmed = self._is_trimmed(end)
        if end.changed or state.special or token in self._special:
            return _Rule.REFUSE
        if end.unfinished:
            return self._rule_inside_character(end)
        if trimmed:
            # Case 3. Text that follows saves the white space, unless it is a line end alone.
            return _Rule.ASK_IF_ADMITTED_WITHOUT if self._viable else _Rule.REFUSE
        return (
            _Rule.AS_WITHOUT_IF_CONSISTENT if self._continuation_may_fail(end) else _Rule.AS_WITHOUT
        )

    def _rule_inside_character(self, end: _TextEnd) -> _Rule:
        """The rule for a candidate that ends inside a character.

        1. The channel changes no character that completes it: the channel does not matter.
        2. It changes one of them. A changed character does not count, since what arrives does not
           begin with the list. The tokenizer tells whether another one counts. Example: under
           `nfc`, U+212B (the angstrom sign) arrives as U+00C5, in other bytes.
        3. It takes one of them apart into two, and the first of the two begins with the same bytes.
           Then the changed character may count too, and the tokenizer is asked. Example: under
           `nfc`, U+0F43 arrives as U+0F42 U+0FB7; both U+0F43 and U+0F42 begin with the bytes
           E0 BD.
        """
        if not (self._may_be_unfinished and self._may_be_changed(end)):
            return _Rule.AS_WITHOUT
        return _Rule.ASK if end.unfinished in self._taken_apart else _Rule.ASK_IF_ADMITTED_WITHOUT

    def _may_be_changed(self, end: _TextEnd) -> bool:
        """Whether the channel changes some character that completes the unfinished one."""
        passage = self._passage
        for character in self._completions_changed(end.unfinished):
            text = end.context + character
            if passage.trims or passage.inside(text) != text:
                return True
        return False

    def _continuation_may_fail(self, end: _TextEnd) -> bool:
        r"""Whether a continuation that admits a list without the channel may not do so with it.

        Only mode `viable` has continuations. There are two cases:

        1. `strip` removes the continuations "\n" and " \n" at the end of a text. This matters
           after an empty text. It also matters after a sign, such as "!", if the tokenizer has
           `ignore_merges`: there "!\n" may be one part and one token. After other text the list
           is read as if the text ended there, with or without the line end, unless the
           pretokenizer may see line ends.
        2. `spaces` joins a space at the end of the text with the space of " \n". Most texts may
           end in a space anyway, so the tokenizer is seldom asked.
        """
        if not self._viable:
            return False
        if self._passage.trims:
            sign = self._ignores_merges and not end.context[-1:].isalnum()
            return sign or not end.context or self._may_see_line_ends
        return end.context.endswith(" ") and " " in self._passage.joining()

    def _is_trimmed(self, end: _TextEnd) -> bool:
        """Whether the channel removes white space at the end of the text (case 3)."""
        return self._passage.trims and not end.unfinished and end.context[-1:].isspace()

    def _end(self, state: ChannelState[S], token: int) -> _TextEnd:
        """The end of the text of a list followed by `token`."""
        end, data = state.end, self._spelled[token]
        first = not (end.context or end.unfinished)
        if first and self._hides_spaces and b" " in data:
            data = self._oracle.tokenizer.decode([*state.ids(), token]).encode()
        data = end.unfinished + data
        unfinished = unfinished_suffix(data)
        text = data[: len(data) - len(unfinished)].decode(errors="replace")
        if not text:
            return replace(end, unfinished=unfinished)
        more = end.context + text
        changed = (
            end.changed
            or self._passage.inside(more) != more
            or (self._passage.trims and not end.context and text[0].isspace())
        )
        # The context of a changed text would grow with each token, and so would the time of a step.
        return _TextEnd(more[-1:] if changed else self._passage.context(more), unfinished, changed)

    # The whole vocabulary.

    def _sort_vocabulary(self) -> None:
        """Note what the channel does to each token by itself, apart from the text before it.

        It sets these, each bool[vocab_size]:

        - `_changed`: the channel changes the token's text.
        - `_begins_white`, `_ends_white`: its text begins or ends with white space.
        - `_unsure`: the token is looked at by itself.
        - `_unsure_if_yes`: it is looked at by itself if the engine without the channel admits it.
        - `_spaced`: it holds a space.

        And `_heads`: tokens by the characters at their beginning that may change with the text
        before them.
        """
        passage, size = self._passage, len(self._spelled)
        self._changed, self._begins_white, self._ends_white = np.zeros((3, size), dtype=bool)
        self._unsure, self._unsure_if_yes = np.zeros((2, size), dtype=bool)
        self._spaced = np.array([b" " in data for data in self._spelled], dtype=bool)
        heads: dict[str, list[int]] = {}
        for token, data in enumerate(self._spelled):
            if data.isalnum():
                continue  # no channel changes ASCII letters and digits
            unfinished = unfinished_suffix(data)
            text = data[: len(data) - len(unfinished)].decode(errors="replace")
            if unfinished:
                self._unsure[token] = unfinished in self._taken_apart
                self._unsure_if_yes[token] = self._may_be_unfinished and bool(
                    self._completions_changed(unfinished)
                )
            elif text:
                self._ends_white[token] = text[-1].isspace()
                self._unsure_if_yes[token] = self._continuation_may_fail(_TextEnd(text))
            self._begins_white[token] = text[:1].isspace()
            self._changed[token] = passage.inside(text) != text
            if head := passage.head(text):
                heads.setdefault(head, []).append(token)
        if passage.trims and self._viable:
            self._unsure_if_yes |= self._ends_white | self._may_see_line_ends
        self._heads = {head: np.array(tokens) for head, tokens in heads.items()}

    def _changed_tokens(self, end: _TextEnd) -> Bools:
        """bool[vocab_size]: tokens to refuse, since the channel changes the text with them."""
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

    # Unfinished characters.

    @cached_method(1024)
    def _completions_changed(self, unfinished: bytes) -> tuple[str, ...]:
        """The characters that begin with `unfinished` and that the channel may change."""
        first = bisect_left(self._affected, unfinished)
        last = bisect_left(self._affected, unfinished + b"\xff", first)
        return tuple(character.decode() for character in self._affected[first:last])

    def _find_taken_apart(self) -> frozenset[bytes]:
        """Bytes that begin a character which is taken apart, and the first of its parts too.

        Example: E0 BD begins U+0F43, of which `nfc` makes U+0F42 U+0FB7, and U+0F42 too.

        This matters only if some token begins inside the first part and reaches into the second
        one. Else U+0F42 by itself completes the list as well as U+0F43 does.
        """
        reaching = [data for data in self._spelled if _reaches_next_character(data)]
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


def _reaches_next_character(data: bytes) -> bool:
    """Whether bytes begin inside one character and hold the first byte of another."""
    return bool(data) and is_continuation_byte(data[0]) and max(data) >= 0xC0
