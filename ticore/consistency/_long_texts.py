"""Long texts are encoded in stretches.

Libraries take longer for each token of a long text than of a short one, up to half as much again.
Where it is certain that a text can be cut, its stretches are encoded one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator

import regex

from ..interfaces import Tokenizer
from ._tokenizer_rules.pretokenizers import KNOWN

_STRETCH = 1000  # characters at least
_LONG = 4 * _STRETCH
# Between a letter and a space before another letter, and between a Chinese character and a comma or
# full stop, each known expression splits a text. What stands on the other side does not matter to
# it: none looks back, and none looks ahead but at the end of white space.
_CUT = regex.compile(r"(?<=[a-z])(?= [a-z])|(?<=[\u4e00-\u9fa5])(?=[，。])")


def encode_long(tokenizer: Tokenizer, text: str) -> list[int]:
    """`tokenizer.encode(text)`, in stretches where that gives the same ids."""
    if len(text) < _LONG or not _may_be_cut(tokenizer):
        return tokenizer.encode(text)
    return [token for stretch in _stretches(text) for token in tokenizer.encode(stretch)]


def _may_be_cut(tokenizer: Tokenizer) -> bool:
    """Whether a text can be cut at `_CUT`: no merge, normalizer or added token reaches across."""
    structure = tokenizer.structure()
    return (
        structure is not None
        and structure.kind == "bpe"
        and len(structure.pretokenizer) == 1
        and structure.pretokenizer[0] in KNOWN
        and structure.normalizer in ("identity", "nfc")
        and structure.keeps_whitespace
        and not structure.dummy_prefix
        and not structure.added_flags
        # The letter after a space may be the one after an added token.
        and not any(_CUT.search(text + "a") for text in structure.added_tokens)
    )


def _stretches(text: str) -> Iterator[str]:
    start = 0
    while cut := _CUT.search(text, start + _STRETCH):
        yield text[start : cut.start()]
        start = cut.start()
    yield text[start:]
