"""The safetensors files of a model, single or sharded, as tensors that are taken by name.

Files are mapped, not read: a tensor costs nothing until its numbers are used, and every name,
type and shape is checked before the first of them is. PyTorch is not needed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import ml_dtypes
import numpy as np
import numpy.typing as npt
import safetensors

from ticore.errors import ModelFilesError

from .fields import read_json

_TYPES: dict[str, npt.DTypeLike] = {"BF16": ml_dtypes.bfloat16, "F16": "<f2", "F32": "<f4"}


@dataclass(frozen=True)
class _Stored:
    """A tensor as it lies in a file: little-endian numbers of the type that `code` names."""

    code: str
    shape: tuple[int, ...]
    data: npt.NDArray[np.uint8]


class Checkpoint:
    """All tensors of a directory.

    Raises:
        ModelFilesError: a file is missing or damaged, or an index names what its files lack.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        index = folder / "model.safetensors.index.json"
        single = folder / "model.safetensors"
        sharded = index.exists() and not single.exists()
        self._tensors = _read_shards(index) if sharded else _read_file(single)
        self._taken: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return name in self._tensors

    def take(self, name: str, shape: tuple[int, ...]) -> npt.NDArray[np.floating]:
        """The tensor `name`, a read-only view of the file.

        Raises:
            ModelFilesError: there is none of that name, of that `shape`, or of a known type.
        """
        advice = "check that config.json belongs to these weights"
        if name not in self._tensors:
            raise ModelFilesError(
                f"{self._folder}: expected a tensor {name} of shape {shape}, "
                f"found none of that name; {advice}"
            )
        tensor = self._tensors[name]
        if tensor.shape != shape:
            raise ModelFilesError(
                f"{self._folder}: expected {name} to have shape {shape}, "
                f"found {tensor.shape}; {advice}"
            )
        if tensor.code not in _TYPES:
            raise ModelFilesError(
                f"{self._folder}: expected {name} to be one of {', '.join(_TYPES)}, "
                f"found {tensor.code}; convert the weights to bfloat16"
            )
        self._taken.add(name)
        return tensor.data.view(_TYPES[tensor.code]).reshape(shape)

    def refuse_rest(self, harmless: Callable[[str], bool]) -> None:
        """Refuse tensors that were not taken, but for those whose name is `harmless`.

        Raises:
            ModelFilesError: there are such tensors: the network is not the one they belong to.
        """
        rest = [name for name in sorted(self._tensors.keys() - self._taken) if not harmless(name)]
        if rest:
            raise ModelFilesError(
                f"{self._folder}: expected no tensors but those that config.json calls for, found "
                f"{rest[0]} and {len(rest) - 1} others besides; "
                f"check that config.json belongs to these weights"
            )

    def digest(self) -> str:
        """SHA-256 hex digest of the tensors as stored, whatever their order and their files."""
        digest = hashlib.sha256()
        for name, tensor in sorted(self._tensors.items()):
            digest.update(f"{name} {tensor.code} {tensor.shape}\n".encode())
            digest.update(tensor.data.data)
        return digest.hexdigest()


def _read_shards(index: Path) -> dict[str, _Stored]:
    shard_of = read_json(index, "the list of weight files").get("weight_map")
    # A name with a folder in it would lead out of the model's own.
    if not isinstance(shard_of, dict) or not all(
        isinstance(file, str) and file == Path(file).name for file in shard_of.values()
    ):
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
    return {name: shards[file][name] for name, file in shard_of.items()}


def _read_file(path: Path) -> dict[str, _Stored]:
    """Names and places of the tensors in one file.

    The library judges the file, and what it finds sound is mapped here: its own NumPy face has no
    bfloat16.
    """
    try:
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
        tensors[name] = _Stored(entry["dtype"], tuple(entry["shape"]), part)
    return tensors
