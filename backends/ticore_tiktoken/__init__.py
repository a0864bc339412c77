"""tiktoken's files of ranks as ticore tokenizers: `tiktoken:FILE#PATTERN`.

A tekken.json of Mistral states its pattern itself: `tiktoken:FILE.json`.

`ticore.wrap` takes an Encoding that is in memory.
"""

from __future__ import annotations

from tiktoken import Encoding

from ticore.errors import SettingsError
from ticore.interfaces import AdoptingBackend

from ._patterns import PATTERNS
from ._tokenizer import TiktokenTokenizer

__all__ = ["BACKEND", "PATTERNS", "TiktokenTokenizer"]


class _Backend:
    summary = (
        f"tiktoken's ranks, as FILE#PATTERN with one of {', '.join(PATTERNS)}; or a tekken.json"
    )

    def load(self, location: str) -> TiktokenTokenizer:
        file, separator, pattern = location.rpartition("#")
        if location.endswith(".json"):
            return TiktokenTokenizer.from_tekken(location)
        if not separator:
            raise SettingsError(
                f"{location}: expected FILE#PATTERN, found no pattern: the file does not say how "
                f"text is split; add # and one of {', '.join(PATTERNS)}"
            )
        return TiktokenTokenizer.from_file(file, pattern)

    def adopt(self, found: object) -> TiktokenTokenizer | None:
        """The tokenizer of a `tiktoken.Encoding`; None for any other object."""
        return TiktokenTokenizer.from_encoding(found) if isinstance(found, Encoding) else None


BACKEND: AdoptingBackend = _Backend()
