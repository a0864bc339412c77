"""The container: metadata, and where each tensor lies. Nothing in a file is believed unchecked.

The package `gguf` has a reader too. It takes counts and lengths as they are, so that a hostile file
fills the memory, and it takes 18 s for a vocabulary of 262,144 tokens that is read here in 0.3 s.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

from ...._support.installing import missing_extra
from ....errors import ModelFilesError
from .._files import MOST_OF_TOKENIZER, require_regular

try:
    from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType, GGUFValueType
except ModuleNotFoundError as error:
    raise missing_extra(error.name or "gguf", "gguf", "a GGUF file") from error

MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_ALIGNMENT = 32  # where the metadata do not state another one
_MOST_ALIGNMENT = 1 << 20
# Far above today's largest: a vocabulary has 262,144 tokens, or 200,000 and 450,000 merges.
_MOST_KEYS, _MOST_TENSORS, _MOST_STRINGS = 1 << 16, 1 << 17, 1 << 22
_MOST_OF_NAME = 1 << 10  # bytes
_MOST_DIMENSIONS = 4
_COUNT = struct.Struct("<Q")

_T = TypeVar("_T")

_NUMBERS: dict[int, str] = {
    GGUFValueType.UINT8: "<u1",
    GGUFValueType.INT8: "<i1",
    GGUFValueType.UINT16: "<u2",
    GGUFValueType.INT16: "<i2",
    GGUFValueType.UINT32: "<u4",
    GGUFValueType.INT32: "<i4",
    GGUFValueType.FLOAT32: "<f4",
    GGUFValueType.BOOL: "?",
    GGUFValueType.UINT64: "<u8",
    GGUFValueType.INT64: "<i8",
    GGUFValueType.FLOAT64: "<f8",
}


@dataclass(frozen=True, eq=False)
class PackedTensor:
    """A tensor as it lies in a GGUF file.

    Attributes:
        kind: how its numbers are packed.
        shape: its sizes, outermost first; the file has them innermost first.
        data: uint8[rows, bytes per row]; a read-only view of the file.
    """

    kind: GGMLQuantizationType
    shape: tuple[int, ...]
    data: npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Container:
    """All of a GGUF file.

    Attributes:
        metadata: str, int, float, bool, a list of str, or an array of numbers, by name.
        tensors: by name.
    """

    metadata: Mapping[str, object]
    tensors: Mapping[str, PackedTensor]


_HELD: WeakValueDictionary[tuple[int, ...], Container] = WeakValueDictionary()


def read_container(path: Path) -> Container:
    """The content of the GGUF file at `path`. Its tensors are mapped, not read.

    While somebody holds it, the same file is not read again: a model and its tokenizer are opened
    one after the other, and a vocabulary takes half a second.

    Raises:
        ModelFilesError: it cannot be read, or is not a complete GGUF file of version 2 or 3.
    """
    try:
        require_regular(path)
        status = path.stat()
        key = (status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size)
        if (held := _HELD.get(key)) is not None:
            return held
        data = np.memmap(path, np.uint8, "r") if status.st_size else np.empty(0, np.uint8)
    except OSError as error:
        raise ModelFilesError(
            f"{path}: expected a GGUF file, found no readable file ({error.strerror}); "
            f"check the path"
        ) from error
    try:
        found = _HELD[key] = _read(np.asarray(data))
    except _DamagedError as problem:
        raise ModelFilesError(
            f"{path}: expected a complete GGUF file, found {problem}; fetch the file again"
        ) from None
    return found


class _DamagedError(Exception):
    """What is wrong with a file, as the end of "found ..."."""


def _read(data: npt.NDArray[np.uint8]) -> Container:
    cursor = _Cursor(data)
    if cursor.take(len(MAGIC)) != MAGIC:
        raise _DamagedError("something else")
    version = cursor.integer("<u4")
    if version not in _VERSIONS:
        raise _DamagedError(f"version {version}, where 2 and 3 are read")
    tensors = cursor.count(_MOST_TENSORS, "tensors")
    keys = cursor.count(_MOST_KEYS, "metadata")
    metadata = _unique(cursor, keys, _value, "metadata")
    entries = _unique(cursor, tensors, _entry, "tensors")
    alignment = metadata.get("general.alignment", _ALIGNMENT)
    if type(alignment) is not int or not 0 < alignment <= _MOST_ALIGNMENT:
        raise _DamagedError(f"an alignment of {alignment!r}")
    start = -(-cursor.at // alignment) * alignment
    return Container(metadata, dict(_placed(data[start:], entries)))


class _Cursor:
    """Reads a file from its beginning. What it reads in all is bounded."""

    def __init__(self, data: npt.NDArray[np.uint8]) -> None:
        self._data = data[:MOST_OF_TOKENIZER].data  # a memoryview, which is cut faster
        self._strings_left = _MOST_STRINGS
        self.at = 0

    def take(self, size: int) -> bytes:
        """The next `size` bytes."""
        end = self.at + size
        if end > len(self._data):
            if len(self._data) == MOST_OF_TOKENIZER:
                raise _DamagedError(f"metadata of more than {MOST_OF_TOKENIZER >> 20} MB")
            raise _DamagedError("one that ends too early")
        found = self._data[self.at : end].tobytes()
        self.at = end
        return found

    def integer(self, kind: str) -> int:
        """The next number of a NumPy type."""
        return int(self.numbers(kind, 1)[0])

    def numbers(self, kind: str, count: int) -> npt.NDArray[np.generic]:
        """The next numbers of a NumPy type."""
        return np.frombuffer(self.take(count * np.dtype(kind).itemsize), kind)

    def count(self, most: int, things: str) -> int:
        """How many things follow, at most `most`."""
        (found,) = _COUNT.unpack(self.take(_COUNT.size))
        if found > most:
            raise _DamagedError(f"{found:,} {things}, where at most {most:,} are read")
        return int(found)

    def texts(self, count: int) -> list[str]:
        """The next strings."""
        # A string takes more memory than in the file, so those of all arrays are counted.
        self._strings_left -= count
        if self._strings_left < 0:
            raise _DamagedError(f"arrays of more than {_MOST_STRINGS:,} strings")
        return [self.text() for _ in range(count)]

    def text(self) -> str:
        """The next string."""
        (size,) = _COUNT.unpack(self.take(_COUNT.size))
        try:
            return self.take(size).decode()
        except UnicodeDecodeError:
            raise _DamagedError("a string that is not UTF-8") from None


def _unique(
    cursor: _Cursor, count: int, read: Callable[[_Cursor, str], _T], things: str
) -> dict[str, _T]:
    """`count` things by their names."""
    found: dict[str, _T] = {}
    for _ in range(count):
        name = cursor.text()
        if len(name) > _MOST_OF_NAME:
            raise _DamagedError(f"{things} with a name of {len(name):,} characters")
        if name in found:
            raise _DamagedError(f"{things} with the name {name!r} twice")
        found[name] = read(cursor, name)
    return found


def _value(cursor: _Cursor, name: str) -> object:
    kind = cursor.integer("<u4")
    if kind == GGUFValueType.ARRAY:
        return _array(cursor, name)
    if kind == GGUFValueType.STRING:
        return cursor.text()
    if kind not in _NUMBERS:
        raise _DamagedError(f"{name!r} of the unknown type {kind}")
    number = cursor.numbers(_NUMBERS[kind], 1)[0]
    # The shortest decimal fraction that gives this float32: 1e-05, as in config.json, where the
    # nearest float64 is 9.999999747378752e-06.
    return float(str(number)) if kind == GGUFValueType.FLOAT32 else number.item()


def _array(cursor: _Cursor, name: str) -> object:
    kind = cursor.integer("<u4")
    count = cursor.count(MOST_OF_TOKENIZER, f"items of {name!r}")
    if kind == GGUFValueType.STRING:
        return cursor.texts(count)
    if kind not in _NUMBERS:
        raise _DamagedError(f"{name!r} with items of type {kind}, which are not read")
    return cursor.numbers(_NUMBERS[kind], count)


@dataclass(frozen=True)
class _Entry:
    """A tensor as the table of tensors has it."""

    kind: GGMLQuantizationType
    shape: tuple[int, ...]
    offset: int
    row: int  # bytes
    rows: int


def _entry(cursor: _Cursor, name: str) -> _Entry:
    dimensions = cursor.integer("<u4")
    if not 0 < dimensions <= _MOST_DIMENSIONS:
        raise _DamagedError(f"{name!r} of {dimensions} dimensions")
    sizes = cursor.numbers("<u8", dimensions).tolist()
    number, offset = cursor.integer("<u4"), cursor.integer("<u8")
    try:
        kind = GGMLQuantizationType(number)
    except ValueError:
        raise _DamagedError(
            f"{name!r} of type {number}, which the installed package gguf does not know"
        ) from None
    block, size = GGML_QUANT_SIZES[kind]
    if not all(sizes) or sizes[0] % block:
        raise _DamagedError(f"{name!r} of sizes {sizes}, in blocks of {block}")
    row = sizes[0] // block * size
    return _Entry(kind, tuple(reversed(sizes)), offset, row, math.prod(sizes[1:]))


def _placed(
    data: npt.NDArray[np.uint8], entries: Mapping[str, _Entry]
) -> Iterator[tuple[str, PackedTensor]]:
    """The tensors of a file that ends with `data`.

    They must not overlap: a small file could state any number of large ones.
    """
    free = 0
    for name, entry in sorted(entries.items(), key=lambda item: item[1].offset):
        end = entry.offset + entry.row * entry.rows
        if entry.offset < free:
            raise _DamagedError(f"{name!r} in the place of another tensor")
        if end > len(data):
            raise _DamagedError(f"one that ends before the tensor {name!r} does")
        part = data[entry.offset : end].reshape(entry.rows, entry.row)
        yield name, PackedTensor(entry.kind, entry.shape, part)
        free = end
