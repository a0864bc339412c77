"""From lists of tokens to states.

A token is appended, the text is cut at its last settled boundary, and long runs are folded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...._support.caches import cached_method
from ...._support.utf8 import is_continuation_byte, unfinished_suffix
from ....interfaces import Split
from ..._tokenizer_rules.added_tokens import AddedTokens
from ..._tokenizer_rules.normalizers import Normalization
from ..._tokenizer_rules.pretokenizers import splitter_for
from ..chain import Chain
from .boundary_effects import END_OF_TEXT, FollowVerdict, Tail, decide
from .character_classes import AMBIGUOUS, Closing, shapes_for
from .known_steps import Forms
from .pretokenized_state import PretokenizedState, UnsettledList, start_of_last
from .replaced_parts import ReplacedParts
from .run_folding import RunFolder
from .token_pairs import TokenPairs

_CACHED_TAILS = 1 << 12


class StateBuilder:
    """Makes the states of `PretokenizedEngine`.

    Args:
        pretokenizer: its steps.
        spelled: the bytes of every id.
        pairs: the pair test.
        replaced_parts: of the same vocabulary.
        normalization: the tokenizer's.
        added: its added tokens.

    Attributes:
        longest_text: a longer text is folded.
        forms: of the states.
        start: the state of the empty list.
    """

    def __init__(
        self,
        pretokenizer: tuple[str | Split, ...],
        spelled: Sequence[bytes],
        pairs: TokenPairs,
        replaced_parts: ReplacedParts,
        normalization: Normalization,
        added: AddedTokens,
    ) -> None:
        self._spelled = spelled
        self._pairs = pairs
        self._replaced_parts = replaced_parts
        self._normalization = normalization
        self._added = added
        self._splitter = splitter_for(pretokenizer)
        self._shapes = shapes_for(pretokenizer)
        # The end of the text must show an added token that begins in it, and what is composed.
        kept_at_end = max(16, added.longest_beginning + 8)
        self._folder = RunFolder(self._splitter, self._shapes, normalization, kept_at_end)
        self.longest_text = 2 * kept_at_end + 16
        self.forms = Forms(self._shapes, normalization, added)
        tail = Tail(completing=replaced_parts.completing_alone)
        self.start = PretokenizedState(tail=tail, form=self.forms.form_of(tail, ""))

    def step(self, state: PretokenizedState, token: int) -> PretokenizedState:
        """The state of the list followed by `token`, any id."""
        if token in self._added.ids:
            return self.start  # what follows is split and merged on its own
        longer = self.append(state, token)
        return self.settle(longer) if isinstance(longer, UnsettledList) else longer

    def append(self, state: PretokenizedState, token: int) -> UnsettledList | PretokenizedState:
        """Append a token that is not an added token.

        Returns:
            The longer list. In two cases its state instead, since there is no text to settle: the
            list is broken, or its text holds ambiguous characters.
        """
        tokens = state.tokens.then(token)
        if state.tail is None:
            return state._replace(tokens=tokens) if state.broken else self._reread(tokens)
        data = state.unfinished + self._spelled[token]
        unfinished = unfinished_suffix(data)
        try:
            more = data[: len(data) - len(unfinished)].decode()
        except UnicodeDecodeError:
            return PretokenizedState(tokens, tail=None, broken=True)
        if AMBIGUOUS in self._shapes.shape(more):
            return self._reread(tokens)
        unmerged = state.unmerged
        if state.tokens and not state.unfinished:
            unmerged = (*unmerged, self._pairs.do_not_merge(state.tokens.token, token))
        text = state.text + more
        if unfinished:
            same = state.ends, state.numbers, unmerged, state.whole_part_only, state.replaced
            return UnsettledList(tokens, text, *same, unfinished)
        whole_part_only = not state.unfinished and bool(self._pairs.whole_part_only[token])
        return UnsettledList(
            tokens,
            text,
            (*state.ends, len(text)),
            (*state.numbers, tokens.number),
            unmerged,
            (*state.whole_part_only, whole_part_only),
            (*state.replaced, *self._new_replaced(state, tokens, len(text))),
            b"",
        )

    def _reread(self, tokens: Chain) -> PretokenizedState:
        """The state of tokens whose text holds ambiguous characters.

        Until these characters are settled, the whole text is read again with each token.
        """
        ids = tokens.ids()
        pieces = [self._spelled[i] for i in ids]
        data = b"".join(pieces)
        unfinished = unfinished_suffix(data)
        try:
            text = data[: len(data) - len(unfinished)].decode()
        except UnicodeDecodeError:
            return PretokenizedState(tokens, tail=None, broken=True)
        ends = _ends_in_characters(data, pieces, unfinished)
        cut, _ = self._last_cut(text, ends)
        first = ends.index(cut) + 1 if cut else 0
        tokens = tokens.since(tokens.number - len(ids) + first)
        if AMBIGUOUS in self._shapes.shape(text[cut:]):
            return PretokenizedState(tokens, tail=None)
        # Nothing is ambiguous any more, so the tokens can be read one by one.
        state = self.start
        for token in ids[first:]:
            state = self.step(state, token)
        return state

    def settle(self, longer: UnsettledList) -> PretokenizedState:
        """The state of a list: its text is cut at the last settled boundary, and folded."""
        cut, is_broken = self._last_cut(longer.text, longer.ends)
        if is_broken:
            return PretokenizedState(longer.tokens, tail=None, broken=True)
        if cut:
            longer = longer.since(cut)
        if len(longer.text) > self.longest_text:
            folded = self._folder.fold(longer)
            if folded is None:
                return PretokenizedState(longer.tokens, tail=None, broken=True)
            longer = folded
        tail = self._tail(longer)
        text, ends, unfinished = longer.text, longer.ends, longer.unfinished
        open_bytes = text[ends[-1] if ends else 0 :].encode() if unfinished else b""
        closed_by = None if unfinished else self._closed_by(text, tail)
        form = None if unfinished else self.forms.form_of(tail, text)
        return PretokenizedState(*longer[:-1], tail, open_bytes, unfinished, closed_by, form=form)

    @cached_method(_CACHED_TAILS)
    def may_end(self, tail: Tail) -> FollowVerdict:
        """Whether a text may end after `tail`."""
        return decide(self._splitter, tail, END_OF_TEXT)

    def all_unmerged(self, longer: UnsettledList, settled: PretokenizedState) -> bool:
        """Whether the tokens are canonical in the two places that the tail of `settled` leaves out.

        These are the parts before the last cut, and the inside of long runs.

        Args:
            longer: a list.
            settled: its state, which is not broken.
        """
        number = settled.tokens.number - len(settled.tokens)
        cut = longer.ends[longer.numbers.index(number)] if number in longer.numbers else 0
        start = 0
        for end in self._splitter.ends(longer.text):
            if end > cut:
                break
            if end not in longer.ends or (start, end) in longer.replaced:
                return False
            if not all(
                unmerged
                for at, unmerged in zip(longer.ends, longer.unmerged, strict=False)
                if start < at < end
            ):
                return False
            start = end
        _, moved = self._shapes.shorten_runs(self._shapes.shape(settled.text), settled.ends)
        pairs = zip(moved, settled.unmerged, strict=False)
        return all(unmerged or at >= 0 for at, unmerged in pairs)

    def _closed_by(self, text: str, tail: Tail) -> Closing | None:
        """See PretokenizedState.

        None where the text may not end, and in three cases in which more than the shape of the
        next character matters: the text ends in white space (the part may lose its last character),
        near an apostrophe (the letter matters), or in the beginning of an added token.
        """
        if (
            not text
            or text[-1].isspace()
            or self._shapes.is_near_apostrophe(tail.shape)
            or self._added.ends_in_beginning(text)
            or self.may_end(tail) is not FollowVerdict.YES
        ):
            return None
        return self._shapes.closing(tail.shape)

    def _last_cut(self, text: str, ends: Sequence[int]) -> tuple[int, bool]:
        """The last settled boundary of `text` at which a token ends; 0 if no boundary is one.

        A cut is not made where an added token has begun, nor before a character that composes with
        the one before it.

        Returns:
            The boundary, and whether no token ends at some settled boundary after it: then no text
            begins with the tokens, whatever follows.
        """
        shape = self._shapes.shape(text)
        is_ambiguous = AMBIGUOUS in shape
        settled = self._splitter.settled(text) if is_ambiguous else self._shapes.settled(shape)
        is_broken = False
        for boundary in settled:
            if not self._normalization.joins(text[boundary]) and not self._added.ends_in_beginning(
                text[:boundary]
            ):
                if boundary in ends:
                    return boundary, is_broken
                is_broken = True
        return 0, is_broken

    def _tail(self, longer: UnsettledList) -> Tail:
        """The tail of a list. Tokens that end inside a shortened run are not in it."""
        ends = longer.ends
        text = longer.text[: ends[-1] if ends else 0]
        shape, moved = self._shapes.shorten_runs(self._shapes.shape(text), ends)
        kept = [n for n, end in enumerate(moved) if end >= 0]
        offsets = dict(zip((0, *ends), (0, *moved), strict=True))
        return Tail(
            shape=shape,
            token_ends=tuple(moved[n] for n in kept),
            unmerged=tuple(longer.unmerged[n] for n in kept[:-1]),
            whole_part_only=tuple(longer.whole_part_only[n] for n in kept),
            replaced=frozenset((offsets[a], offsets[b]) for a, b in longer.replaced),
            unmerged_with_open=(
                len(longer.unmerged) < len(ends) or not ends or longer.unmerged[-1]
            ),
            completing=self._completing(longer, shape, offsets),
        )

    def _new_replaced(
        self, state: PretokenizedState, tokens: Chain, end: int
    ) -> Iterator[tuple[int, int]]:
        """Where replaced parts of several tokens begin that the last token ends, at `end`."""
        for count in self._replaced_parts.find_replaced(tokens):
            start = start_of_last(state, tokens, count)
            if count > 1 and start >= 0:
                yield start, end

    def _completing(
        self, longer: UnsettledList, shape: str, offsets: Mapping[int, int]
    ) -> frozenset[int]:
        """See Tail. A part of its own begins only where the text may be split."""
        found = self._replaced_parts.completing_alone
        for count, completing in self._replaced_parts.find_completing(longer.tokens):
            start = start_of_last(longer, longer.tokens, count)
            offset = offsets[start] if start >= 0 else -1
            if offset == len(shape) or (offset >= 0 and offset in self._shapes.part_starts(shape)):
                found |= completing
        return found


def _ends_in_characters(data: bytes, pieces: Sequence[bytes], unfinished: bytes) -> list[int]:
    """Where pieces of `data` end, counted in characters; -1 for those that end inside one."""
    ends, at, start, characters = [], 0, 0, 0
    whole = len(data) - len(unfinished)
    for piece in pieces:
        at += len(piece)
        is_inside = at > whole or (at < len(data) and is_continuation_byte(data[at]))
        if is_inside:
            ends.append(-1)
        else:
            characters += len(data[start:at].decode())
            start = at
            ends.append(characters)
    return ends
