"""tiktoken's files of ranks as ticore tokenizers: `tiktoken:FILE#PATTERN`."""

from __future__ import annotations

from ticore.errors import SettingsError
from ticore.interfaces import TokenizerBackend

from .patterns import PATTERNS
from .tokenizer import TiktokenTokenizer

__all__ = ["BACKEND", "PATTERNS", "TiktokenTokenizer"]


class _Backend:
    summary = f"tiktoken's ranks, as FILE#PATTERN with one of {', '.join(PATTERNS)}"

    def load(self, location: str) -> TiktokenTokenizer:
        file, separator, pattern = location.rpartition("#")
        if not separator:
            raise SettingsError(
                f"{location}: expected FILE#PATTERN, found no pattern: the file does not say how "
                f"text is split; add # and one of {', '.join(PATTERNS)}"
            )
        return TiktokenTokenizer.from_file(file, pattern)


BACKEND: TokenizerBackend = _Backend()
