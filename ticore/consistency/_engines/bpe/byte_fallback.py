"""Characters that are no pieces, and come as the tokens of their bytes.

Bytes never merge. So a byte may follow iff some such character begins with the bytes before it and
this byte. Let "€" be no piece and "₭" be one. They share two bytes. After these the last byte of
"€" may follow, and that of "₭" may not.

Some characters that are no piece merge all the same (`loose_characters`). The bytes of such one may
follow iff it does not merge with the last token, and what follows must not merge with it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np

from ...._support.caches import BoundedCache, cached_method
from ...._support.token_heads import heads_of
from ...._support.utf8 import character_length, unfinished_suffix
from ....interfaces import TokenizerStructure
from ..._modes import Mode
from ..._tokenizer_rules.characters import completions
from ..._tokenizer_rules.normalizers import Normalization
from ..._unsupported import Unsupported
from .token_pairs import TokenPairs

_CACHED = 4096
# By the first byte of a character, how many bytes it has.
_LENGTH_AFTER = np.array(
    [1 if lead < 0xC0 else character_length(lead) for lead in range(256)], dtype=np.int64
)
_SPACE_SIGN = "\N{LOWER ONE EIGHTH BLOCK}"  # stands for a space inside these tokenizers


class ByteFallback:
    """The tokens of bytes. Thread-safe.

    Args:
        structure: whose tokens they are.
        spelled: the bytes of every id.
        pairs: the pair test, of the ids and then of the loose characters.
        loose: the loose characters, and their numbers in `pairs`.
        normalization: of the tokenizer.
        mode: see `ticore.consistency._modes`.
        may_end: whether a text may end as some characters do.

    Attributes:
        values: by id the byte that a token stands for.
        ids: these ids, in the order of their bytes.
    """

    def __init__(
        self,
        structure: TokenizerStructure,
        spelled: Sequence[bytes],
        pairs: TokenPairs,
        loose: Mapping[str, int],
        *,
        normalization: Normalization,
        mode: Mode,
        may_end: Callable[[str], bool],
    ) -> None:
        byte_ids = enumerate(structure.byte_ids)
        self.values = {token: value for value, token in byte_ids if token >= 0}
        self.ids = list(self.values)
        self._lost_bytes = frozenset(range(256)).difference(self.values.values())
        self._known = _known_characters(structure, spelled)
        self._pairs, self._loose = pairs, loose
        self._normalization, self._mode, self._may_end = normalization, mode, may_end
        self._answers: BoundedCache[tuple[bytes, str, frozenset[str]], list[bool]] = BoundedCache(
            _CACHED
        )

    def spells(self, data: bytes, context: str, last: int) -> bool:
        """Whether `data` are the bytes of a character that is spelled in bytes, or its first bytes.

        Args:
            data: some bytes.
            context: what the normalizer may compose with the character.
            last: the token, or the loose character, before it; -1 if there is none.
        """
        return self._spells(data, context, self._merging_after(last))

    def answers_after(self, unfinished: bytes, context: str, last: int) -> list[bool]:
        """`spells` of `unfinished` with the byte of each of `ids`."""
        key = unfinished, context, self._merging_after(last)
        return self._answers.get(key, lambda: self._find_answers(*key))

    def require_other_completions(self, added: Collection[str]) -> None:
        """Refuse added tokens whose last character alone might finish some first bytes.

        A text may go on after these bytes if they begin a character that is spelled in bytes. It
        must not complete an added token, which depends on the text. For most bytes there is another
        character that is spelled in bytes wherever it stands, so the text does not matter.

        Raises:
            Unsupported: for such added tokens.
        """
        if self._mode == "prefix" or not self.values:
            return
        lasts = {text[-1]: text for text in added if not text[-1].isascii()}
        for last, text in lasts.items():
            if last in self._known:
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

    def _find_answers(self, unfinished: bytes, context: str, merging: frozenset[str]) -> list[bool]:
        """`_spells` of each byte token after some bytes."""
        return [
            self._spells(unfinished + bytes([value]), context, merging)
            if answer is None
            else answer
            for value, answer in zip(
                self.values.values(), self._answers_anywhere(unfinished), strict=True
            )
        ]

    @cached_method(_CACHED)
    def _answers_anywhere(self, unfinished: bytes) -> list[bool | None]:
        """`_spells` of each byte token, where the text before makes no difference."""
        found = (unfinished + bytes([value]) for value in self.values.values())
        return list(map(self._spells_anywhere, found))

    def _spells_anywhere(self, data: bytes) -> bool | None:
        """`_spells` if it is the same after every text; else None.

        The character must join nothing before it, or be one of several, one of which does not.
        """
        if unfinished := unfinished_suffix(data):
            if unfinished != data or self._mode == "prefix":
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
        return self._spells(data, "", frozenset())

    def _merging_after(self, last: int) -> frozenset[str]:
        """The loose characters that merge with the token before them."""
        if not self._loose or last < 0 or not self._pairs.reachable[last]:
            return frozenset()
        unmerged = self._pairs.unmerged_after(last)
        return frozenset(character for character, n in self._loose.items() if not unmerged[n])

    def _spells(self, data: bytes, context: str, merging: frozenset[str]) -> bool:
        """`spells` after a token that merges with the characters `merging`."""
        if unfinished := unfinished_suffix(data):
            is_beginning = unfinished == data and self._mode != "prefix"
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
        return is_spelled and (self._mode == "viable" or self._may_end(character))

    def _first_read(self, context: str, character: str) -> str:
        """The first character that the normalizer makes of one after `context`; or nothing."""
        if self._normalization.keeps(context + character):
            return character
        read = self._normalization.read(context + character)
        return read[len(context) :][:1] if read.startswith(context) else ""

    def _is_spelled_in_bytes(self, character: str, context: str, merging: frozenset[str]) -> bool:
        """Whether this character is spelled in bytes; for the arguments see `_spells`."""
        if character in self._known or character in merging:
            return False
        is_lost = not self._lost_bytes.isdisjoint(character.encode())
        return not is_lost and self._normalization.keeps(context + character)

    def _is_always_spelled_in_bytes(self, character: str) -> bool:
        """Whether this character is spelled in bytes, whatever stands before it."""
        return (
            character not in self._known
            and character not in self._loose
            and not self._normalization.joins(character)
            and self._normalization.keeps(character)
            and self._lost_bytes.isdisjoint(character.encode())
        )


def _known_characters(structure: TokenizerStructure, spelled: Sequence[bytes]) -> frozenset[str]:
    """The characters that are pieces themselves, or added tokens."""
    heads = heads_of(spelled)
    is_single = structure.pieces & (heads.lengths == _LENGTH_AFTER[heads.first])
    single = [spelled[token].decode() for token in np.flatnonzero(is_single).tolist()]
    single += [text for text in structure.added_tokens if len(text) == 1]
    return frozenset({_SPACE_SIGN, *single})
