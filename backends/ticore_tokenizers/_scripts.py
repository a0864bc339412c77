"""The scripts that the pretokenizer UnicodeScripts tells apart.

A part begins where a character is of another script than the last one that had any. Spaces have
none, nor has what the library's Unicode (an old version) does not know. Japanese syllables count as
Chinese characters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import groupby, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import regex
import tokenizers
from tokenizers.pre_tokenizers import UnicodeScripts

from ticore.backend_kit import table_cache
from ticore.interfaces import Split

from ._characters import all_characters

_LATIN, _HAN = "a", "\u4e00"
_UNASSIGNED = regex.compile(r"[\p{Cn}\p{Co}]+")


@cache
def split_at_scripts() -> Split:
    """The split that the library makes.

    It is asked about every character. That takes seconds, so what is found is cached on disk.
    """
    name = f"scripts-{tokenizers.__version__}"
    expression = table_cache.load_unpacked(name, _unpacked)
    if expression is None:
        expression = "|".join(f"[{_ranges(script)}]" for script in _scripts())
        packed = np.frombuffer(expression.encode(), dtype=np.uint8)
        table_cache.save(name, {"expression": packed})
    return Split(expression, "on_change")


def _unpacked(arrays: Mapping[str, npt.NDArray[Any]]) -> str:
    return arrays["expression"].tobytes().decode()


def _scripts() -> list[list[str]]:
    """The characters of each script."""
    written = _with_script()
    # A run is of one script, and one character of each run is compared with one of each script.
    starts = [*_begins(written), len(written)]
    scripts: list[list[str]] = []
    for start, end in pairwise(starts):
        first = written[start]
        changes = set(_begins([c for script in scripts for c in (script[0], first)]))
        same = [n for n in range(len(scripts)) if 2 * n + 1 not in changes]
        if not same:
            scripts.append([])
        scripts[same[0] if same else -1] += written[start:end]
    return scripts


def _with_script() -> list[str]:
    """The characters that have a script.

    One that has none makes no difference after a Latin letter, nor after a Chinese character.
    """
    characters = "".join(all_characters())
    others = "".join(_UNASSIGNED.findall(characters))
    if len(_begins(_LATIN + others)) == len(_begins(_HAN + others)) == 1:  # as a rule
        characters = _UNASSIGNED.sub("", characters)
    begins_after = [
        set(_begins([c for each in characters for c in (letter, each)]))
        for letter in (_LATIN, _HAN)
    ]
    return [c for n, c in enumerate(characters) if any(2 * n + 1 in at for at in begins_after)]


def _begins(characters: Sequence[str]) -> list[int]:
    """Where the library's parts of a text begin."""
    parts = UnicodeScripts().pre_tokenize_str("".join(characters))
    return [start for _, (start, _) in parts]


def _ranges(characters: Iterable[str]) -> str:
    """Some characters, in order, as ranges of a set."""
    in_order = enumerate(sorted(map(ord, characters)))
    found = []
    for _, run in groupby(in_order, lambda each: each[1] - each[0]):
        codes = [code for _, code in run]
        found.append("-".join(f"\\x{{{code:x}}}" for code in dict.fromkeys((codes[0], codes[-1]))))
    return "".join(found)
