"""Reading with U+2581 for a space, as SentencePiece does, and perhaps with one before the text.

The library takes a U+2581 in a text for a space. So does `normalize`; where that is None, so must
whoever reads a text by this description. To added tokens alone it is no space: where some of these
hold one, or a space, nothing is said of texts that hold one.
"""

from __future__ import annotations

from collections.abc import Callable

from .reading import Reading, State
from .spelling import Spelling, strips_a_space

MARK = "\N{LOWER ONE EIGHTH BLOCK}"
REPLACE = {"type": "Replace", "pattern": {"String": " "}, "content": MARK}

_PREPEND_AND_REPLACE = {
    "type": "Sequence",
    "normalizers": [{"type": "Prepend", "prepend": MARK}, REPLACE],
}
# Gemma's files have this: it finds nothing, spaces having been replaced.
_SPLIT_AT_SPACES = {
    "type": "Split",
    "pattern": {"String": " "},
    "behavior": "MergedWithPrevious",
    "invert": False,
}
_FROM_SPACE_TO_SPACE = r" [^ ]*"


def read_space_marks(state: State, spell: Spelling) -> Reading | None:
    """How a BPE tokenizer reads a text, or None if it does not mark spaces and nothing else.

    Args:
        state: its tokenizer.json.
        spell: what its decoder does to one token.
    """

    def is_text(name: str) -> bool:
        return " " not in name and spell(name) == name.replace(MARK, " ").encode()

    reading = _reading(state["normalizer"], state["pre_tokenizer"], is_text)
    if reading is None or reading.dummy_prefix != strips_a_space(state["decoder"]):
        return None
    added = {token["content"] for token in state["added_tokens"]}
    # A space that is no token of the model is unknown, or becomes the three bytes of the mark.
    marks = spell(MARK) == b" " and MARK in state["model"]["vocab"].keys() - added
    return reading if marks and _is_plain(state["model"], state["decoder"]) else None


def _reading(
    normalizer: State | None, split: State | None, is_text: Callable[[str], bool]
) -> Reading | None:
    if normalizer == REPLACE and split in (None, _SPLIT_AT_SPACES):
        return Reading("characters", is_text)
    if normalizer == _PREPEND_AND_REPLACE and split is None:
        return Reading("characters", is_text, dummy_prefix=True)
    match normalizer, split:
        case None, {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, **rest}:
            patterns = (_FROM_SPACE_TO_SPACE,) if rest["split"] else ()
            if scheme == "never":
                return Reading("characters", is_text, pretokenizer=patterns)
            # `first` prepends at the beginning of the text alone, `always` behind added tokens
            # too: these being special where there is a prefix, it makes no difference.
            return Reading(
                "characters", is_text, "metaspace", _without_own_space, patterns, dummy_prefix=True
            )
    return None


def _without_own_space(text: str) -> str:
    """A text that begins with a space is given no other one: its own stands for the prefix."""
    return text.replace(MARK, " ").removeprefix(" ")


def _is_plain(model: State, decoder: State) -> bool:
    names = model["vocab"]
    if model["ignore_merges"]:
        return False
    # Without either, unknown characters are lost.
    if model["unk_token"] not in names and not (model["byte_fallback"] and "<0x00>" in names):
        return False
    # Metaspace leaves bytes as they are named, and takes every space out of the first token.
    return decoder["type"] != "Metaspace" or not (
        model["byte_fallback"]
        or (strips_a_space(decoder) and any(MARK in name[1:] for name in names))
    )
