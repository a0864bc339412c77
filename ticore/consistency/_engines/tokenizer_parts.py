"""What engines read of a tokenizer: its structure, and the bytes of its ids."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from weakref import WeakKeyDictionary

from ...interfaces import Tokenizer, TokenizerStructure
from .._unsupported import Unsupported


def structure_of(tokenizer: Tokenizer) -> TokenizerStructure:
    """The structure of a tokenizer.

    Raises:
        Unsupported: it has none, for the reason that it gives.
    """
    structure = tokenizer.structure()
    if structure is None:
        reason = getattr(tokenizer, "no_structure_reason", "")
        raise Unsupported(reason or "the tokenizer's structure is not known")
    return structure


# As tuples: the garbage collector looks at a tuple of bytes once, and at a list each time.
_SPELLED: WeakKeyDictionary[Tokenizer, tuple[bytes, ...]] = WeakKeyDictionary()


def spelled_by(tokenizer: Tokenizer) -> tuple[bytes, ...]:
    """The bytes of every id, of which all that is made for one tokenizer shares one tuple."""
    with suppress(TypeError):  # it cannot be hashed, or not be referred to weakly
        found = _SPELLED.get(tokenizer)
        if found is None or len(found) != tokenizer.vocab_size:
            found = _SPELLED[tokenizer] = _spelled_by(tokenizer)
        return found
    return _spelled_by(tokenizer)


def spell_each(tokenizer: Tokenizer, ids: Iterable[int]) -> list[bytes]:
    """The bytes of some ids, which need not be those of every id."""
    spelled = _held_by(tokenizer)
    return list(map(tokenizer.token_bytes if spelled is None else spelled.__getitem__, ids))


def _held_by(tokenizer: Tokenizer) -> tuple[bytes, ...] | None:
    """The bytes of every id if the tokenizer holds them, as `LibraryTokenizer` does.

    Asking for the attribute takes a hundredth of what isinstance with a protocol does.
    """
    return getattr(tokenizer, "spelled", None)


def _spelled_by(tokenizer: Tokenizer) -> tuple[bytes, ...]:
    spelled = _held_by(tokenizer)
    if spelled is not None:
        return spelled
    return tuple(map(tokenizer.token_bytes, range(tokenizer.vocab_size)))
