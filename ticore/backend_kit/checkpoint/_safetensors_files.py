"""The safetensors files of a model, single or sharded, as tensors that are taken by name.

Files are mapped, not read: a tensor costs nothing until its numbers are used, and every name,
type and shape is checked before the first of them is.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PureWindowsPath

import numpy as np
import numpy.typing as npt
import safetensors

from ...errors import ModelFilesError
from ._files import MOST_OF_INDEX, require_regular
from ._json_files import read_object


@dataclass(frozen=True, eq=False)
class StoredTensor:
    """A tensor of a file.

    Attributes:
        code: what safetensors calls the type of the numbers in `data`, such as BF16.
        shape: its sizes, outermost first.
        raw: uint8[...], its bytes in the file; a read-only view.
        unpack: from `raw` to `data`; None if they are the same.
        kind: what its file calls the type of the numbers in `raw`; empty if `code`.
    """

    code: str
    shape: tuple[int, ...]
    raw: npt.NDArray[np.uint8]
    unpack: Callable[[npt.NDArray[np.uint8]], npt.NDArray[np.uint8]] | None = None
    kind: str = ""

    @property
    def data(self) -> npt.NDArray[np.uint8]:
        """uint8[...], the little-endian numbers, row by row; unpacked again each time."""
        return self.raw if self.unpack is None else self.unpack(self.raw)


_HEAD = "lm_head.weight"
_EMBEDDINGS = "model.embed_tokens.weight", "transformer.wte.weight", "wte.weight"


class Tensors:
    """All tensors of a directory with safetensors files; those of another file by `Tensors.of`.

    Args:
        folder: holds model.safetensors, or model.safetensors.index.json with the files it lists.

    Raises:
        ModelFilesError: a file is missing or damaged, or an index names what its files lack.
    """

    def __init__(self, folder: Path) -> None:
        index = folder / "model.safetensors.index.json"
        single = folder / "model.safetensors"
        sharded = index.exists() and not single.exists()
        tensors = _read_shards(index) if sharded else _read_file(single)
        self._hold(folder, tensors, "check that config.json belongs to these weights")

    @classmethod
    def of(cls, where: Path, tensors: Mapping[str, StoredTensor], advice: str) -> Tensors:
        """Tensors that were found elsewhere.

        Args:
            where: what the error texts call them.
            tensors: by name.
            advice: what the error texts say to do about tensors that do not go with the settings.
        """
        found = cls.__new__(cls)
        found._hold(where, tensors, advice)
        return found

    def _hold(self, where: Path, tensors: Mapping[str, StoredTensor], advice: str) -> None:
        self._where = where
        self._tensors = tensors
        self._advice = advice
        self._taken: set[str] = set()

    def __contains__(self, name: object) -> bool:
        return name in self._tensors

    def __len__(self) -> int:
        return len(self._tensors)

    def items(self) -> Iterator[tuple[str, StoredTensor]]:
        """Each name and tensor, for a library that checks names and shapes itself."""
        yield from self._tensors.items()

    @property
    def numbers(self) -> int:
        """How many numbers all of them hold."""
        return sum(math.prod(tensor.shape) for tensor in self._tensors.values())

    @property
    def size(self) -> int:
        """How many bytes all of them take in their files."""
        return sum(tensor.raw.size for tensor in self._tensors.values())

    def take(self, name: str, shape: tuple[int, ...], codes: Collection[str]) -> StoredTensor:
        """The tensor `name`.

        Raises:
            ModelFilesError: there is no tensor of that name and `shape`, or its type is not one of
                `codes`.
        """
        if name not in self._tensors:
            raise ModelFilesError(
                f"{self._where}: expected a tensor {name} of shape {shape}, "
                f"found none of that name; {self._advice}"
            )
        tensor = self._tensors[name]
        if tensor.shape != shape:
            raise ModelFilesError(
                f"{self._where}: expected {name} to have shape {shape}, "
                f"found {tensor.shape}; {self._advice}"
            )
        if tensor.code not in codes:
            raise ModelFilesError(
                f"{self._where}: expected {name} to be one of {', '.join(sorted(codes))}, "
                f"found {tensor.code}; convert the weights to bfloat16"
            )
        self._taken.add(name)
        return tensor

    def refuse_rest(self, harmless: Callable[[str], bool]) -> None:
        """Refuse tensors that were not taken, except those whose name is `harmless`.

        A head that was not taken, since it is tied to the embedding, must be equal to that.

        Raises:
            ModelFilesError: there are such tensors, so they belong to another network.
        """
        if _HEAD not in self._taken:
            self._refuse_another_head()
        rest = [name for name in sorted(self._tensors.keys() - self._taken) if not harmless(name)]
        if rest:
            raise ModelFilesError(
                f"{self._where}: expected no tensors but those that the settings call for, found "
                f"{len(rest)} others, such as {rest[0]}; {self._advice}"
            )

    def _refuse_another_head(self) -> None:
        """Refuse a stored head that is not the embedding, in a network whose head is tied to it.

        transformers ties the two only where they are equal.

        Raises:
            ModelFilesError: the head has other numbers.
        """
        for name in _EMBEDDINGS:
            if name not in self or _HEAD not in self:
                continue
            embedding, head = self._tensors[name], self._tensors[_HEAD]
            if (head.code, head.shape) != (embedding.code, embedding.shape) or not np.array_equal(
                head.raw, embedding.raw
            ):
                raise ModelFilesError(
                    f"{self._where}: expected {_HEAD} to equal {name}, as tie_word_embeddings "
                    f"says, found another; set tie_word_embeddings to false, or remove the head"
                )

    def digest(self) -> str:
        """SHA-256 hex digest of the tensors as stored, in any order and any files.

        The first call reads the weights, which takes a second or so per GB.
        """
        return self._digest

    @cached_property
    def _digest(self) -> str:
        digest = hashlib.sha256()
        for name, tensor in sorted(self._tensors.items()):
            kind = tensor.kind or tensor.code
            digest.update(f"{name} {kind} {tensor.shape}\n".encode())
            digest.update(tensor.raw.data)
        return digest.hexdigest()


def _read_shards(index: Path) -> dict[str, StoredTensor]:
    listed = read_object(index, "the list of weight files", MOST_OF_INDEX)
    shard_of = listed.get("weight_map")
    if not isinstance(shard_of, dict) or not all(map(_is_plain_name, shard_of.values())):
        raise ModelFilesError(
            f"{index}: expected a weight_map from tensors to names of files beside it, "
            f"found none; fetch the file again"
        )
    shards = {file: _read_file(index.with_name(file)) for file in sorted(set(shard_of.values()))}
    for name, file in shard_of.items():
        if name not in shards[file]:
            raise ModelFilesError(
                f"{index.with_name(file)}: expected a tensor {name}, as {index.name} says, "
                f"found none of that name; fetch the files again, all from one place"
            )
    # Also those that the index leaves out: other libraries read all that is in these files.
    found: dict[str, StoredTensor] = {}
    for file, tensors in shards.items():
        if twice := sorted(found.keys() & tensors.keys()):
            raise ModelFilesError(
                f"{index.with_name(file)}: expected each tensor in one file, found {twice[0]} in "
                f"another one as well; fetch the files again, all from one place"
            )
        found |= tensors
    return found


def _is_plain_name(file: object) -> bool:
    """Whether this may be the name of a file in the same folder, on any system.

    A name with a folder in it would lead out of the model's own.
    """
    if not isinstance(file, str) or file in ("", "..") or "\0" in file:
        return False
    try:
        return bool(file.encode()) and Path(file).name == PureWindowsPath(file).name == file
    except UnicodeEncodeError:  # a lone surrogate
        return False


def _read_file(path: Path) -> dict[str, StoredTensor]:
    """Names and places of the tensors in one file.

    The library checks the file. Then the file is mapped here, since the library has no bfloat16 for
    NumPy.
    """
    try:
        require_regular(path)
        with safetensors.safe_open(path, "numpy"):
            pass
        data = np.memmap(path, np.uint8, "r")
    except OSError as error:
        raise ModelFilesError(
            f"{path}: expected the model's weights, found no readable file "
            f"({error.strerror or error}); weights must lie beside config.json, in "
            f"model.safetensors or in the files that model.safetensors.index.json lists"
        ) from error
    except safetensors.SafetensorError as error:
        raise ModelFilesError(
            f"{path}: expected a safetensors file, found a damaged or truncated one ({error}); "
            f"fetch it again"
        ) from error
    start = 8 + int.from_bytes(data[:8].tobytes(), "little")
    header = json.loads(data[8:start].tobytes())
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        part = np.asarray(data[start + begin : start + end])
        tensors[name] = StoredTensor(entry["dtype"], tuple(entry["shape"]), part)
    return tensors
