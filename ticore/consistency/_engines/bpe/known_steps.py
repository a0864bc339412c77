"""Steps that were made before, remembered without the characters.

In Chinese or Japanese a part of the text goes on up to the next sign. Each token makes it longer,
and to split the text again for each of them takes long. But what a step does depends on the tail
before it and on the shape of the token, and there are few of both. So a step is made once, and
remembered by the two:

    the tail of "今天", then a token of two letters    admitted if it does not merge; no cut
    the tail of "今天", then a token of one sign       admitted; all before the sign is settled

With the next such step nothing is split. Only texts and tokens of which nothing but the shape
matters are *plain*, and only their steps are remembered. All other steps are made in full.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import count
from typing import NamedTuple

import regex

from ...._support.caches import BoundedCache
from ..._tokenizer_rules.added_tokens import AddedTokens
from ..._tokenizer_rules.normalizers import Normalization
from .boundary_effects import FollowVerdict, Tail
from .character_classes import AMBIGUOUS, Shapes
from .pretokenized_state import Form, PretokenizedState, UnsettledList
from .replaced_parts import ReplacedParts
from .token_groups import GroupedVocabulary
from .token_pairs import TokenPairs

_CACHED_FORMS, _CACHED_STEPS = 1 << 11, 1 << 7  # steps of one form
_CACHED_PAIRS = 1 << 16
_NEW = object()
# What `shorten_runs` gives for a run that may have been longer.
_MAY_BE_SHORTENED = regex.compile(r"(.)\1{3}", regex.DOTALL)


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
        self._plain: dict[str, bool] = {}

    def form_of(self, tail: Tail, text: str) -> Form | None:
        """The form of a state between characters; None if it is not plain."""
        if self._shapes.is_near_apostrophe(tail.shape) or not self.is_plain(text):
            return None
        return self._forms.get(tail, lambda: Form(tail))

    def is_plain(self, text: str) -> bool:
        """Whether no character of `text` composes, is ambiguous, or begins an added token."""
        known = self._plain
        for character in text:
            if (found := known.get(character)) is None:
                found = known[character] = self._is_plain(character)
            if not found:
                return False
        return True

    def _is_plain(self, character: str) -> bool:
        return not (
            self._normalization.joins(character)
            or self._added.has_begun(character)
            or self._added.occurs_in(character)
            or AMBIGUOUS in self._shapes.shape(character)
        )


class _Kind(NamedTuple):
    """What matters of a plain token.

    Attributes:
        number: the same for tokens that act alike after every tail.
        text: of the token.
        whole_part_only: see `Tail`.
    """

    number: int
    text: str
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
    closed_by: frozenset[str]
    tail: Tail


class KnownSteps:
    """Makes steps that were made before from equal tails.

    Args:
        spelled: the bytes of every id.
        pairs: the pair test.
        groups: the sorted vocabulary.
        replaced_parts: of the vocabulary.
        added: ids of added tokens.
        shapes, forms: of the tokenizer.
        longest_text: a longer text is folded, and no step to it is remembered.
        step: makes a step in full.
        verdict: the verdict on a token after a tail.
    """

    def __init__(
        self,
        spelled: Sequence[bytes],
        pairs: TokenPairs,
        groups: GroupedVocabulary,
        replaced_parts: ReplacedParts,
        added: frozenset[int],
        shapes: Shapes,
        forms: Forms,
        longest_text: int,
        step: Callable[[PretokenizedState, int], PretokenizedState],
        verdict: Callable[[Tail, int], FollowVerdict],
    ) -> None:
        self._spelled = spelled
        self._do_not_merge = lru_cache(_CACHED_PAIRS)(pairs.do_not_merge)
        self._whole_part_only = pairs.whole_part_only
        self._group_of = groups.group_of
        self._replaced_parts = replaced_parts
        self._added = added
        self._shapes = shapes
        self._forms = forms
        self._longest_text = longest_text
        self._step = step
        self._verdict = verdict
        self._numbers: dict[tuple[str, int, bool], int] = {}
        self._new_numbers = count()
        self._kinds: dict[int, _Kind | None] = {}

    def step(self, state: PretokenizedState, token: int) -> PretokenizedState | None:
        """The state after `token`, if it is admitted; None if that is not known here.

        Args:
            state: one that has a form.
            token: any id.
        """
        form = state.form
        assert form is not None
        kind = self._kinds[token] if token in self._kinds else self._find_kind(token)
        if (
            kind is None
            or token in form.tail.completing
            or len(state.text) + len(kind.text) > self._longest_text
        ):
            return None
        known = form.steps.get(kind.number, _NEW)
        if known is _NEW:
            return self._learn(state, token, form, kind)
        return None if known is None else self._made_again(known, state, token, kind)

    def _made_again(
        self, known: _Step, state: PretokenizedState, token: int, kind: _Kind
    ) -> PretokenizedState | None:
        """The state after a step like `known`; None if the token merges with the last one."""
        tokens = state.tokens.then(token)
        if known.begins_part:
            return PretokenizedState(
                tokens.since(tokens.number - 1),
                kind.text,
                (len(kind.text),),
                (tokens.number,),
                whole_part_only=(kind.whole_part_only,),
                tail=known.tail,
                closed_by=known.closed_by,
                form=known.form,
            )
        if not self._do_not_merge(state.tokens.token, token):
            return None
        text = state.text + kind.text
        longer = UnsettledList(
            tokens,
            text,
            (*state.ends, len(text)),
            (*state.numbers, tokens.number),
            (*state.unmerged, True),
            (*state.whole_part_only, kind.whole_part_only),
            state.replaced,
            b"",
        )
        if known.kept >= 0:
            longer = longer.since(longer.ends[-known.kept - 2])
        return PretokenizedState(
            *longer[:-1], known.tail, closed_by=known.closed_by, form=known.form
        )

    def _find_kind(self, token: int) -> _Kind | None:
        """The kind of a token, noted; None if it is not plain."""
        found = None
        if token not in self._added and not self._replaced_parts.may_end_with(token):
            try:
                text = self._spelled[token].decode()
            except UnicodeDecodeError:
                text = ""
            if text and self._forms.is_plain(text):
                key = self._shapes.shape(text), int(self._group_of[token]), text[-1].isspace()
                number = self._numbers.setdefault(key, next(self._new_numbers))
                found = _Kind(number, text, bool(self._whole_part_only[token]))
        self._kinds[token] = found
        return found

    def _learn(
        self, state: PretokenizedState, token: int, form: Form, kind: _Kind
    ) -> PretokenizedState | None:
        """Make a step in full, and remember it if that is possible."""
        if len(form.steps) >= _CACHED_STEPS:
            form.steps.clear()
        verdict = self._verdict(form.tail, token)
        if verdict not in (FollowVerdict.YES, FollowVerdict.IF_UNMERGED):
            form.steps[kind.number] = None
            return None
        unmerged = bool(state.tokens) and self._do_not_merge(state.tokens.token, token)
        if verdict is FollowVerdict.IF_UNMERGED and not unmerged:
            return None
        longer = self._step(state, token)
        if longer.tail is None:
            return longer
        cut = len(state.text) + len(kind.text) - len(longer.text)
        begins_part = cut == len(state.text)
        kept = len(longer.ends) - 1 if cut else -1
        # A run in the tail that was cut may have been longer elsewhere, with more tokens in it.
        is_whole = not cut or begins_part or not _MAY_BE_SHORTENED.search(form.tail.shape)
        if is_whole and (unmerged or begins_part) and state.ends:
            form.steps[kind.number] = _Step(
                kept, begins_part, longer.form, longer.closed_by, longer.tail
            )
        return longer
