"""What every tokenizer adapter keeps, as functions that assert it for one tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING, fields
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from ticore.errors import ModelFilesError
from ticore.interfaces import Tokenizer, TokenizerStructure

from .tokenizers import FRAGMENTS

# Characters that some tokenizer treats in a way of its own.
_ODDITIES = (
    " ",
    "  ",
    "\n",
    "\r\n",
    "\t",
    "\x00",
    "\u2581",
    "\u3000",
    "\ufffd",
    "\ufeff",
    "'s",
    "<s>",
)

texts = st.text() | st.lists(
    st.sampled_from(_ODDITIES)
    | st.sampled_from([word for fragment in FRAGMENTS for word in fragment.split()])
    | st.characters(exclude_categories=["Cs"]),
    max_size=12,
).map("".join)

# Numbers that `any_ids` folds into a vocabulary; the low ones reach the special and byte pieces.
numbers = st.lists(st.integers(0, 300) | st.integers(0, 2**20), max_size=12)


def any_ids(tokenizer: Tokenizer, draws: Sequence[int]) -> list[int]:
    """Arbitrary ids of `tokenizer`, most of them no list that `encode` would give."""
    return [number % tokenizer.vocab_size for number in draws]


def joined_bytes(tokenizer: Tokenizer, ids: Sequence[int]) -> bytes:
    """The bytes of all tokens, one after the other."""
    return b"".join(tokenizer.token_bytes(i) for i in ids)


def check_decode_is_bytes(tokenizer: Tokenizer, ids: Sequence[int], *, squeezes: bool) -> None:
    """`decode` writes the tokens' bytes, but for leading space: one, or all if it `squeezes`."""
    joined, text = joined_bytes(tokenizer, ids), tokenizer.decode(ids)
    try:
        joined.decode()
    except UnicodeDecodeError:
        assert "\ufffd" in text
        return
    if squeezes:
        assert text.encode().lstrip(b" ") == joined.lstrip(b" ")
    else:
        assert text.encode() in (joined, joined.removeprefix(b" "))


def check_batch_is_map(tokenizer: Tokenizer, batch: Sequence[str]) -> None:
    """`encode_batch` gives what `encode` gives."""
    assert tokenizer.encode_batch(batch) == [tokenizer.encode(text) for text in batch]


def check_silent(tokenizer: Tokenizer, ids: Sequence[int]) -> None:
    """Ids without bytes can be taken out anywhere: the text stays the same."""
    spoken = [i for i in ids if tokenizer.token_bytes(i)]
    assert tokenizer.decode(ids) == tokenizer.decode(spoken)


def check_ids_in_range(tokenizer: Tokenizer) -> None:
    """Every special id is an id, and every id without bytes is special."""
    every = range(tokenizer.vocab_size)
    assert tokenizer.special_ids <= set(every)
    assert {i for i in every if not tokenizer.token_bytes(i)} <= tokenizer.special_ids


def traits(structure: TokenizerStructure | None) -> dict[str, object]:
    """What a structure says besides arrays and functions, where it is no default."""
    assert structure is not None
    tables = ("pieces", "merges", "ranks", "scores", "byte_ids", "normalize")
    said = {f.name: (getattr(structure, f.name), f) for f in fields(structure)}
    return {
        name: value
        for name, (value, f) in said.items()
        if name not in tables and (f.default is MISSING or value != f.default) and value != {}
    }


def check_structure(tokenizer: Tokenizer) -> None:
    """A structure's tables go with one another and with the tokens' bytes."""
    structure, size = tokenizer.structure(), tokenizer.vocab_size
    assert structure is not None
    assert structure is tokenizer.structure()
    spelled = [tokenizer.token_bytes(i) for i in range(size)]
    pieces = set(np.flatnonzero(structure.pieces).tolist())
    added = structure.added_tokens

    assert structure.pieces.shape == (size,)
    assert len({spelled[i] for i in pieces}) == len(pieces)
    assert pieces.isdisjoint({*tokenizer.special_ids, *added.values(), *structure.byte_ids})
    assert [spelled[i] for i in structure.byte_ids] in ([], [bytes([b]) for b in range(256)])
    assert all(i in tokenizer.special_ids or spelled[i] == t.encode() for t, i in added.items())
    if structure.atoms == "bytes":
        assert {bytes([byte]) for byte in range(256)} <= {spelled[i] for i in pieces}

    tables = [structure.merges, structure.ranks, structure.scores]
    assert sum(table is not None for table in tables) == 1
    if structure.merges is not None:
        assert structure.merges.dtype == np.int32
        assert pieces | set(added.values()) >= set(structure.merges.ravel().tolist())
        assert all(spelled[a] + spelled[b] == spelled[c] for a, b, c in structure.merges.tolist())
    for table, dtype in ((structure.ranks, np.int32), (structure.scores, np.float32)):
        assert table is None or (table.shape, table.dtype) == ((size,), dtype)


class Failing:
    """In the place of a library: it fails at whatever it is asked."""

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def encode(self, *_: object, **__: object) -> Any:
        raise self._error

    encode_batch_fast = encode_ordinary = encode_ordinary_batch = encode


class Panic(BaseException):
    """As libraries in Rust raise it: no Exception."""


def check_failures(tokenizer: Any) -> None:
    """What the library of a tokenizer fails with is an error of ours, and interrupts pass.

    Args:
        tokenizer: of no further use afterwards.
    """
    long = ["some text"] * 10_000  # for which some use threads
    for error, expected in (
        (Panic("index out of bounds"), ModelFilesError),
        (RuntimeError("Missing [UNK]"), ModelFilesError),
        (KeyboardInterrupt(), KeyboardInterrupt),
        (MemoryError(), MemoryError),
    ):
        tokenizer._library = Failing(error)
        for call, text in ((tokenizer.encode, "some text"), (tokenizer.encode_batch, long)):
            with pytest.raises(expected) as caught:
                call(text)
            assert str(error) in str(caught.value)
