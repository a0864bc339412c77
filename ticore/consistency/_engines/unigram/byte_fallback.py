"""Characters that are not pieces, and come as the tokens of their bytes."""

from __future__ import annotations

from ...._support.caches import cached_method
from ...._support.utf8 import unfinished_suffix
from ....interfaces import TokenizerStructure
from ..._modes import Mode
from ..._tokenizer_rules.characters import completions
from .reading import Reading
from .viterbi import Viterbi

# Of this many characters that complete some bytes, the first ones, some join no character before
# them in any normalizer.
_ENOUGH = 256
# SentencePiece reads this character as a space, and writes a space for it.
_SPACE_SIGN = "\N{LOWER ONE EIGHTH BLOCK}"


class ByteFallback:
    """The tokens of bytes. Thread-safe.

    Args:
        structure: whose tokens they are.
        reading: of the same structure.
        viterbi: knows the pieces.
        mode: see `ticore.consistency._modes`.
        ends: all characters that some piece ends with; where a space is put after each text, also
            those before a space at the end of a piece.

    Attributes:
        bytes: what each token of a byte spells.
    """

    def __init__(
        self,
        structure: TokenizerStructure,
        reading: Reading,
        viterbi: Viterbi,
        mode: Mode,
        ends: frozenset[str],
    ) -> None:
        byte_ids = enumerate(structure.byte_ids)
        self.bytes = {token: bytes([value]) for value, token in byte_ids if token >= 0}
        self._lost = frozenset(range(256)).difference(b"".join(self.bytes.values()))
        self._reading = reading
        self._viterbi = viterbi
        self._mode = mode
        self._ends = ends

    def spells(self, character: str) -> bool:
        """Whether the tokens of its bytes stand for `character` inside a text."""
        return (
            character != _SPACE_SIGN
            and not self._viterbi.knows(character)
            and self._lost.isdisjoint(character.encode())
            and self._reading.keeps(character)
        )

    def always_open(self) -> list[int]:
        """Ids of bytes that may follow every whole character, but not begin a text."""
        return self._open_kinds(b"")[0]

    def sometimes_open(self, unfinished: bytes) -> list[int]:
        """Ids of bytes that may follow `unfinished` after some texts, and not after all."""
        return self._open_kinds(unfinished)[1]

    @cached_method(1024)
    def _open_kinds(self, unfinished: bytes) -> tuple[list[int], list[int]]:
        """Ids of bytes that always may follow, and of those that may after some texts."""
        always, sometimes = [], []
        for token, byte in self.bytes.items():
            data = unfinished + byte
            if unfinished_suffix(data) == data:
                characters = () if self._mode == "prefix" else self.completions(data)
            else:
                try:
                    characters = (data.decode(),)
                except UnicodeDecodeError:
                    continue
            possible = [character for character in characters if self.spells(character)]
            if not unfinished and any(map(self._is_free, possible)):
                always.append(token)
            elif possible:
                sometimes.append(token)
        return always, sometimes

    def _is_free(self, character: str) -> bool:
        """Whether a character that is not a piece may follow every text, and end it."""
        return (
            character not in self._ends
            and not self._reading.may_be_joined(character)
            and self._reading.may_end(character)
        )

    @cached_method(1024)
    def completions(self, unfinished: bytes) -> tuple[str, ...]:
        """Characters that begin with `unfinished`, as many of them as need to be tried.

        1. A character that is a piece is spelled by the piece, and not by bytes: it is left out.
        2. A character that the normalizer changes does not come back: it is left out.
        3. If no piece ends with a character, the best segmentation of any text that ends with it
           ends with this character alone. So the character completes the list, unless the
           normalizer changes it together with the character before. Of `_ENOUGH` such characters
           some are never changed in this way, and more need not be tried; without a normalizer, one
           is enough. They come first.
        """
        enough = 1 if self._reading.is_plain else _ENOUGH
        found, free = [], 0
        for character in completions(unfinished):
            if self.spells(character):
                found.append(character)
                free += character not in self._ends
                if free == enough:
                    break
        return tuple(sorted(found, key=self._ends.__contains__))
