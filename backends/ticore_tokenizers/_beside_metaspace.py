"""Pretokenizers that mark spaces: the step Metaspace, and what splits a text before and after it.

`[Metaspace, Digits]` splits "ab 1" into "▁ab", "▁" and "1". A split before Metaspace makes parts of
the text, of which each may get a mark of its own; then the text that is decoded is another one.
"""

from __future__ import annotations

from typing import NamedTuple

from ticore.backend_kit import NoStructure
from ticore.interfaces import Split

from ._normalizers import TokenizerJson
from ._pretokenizers import flat_steps, read_splits


class BesideMetaspace(NamedTuple):
    """The steps of a pretokenizer that has Metaspace.

    Attributes:
        metaspace: this step; the whole pretokenizer where there is none, or several.
        by_words: whether a WhitespaceSplit comes first. It drops all white space.
        before, after: the splits before and after Metaspace.
    """

    metaspace: TokenizerJson | None
    by_words: bool = False
    before: tuple[Split, ...] = ()
    after: tuple[Split, ...] = ()

    def around(self, words: tuple[str, ...]) -> tuple[str | Split, ...]:
        """All splits, where Metaspace makes those of `words`."""
        return (*self.before, *words, *self.after)


def read_beside_metaspace(pretokenizer: TokenizerJson | None) -> BesideMetaspace:
    """What stands beside the step Metaspace.

    Raises:
        NoStructure: it does anything but split at what is known here; or a part of a text would
            get a space that the text does not have.
    """
    steps = flat_steps(pretokenizer)
    kinds = [step["type"] for step in steps]
    if kinds.count("Metaspace") != 1:
        return BesideMetaspace(pretokenizer)
    at = kinds.index("Metaspace")
    scheme = steps[at]["prepend_scheme"]
    by_words = kinds[:at] == ["WhitespaceSplit"]
    if by_words and scheme != "always":
        raise NoStructure(
            f"its pretokenizer drops the spaces between words (prepend_scheme {scheme!r})"
        )
    if at and not by_words and scheme != "never":
        raise NoStructure(
            f"its pretokenizer splits texts ({', '.join(kinds[:at])}) before Metaspace puts a "
            f"space before them (prepend_scheme {scheme!r}); put Metaspace first"
        )
    before = () if by_words else read_splits(steps[:at], marked=False)
    return BesideMetaspace(steps[at], by_words, before, read_splits(steps[at + 1 :], marked=True))
