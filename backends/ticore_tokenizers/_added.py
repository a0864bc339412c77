"""Added tokens: texts that the library finds in a text before anything else."""

from __future__ import annotations

from collections.abc import Collection

from ticore.backend_kit import NoStructure, may_overlap
from ticore.interfaces import AddedTokenFlags

from ._normalizers import NormalizerRules, TokenizerJson
from ._space_marks import MARK, REPLACE
from ._spelling import Spelling


def find_added(state: TokenizerJson, reading: NormalizerRules, spell: Spelling) -> dict[str, int]:
    """The texts of added tokens and their ids.

    The library makes two passes, each of which takes the leftmost token, and of several there the
    longest. In the text as it is, it finds tokens that are not `normalized`. Then it normalizes
    what is between them, and finds the other tokens there.

    Args:
        state: a tokenizer.json.
        reading: how it reads a text.
        spell: what its decoder writes for one token.

    Raises:
        NoStructure: one pass over the text as it is might find other tokens.
    """
    added: dict[str, int] = {}
    as_it_is, in_normal_form = set[str](), set[str]()
    for token in state["added_tokens"]:
        text, special, normalized = token["content"], token["special"], token["normalized"]
        # A list that holds a special token is read part by part, and so no spaces stand beside it.
        for flag in () if special else ("lstrip", "rstrip"):
            if token[flag]:
                raise NoStructure(f"its added token {text!r} has the flag {flag}")
        # The library puts a dummy prefix after each added token. For a special token that is right:
        # a new part of the text begins there.
        if reading.dummy_prefix and (text.startswith(" ") or not special):
            raise NoStructure(f"a space is put after its added token {text!r}")
        if not _is_spelled(token, state, spell):
            # A token with a mark is found only in texts with a mark, which no structure covers.
            if reading.atoms == "bytes" or MARK not in text or normalized or special:
                raise NoStructure(f"its added token {text!r} is not decoded as its own text")
            continue
        (in_normal_form if normalized else as_it_is).add(text)
        added[text] = token["id"]
    for text in sorted(in_normal_form):
        if not _is_found_alike(text, state["normalizer"]):
            raise NoStructure(
                f"its added token {text!r} is looked for in the normalized text (normalized)"
            )
    if may_overlap(as_it_is, in_normal_form):
        raise NoStructure("its added tokens overlap, of which some are looked for before others")
    return added


def find_flags(state: TokenizerJson, added: Collection[str]) -> dict[str, AddedTokenFlags]:
    """The flags of the added tokens that have any, of those in `added`, by their texts.

    Raises:
        NoStructure: the library fails where one takes the spaces that another one begins with.
    """
    flags = {
        token["content"]: AddedTokenFlags(token["lstrip"], token["rstrip"], token["single_word"])
        for token in state["added_tokens"]
        if token["content"] in added
    }
    taking = next((text for text, its in flags.items() if its.lstrip or its.rstrip), None)
    spaced = next((text for text in added if text != text.strip()), None)
    if taking is not None and spaced is not None:
        raise NoStructure(
            f"its added token {taking!r} takes spaces beside it (lstrip or rstrip), and "
            f"{spaced!r} begins or ends with some"
        )
    return {text: its for text, its in flags.items() if its != AddedTokenFlags()}


def _is_spelled(token: TokenizerJson, state: TokenizerJson, spell: Spelling) -> bool:
    """Whether the decoder writes the text of an added token, or nothing.

    A token of the model with the same name may stand for another text.
    """
    text, silent = token["content"], token["special"] and not token["normalized"]
    return spell(text) == text.encode() or (silent and text not in state["model"]["vocab"])


def _is_found_alike(text: str, normalizer: TokenizerJson | None) -> bool:
    """Whether an added token is found at the same places before and after normalization.

    That need not hold for texts which the normalizer changes, since no list of tokens for such a
    text comes back anyway.
    """
    match normalizer:
        case None | {"type": "Sequence", "normalizers": []}:
            return True
        case {"type": "NFC"}:
            # No ASCII character composes with what stands before it. Letters compose with a mark
            # after them, and so do the three signs.
            return text.isascii() and not (text[-1].isalpha() or text[-1] in "<=>")
    return normalizer == REPLACE
