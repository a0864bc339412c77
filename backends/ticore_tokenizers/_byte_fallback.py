"""The tokens of bytes, which spell the characters that are no tokens of a model."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ticore.backend_kit import NoStructure

from ._normalizers import TokenizerJson

_NONE = -1


def byte_fallback_ids(model: TokenizerJson, ids: Mapping[str, int]) -> tuple[int, ...]:
    """The field `byte_ids` of a TokenizerStructure.

    The library spells a character in bytes only if each of its bytes has a token. Gemini's model
    has none for the tab, which is a token itself.

    Args:
        model: the field of that name in a tokenizer.json.
        ids: of its tokens, by their names.
    """
    if not model["byte_fallback"]:
        return ()
    found = tuple(ids.get(f"<0x{byte:02X}>", _NONE) for byte in range(256))
    return () if set(found) == {_NONE} else found


def require_ordinary_bytes(byte_ids: Sequence[int], special: Collection[int | None]) -> None:
    """Refuse special tokens that are the tokens of bytes: given for bytes, but never kept.

    Args:
        byte_ids: as `byte_fallback_ids` gives them.
        special: ids of added tokens, and of the unknown one.

    Raises:
        NoStructure: there is one.
    """
    for byte, token in enumerate(byte_ids):
        if token in special:
            raise NoStructure(
                f"its token of a byte '<0x{byte:02X}>' is an added token or the unknown one"
            )
