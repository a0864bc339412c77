"""Steps that were made before, remembered without the characters.

In Chinese or Japanese a part of the text goes on up to the next sign. Each token makes it longer,
and to split the text again for each of them takes long. But what a step does depends on the tail
before it and on the shape of the token, and there are few of both. So a step is made once, and
remembered by the two:

    the tail of "今天", then a token of two letters    admitted if it does not merge; no cut
    the tail of "今天", then a token of one sign       admitted; all before the sign is settled

With the next such step nothing is split. Only texts and tokens of which nothing but the shape
matters are *plain*, and only their steps are remembered. All other steps are made in full.

A rare character takes several tokens. While it is unfinished, nothing is split: the state keeps the
one before the character. The token that finishes it makes the step that one token for the whole
character would make from there:

    the tail of "今天", then two tokens, of "\xe9\x9c" and "\xbe"     the step of one letter
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import Enum
from functools import cached_property, lru_cache
from itertools import count
from typing import Final, Literal, NamedTuple

import regex

from ...._support.caches import BoundedCache, cached_method
from ...._support.utf8 import is_continuation_byte, unfinished_suffix
from ..._arrays import Bools
from ..._tokenizer_rules.added_tokens import AddedTokens
from ..._tokenizer_rules.normalizers import Normalization
from ..chain import Chain
from .boundary_effects import FollowVerdict, Tail, TokenGroup
from .character_classes import AMBIGUOUS, Closing, Shapes
from .pretokenized_state import Form, PretokenizedState
from .replaced_parts import ReplacedParts
from .token_groups import GroupedVocabulary, TokenGrouper
from .token_pairs import TokenPairs

_CACHED_FORMS, _CACHED_STEPS = 1 << 11, 1 << 7  # steps of one form
_CACHED_PAIRS, _CACHED_CHARACTERS = 1 << 14, 1 << 14
_NEW: Final = object()
# What `shorten_runs` gives for a run that may have been longer.
_MAY_BE_SHORTENED = regex.compile(r"(.)\1{3}", regex.DOTALL)


class Refused(Enum):
    """That a token is known not to be admitted."""

    REFUSED = 0


REFUSED: Final = Refused.REFUSED


class Forms:
    """The forms of plain states. Equal tails share one.

    Args:
        shapes: of the pretokenizer.
        normalization, added: of the tokenizer.
    """

    def __init__(self, shapes: Shapes, normalization: Normalization, added: AddedTokens) -> None:
        self._shapes = shapes
        self._normalization = normalization
        self._added = added
        self._forms: BoundedCache[Tail, Form] = BoundedCache(_CACHED_FORMS)
        # Of a character: whether it is plain wherever it stands; None if an added token decides.
        self._plain: dict[str, bool | None] = {}

    def form_of(self, tail: Tail, text: str) -> Form | None:
        """The form of a state between characters; None if it is not plain."""
        if self._shapes.is_near_apostrophe(tail.shape) or not self.is_plain(text):
            return None
        return self._forms.get(tail, lambda: Form(tail))

    def is_plain(self, text: str) -> bool:
        """Whether no character of `text` composes or is ambiguous, and no added token matters.

        None must be in the text, or begin at its end. Then none that begins in a plain text is in
        what comes after it: a beginning that reaches into the next token would have begun before.
        """
        known, may_begin = self._plain, False
        for character in text:
            if character not in known:
                known[character] = self._is_plain(character)
            if not (found := known[character]):
                if found is False:
                    return False
                may_begin = True
        return not may_begin or not (
            self._added.ends_in_beginning(text) or self._added.occurs_in(text)
        )

    def _is_plain(self, character: str) -> bool | None:
        if self._normalization.joins(character) or AMBIGUOUS in self._shapes.shape(character):
            return False
        return None if self._added.begins_with(character) else True


class _Kind(NamedTuple):
    """What matters of a plain token, or of the tokens of a character.

    Attributes:
        number: the same for tokens that act alike after every tail.
        text: of the token; empty if it begins a character, or goes on with one, and leaves it
            unfinished.
        group: of the token.
        whole_part_only: see `Tail`.
    """

    number: int
    text: str
    group: TokenGroup
    whole_part_only: bool


class _Step(NamedTuple):
    """What a token of one kind does after a tail, if it is admitted.

    Attributes:
        kept: how many of the ends of tokens stay before the new one; -1 for all.
        begins_part: nothing is kept, and whether the token merges with the last one is no matter.
        form, closed_by, tail: of the state after it.
    """

    kept: int
    begins_part: bool
    form: Form | None
    closed_by: Closing | None
    tail: Tail


_Found = PretokenizedState | Literal[Refused.REFUSED] | None


class KnownSteps:
    """Makes steps that were made before from equal tails.

    Args:
        spelled: the bytes of every id.
        pairs: the pair test.
        groups: the sorted vocabulary.
        grouper: what sorted it.
        replaced_parts: of the vocabulary.
        added: ids of added tokens.
        may_occur: bool[vocab_size], the tokens that some text may hold.
        shapes, forms: of the tokenizer.
        longest_text: a longer text is folded, and no step to it is remembered.
        step: makes a step in full.
        verdict: the verdict on a group of tokens after a tail.
    """

    def __init__(
        self,
        *,
        spelled: Sequence[bytes],
        pairs: TokenPairs,
        groups: GroupedVocabulary,
        grouper: TokenGrouper,
        replaced_parts: ReplacedParts,
        added: frozenset[int],
        may_occur: Bools,
        shapes: Shapes,
        forms: Forms,
        longest_text: int,
        step: Callable[[PretokenizedState, int], PretokenizedState],
        verdict: Callable[[Tail, TokenGroup], FollowVerdict],
    ) -> None:
        self._spelled = spelled
        self._do_not_merge = lru_cache(_CACHED_PAIRS)(pairs.do_not_merge)
        # As memoryviews, whose elements are Python's numbers.
        self._whole_part_only = memoryview(pairs.whole_part_only.data)
        self._group_of = memoryview(groups.group_of.data)
        self._groups = groups.groups
        self._grouper = grouper
        self._replaced_parts = replaced_parts
        self._added = added
        self._may_occur = may_occur
        self._shapes = shapes
        self._forms = forms
        self._longest_text = longest_text
        self._step = step
        self._verdict = verdict
        self._numbers: dict[tuple[str, int, bool], int] = {}
        self._new_numbers = count()
        self._new_group_numbers = count(len(groups.groups))
        self._kinds: dict[int, _Kind | None] = {}

    def step(self, state: PretokenizedState, token: int) -> _Found:
        """The state after `token`, or that it is not admitted; None if that is not known here.

        Args:
            state: of a list that a text may begin with, or that `step_aside` gave.
            token: any id.
        """
        if (form := state.form) is None:
            return None if state.opened_after is None else self._step_inside(state, token)
        kind = self._kinds[token] if token in self._kinds else self._find_kind(token)
        if (
            kind is None
            or token in form.tail.completing
            or len(state.text) + len(kind.text) > self._longest_text
        ):
            return None
        if not kind.text:
            return self._open(state, token, form, kind)
        known = form.steps.get(kind.number, _NEW)
        if known is None or known is _NEW:
            return None if known is None else self._learn(state, token, form, kind)
        if known.begins_part or self._do_not_merge(state.tokens.token, token):
            return _made_again(known, state, state.tokens.then(token), kind)
        return None

    def step_aside(self, state: PretokenizedState, token: int) -> PretokenizedState | None:
        """The state after a token that leaves a character unfinished and was refused for that.

        None if it is another token, or if the state is not known here; see `step_if_refused`.
        """
        if not self._may_occur[token]:
            return None
        if state.form is not None:
            kind = self._kinds[token] if token in self._kinds else self._find_kind(token)
            is_known = kind is not None and not kind.text and self._is_short(state)
            return self._opened(state, token, state.form) if is_known else None
        if state.opened_after is None:
            return None
        kind = self._kind_inside(state.unfinished, token)
        is_known = kind is not None and not kind.text
        if is_known and self._do_not_merge(state.tokens.token, token):
            return self._still_open(state, token)
        return None

    def _is_short(self, state: PretokenizedState) -> bool:
        return len(state.text) <= self._longest_text

    def _find_kind(self, token: int) -> _Kind | None:
        """The kind of a token, noted; None if it is not plain."""
        found = None
        if token not in self._added and not self._replaced_parts.may_end_with(token):
            data, number = self._spelled[token], self._group_of[token]
            group, alone = self._groups[number], bool(self._whole_part_only[token])
            try:
                text = data.decode()
            except UnicodeDecodeError:
                if unfinished_suffix(data) == data:
                    found = _Kind(self._number("", number), "", group, alone)
            else:
                if text and self._forms.is_plain(text):
                    found = _Kind(self._number(text, number), text, group, alone)
        self._kinds[token] = found
        return found

    def _number(self, text: str, group: int) -> int:
        """The number of the kind of tokens with this text and this number of their group."""
        key = self._shapes.shape(text), group, text[-1:].isspace()
        return self._numbers.setdefault(key, next(self._new_numbers))

    def _learn(
        self, state: PretokenizedState, token: int, form: Form, kind: _Kind
    ) -> PretokenizedState | None:
        """Make a step in full, and remember it if that is possible."""
        if len(form.steps) >= _CACHED_STEPS:
            form.steps.clear()
        verdict = self._verdict(form.tail, kind.group)
        if verdict not in (FollowVerdict.YES, FollowVerdict.IF_UNMERGED):
            form.steps[kind.number] = None
            return None
        before = state.opened_after or state
        if state.opened_after is not None:
            unmerged = True  # else it was not asked about
        else:
            unmerged = bool(state.tokens) and self._do_not_merge(state.tokens.token, token)
        if verdict is FollowVerdict.IF_UNMERGED and not unmerged:
            return None
        longer = self._step(state, token)
        if longer.tail is None:
            return longer
        cut = len(before.text) + len(kind.text) - len(longer.text)
        begins_part = cut == len(before.text)
        kept = len(longer.ends) - 1 if cut else -1
        # A run in the tail that was cut may have been longer elsewhere, with more tokens in it.
        is_whole = not cut or begins_part or not _MAY_BE_SHORTENED.search(form.tail.shape)
        if is_whole and (begins_part or (unmerged and before.ends)):
            form.steps[kind.number] = _Step(
                kept, begins_part, longer.form, longer.closed_by, longer.tail
            )
        return longer

    # Inside a character.

    def _open(self, state: PretokenizedState, token: int, form: Form, kind: _Kind) -> _Found:
        """The step of a token that begins a character."""
        verdict = self._verdict_on_open(form, kind)
        if verdict is FollowVerdict.ASK_TOKENIZER:
            return None
        if verdict is FollowVerdict.NO or (
            verdict is FollowVerdict.IF_UNMERGED
            and not (state.tokens and self._do_not_merge(state.tokens.token, token))
        ):
            return REFUSED
        return self._opened(state, token, form)

    def _verdict_on_open(self, form: Form, kind: _Kind) -> FollowVerdict:
        """The verdict on a token that leaves a character unfinished after a tail."""
        verdict = form.steps.get(kind.number)
        if not isinstance(verdict, FollowVerdict):
            verdict = form.steps[kind.number] = self._verdict(form.tail, kind.group)
        return verdict

    def _opened(self, state: PretokenizedState, token: int, form: Form) -> PretokenizedState:
        """The state after a token that begins a character."""
        unmerged, is_unmerged = state.unmerged, True
        if state.tokens:
            is_unmerged = self._do_not_merge(state.tokens.token, token)
            unmerged = (*unmerged, is_unmerged)
        if (tail := form.opened.get(is_unmerged)) is None:
            tail = form.opened[is_unmerged] = replace(
                form.tail,
                unmerged_with_open=is_unmerged,
                completing=self._replaced_parts.completing_alone,
            )
        return PretokenizedState(
            state.tokens.then(token),
            state.text,
            state.ends,
            state.numbers,
            unmerged,
            state.whole_part_only,
            state.replaced,
            tail,
            unfinished=self._spelled[token],
            opened_after=state,
        )

    def _still_open(self, state: PretokenizedState, token: int) -> PretokenizedState:
        """The state after a token that goes on with a character and leaves it unfinished."""
        return state._replace(
            tokens=state.tokens.then(token), unfinished=state.unfinished + self._spelled[token]
        )

    def _step_inside(self, state: PretokenizedState, token: int) -> _Found:
        """`step` inside a character."""
        before, tail = state.opened_after, state.tail
        assert before is not None
        assert before.form is not None
        assert tail is not None
        kind = self._kind_inside(state.unfinished, token)
        if (
            kind is None
            or not tail.unmerged_with_open
            or token in tail.completing
            or len(before.text) + len(kind.text) > self._longest_text
        ):
            return None
        if not self._do_not_merge(state.tokens.token, token):
            return REFUSED
        form = before.form
        if not kind.text:
            verdict = self._verdict_on_open(form, kind)
            if verdict is FollowVerdict.ASK_TOKENIZER:
                return None
            return REFUSED if verdict is FollowVerdict.NO else self._still_open(state, token)
        known = form.steps.get(kind.number, _NEW)
        if known is _NEW:
            return self._learn(state, token, form, kind)
        return None if known is None else _made_again(known, before, state.tokens.then(token), kind)

    @cached_method(_CACHED_CHARACTERS)
    def _kind_inside(self, unfinished: bytes, token: int) -> _Kind | None:
        """The kind of the tokens of a character, up to `token`; None if it is not plain.

        Args:
            unfinished: the bytes of those before `token`.
            token: any id.
        """
        data = self._spelled[token]
        if (
            token in self._added
            or self._replaced_parts.may_end_with(token)
            or not data
            or not is_continuation_byte(data[0])
        ):
            return None
        data = unfinished + data
        try:
            text = data.decode()
        except UnicodeDecodeError:
            if unfinished_suffix(data) != data:
                return None
            text = ""
        if not self._forms.is_plain(text):
            return None
        group = self._grouper.group(data, token, near_apostrophe=False)
        number = self._group_numbers.setdefault(group, next(self._new_group_numbers))
        return _Kind(self._number(text, number), text, group, False)

    @cached_property
    def _group_numbers(self) -> dict[TokenGroup, int]:
        """The number of each group: of those of the vocabulary, and of others that came up."""
        return {group: number for number, group in enumerate(self._groups)}


def _made_again(
    known: _Step, state: PretokenizedState, tokens: Chain, kind: _Kind
) -> PretokenizedState:
    """The state after a step like `known`.

    Args:
        known: the step.
        state: before it.
        tokens: the list after it.
        kind: of the tokens that it adds.
    """
    if known.begins_part:
        return PretokenizedState(
            tokens.since(state.tokens.number),
            kind.text,
            (len(kind.text),),
            (tokens.number,),
            (),
            (kind.whole_part_only,),
            (),
            known.tail,
            closed_by=known.closed_by,
            form=known.form,
        )
    text, ends, numbers = state.text, state.ends, state.numbers
    unmerged, alone, replaced = state.unmerged, state.whole_part_only, state.replaced
    if known.kept >= 0:
        first = len(ends) - known.kept  # of the tokens that are kept
        cut = ends[first - 1]
        tokens = tokens.since(numbers[first - 1])
        text, numbers = text[cut:], numbers[first:]
        ends = tuple([end - cut for end in ends[first:]])
        unmerged, alone = unmerged[first:], alone[first:]
        replaced = tuple([(a - cut, b - cut) for a, b in replaced if a >= cut])
    text += kind.text
    return PretokenizedState(
        tokens,
        text,
        (*ends, len(text)),
        (*numbers, tokens.number),
        (*unmerged, True) if ends else (),
        (*alone, kind.whole_part_only),
        replaced,
        known.tail,
        b"",
        b"",
        known.closed_by,
        False,
        known.form,
    )
