"""What is left alone before a text is segmented: characters, neighbours, beginnings and ends.

Every normalizer here changes a text if and only if it changes a character or two neighbours of it,
or a cluster; see `Clusters`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...._support.caches import cached_method
from ....interfaces import TokenizerStructure
from ..._tokenizer_rules.normalizers import Normalization

# Stands for any neighbour: no normalizer changes it, alone or with another character.
_NEUTRAL = "|"
# Texts that are normalized in one call.
_BATCH = 256


class Reading:
    """How the tokenizer of one structure reads characters. Thread-safe.

    Attributes:
        dummy_prefix: whether a space is put before a text.
        dummy_suffix: whether one is put after it, so that no text ends in another character.
        drops_spaces: whether runs of spaces become one, and those at the ends are dropped.
        is_plain: whether no character is changed, but for spaces that are dropped.
    """

    def __init__(self, structure: TokenizerStructure) -> None:
        self.dummy_prefix = structure.dummy_prefix
        self.dummy_suffix = structure.dummy_suffix
        self.drops_spaces = not structure.keeps_whitespace
        self.is_plain = structure.normalize is None
        self._normalize = structure.normalize
        self._normalization = Normalization(structure)
        self._clusters = self._normalization.clusters

    def all_kept(self, texts: Sequence[str]) -> list[bool]:
        """`keeps` for each of many texts."""
        if self._normalization.idle:
            return [True] * len(texts)
        found: list[bool] = []
        for begin in range(0, len(texts), _BATCH):
            batch = texts[begin : begin + _BATCH]
            # Most pieces are as the normalizer leaves them, so one call tells it of many.
            if self.keeps_together(batch):
                found += [True] * len(batch)
            else:
                found += map(self.keeps, batch)
        return found

    def require_settled(self, text: str) -> None:
        """See `Normalization`."""
        self._normalization.require_settled(text)

    def keeps_together(self, texts: Sequence[str]) -> bool:
        """Whether it is certain, from one call of the normalizer, that it `keeps` all texts."""
        together = _NEUTRAL.join(texts)
        squeezed = self.drops_spaces and "  " in together
        return not squeezed and self.inside(together) == together

    @cached_method(1 << 16)
    def keeps(self, text: str) -> bool:
        """Whether the normalizer leaves a few characters as they are inside a text."""
        return not (self.drops_spaces and "  " in text) and self.inside(text) == text

    def inside(self, text: str) -> str:
        """What the normalizer makes of `text` between characters that it does not change."""
        if self._normalize is None:
            return text
        return self._normalize(f"{_NEUTRAL}{text}{_NEUTRAL}")[1:-1]

    def may_be_joined(self, character: str) -> bool:
        """Whether `character` may be changed together with the one before it."""
        return self._normalization.joins(character)

    def head(self, text: str) -> str:
        """The characters at the beginning of `text` that may be changed with those before it."""
        if self._clusters:
            return self._clusters.head(text)
        return text[:1] if self.may_be_joined(text[0]) else ""

    def context(self, last: str, text: str) -> str:
        """What matters to the characters that follow; see `UnigramState.last`."""
        return self._clusters.context(last + text) if self._clusters else text[-1]

    def may_go_on(self, last: str, text: str) -> bool:
        """Whether `text` may follow `last` in a list that may be read back when it goes on.

        What follows may bring back the last cluster, but none before it.
        """
        if not self._clusters:
            return self.may_follow(last, text[0])
        head = self._clusters.head(text)
        return head == text or self.keeps(last + text[: len(head) + 1])

    def may_follow(self, last: str, character: str) -> bool:
        """Whether `character` may follow `last`, which is empty at the beginning of a text."""
        if last:
            return not self.may_be_joined(character) or self.keeps(last + character)
        if self.dummy_prefix:
            return character == " "
        return self.may_start(character)

    def may_begin_with(self, text: str) -> bool:
        """Whether a text, with its dummy prefix, may begin with `text`, which is kept inside it."""
        if not self.may_follow("", text[0]):
            return False
        return not self.dummy_prefix or len(text) == 1 or self.may_start(text[1])

    @cached_method(1 << 14)
    def may_start(self, character: str) -> bool:
        """Whether a text may begin with `character`, after a dummy prefix if there is one."""
        if character == " " and self.drops_spaces:
            return False
        if self._normalize is None:
            return True
        return self._normalize(character + _NEUTRAL) == character + _NEUTRAL

    @cached_method(1 << 14)
    def may_end(self, character: str) -> bool:
        """Whether a text may end with `character`."""
        if self.dummy_suffix:
            return character == " "
        if character == " " and self.drops_spaces:
            return False
        if self._normalize is None:
            return True
        return self._normalize(_NEUTRAL + character) == _NEUTRAL + character

    def at_end(self, last: str, text: str) -> str:
        """What is read of `text` after the character `last`, where nothing follows; or nothing.

        Args:
            last: is not changed together with the beginning of `text`.
            text: of `CONTINUATIONS`.
        """
        more = self.inside(text)
        if self.drops_spaces:
            starts_word = more.startswith(" ") and last != " "
            more = (" " * starts_word + more.strip(" ")).rstrip(" ")
        if self.dummy_suffix:
            return more + " "
        return more if more and self.may_end(more[-1]) else ""
