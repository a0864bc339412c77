"""The files of a model, of either kind: a directory in the Hugging Face layout, or a GGUF file.

    files = open_model_files(Path(location))
    config = parse_config(files.settings)
    tokenizer = files.open_tokenizer(load_tokenizer)
    start = files.find_start_token(config.bos, config.eos, config.width)
    checkpoint = files.checkpoint(start)

So a backend loads both with the same code.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import ModelFilesError
from ...interfaces import Tokenizer, TokenizerLoader
from ._added_tokens import find_added_tokens
from ._chat_template import find_chat_template, find_special_tokens
from ._checkpoint import Checkpoint
from ._gguf.vocabulary import GgufVocabulary, parse_vocabulary
from ._json_files import read_config
from ._safetensors_files import Tensors
from ._start_token import StartToken, find_start_token
from ._tokenizer_files import open_tokenizer

if TYPE_CHECKING:
    from ._gguf.model_files import GgufFiles

_MAGIC = b"GGUF"


class ModelFiles(ABC):
    """The files of a model. Each is read when it is first asked for, and once.

    Everything here raises ModelFilesError where a file is missing or damaged.

    Attributes:
        path: of the directory or the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    @abstractmethod
    def settings(self) -> Mapping[str, object]:
        """As `read_config` gives them."""

    @property
    @abstractmethod
    def settings_name(self) -> str:
        """What error texts call the settings."""

    @property
    @abstractmethod
    def tensors(self) -> Tensors:
        """All weights."""

    @property
    @abstractmethod
    def chat_template(self) -> str | None:
        """As `find_chat_template` gives it."""

    @property
    @abstractmethod
    def special_tokens(self) -> Mapping[str, str]:
        """As `find_special_tokens` gives them."""

    @property
    def added_tokens(self) -> frozenset[str]:
        """As `find_added_tokens` gives them."""
        return frozenset()

    def open_tokenizer(
        self, load_tokenizer: TokenizerLoader, place: str | None = None
    ) -> Tokenizer:
        """The tokenizer of the model.

        Args:
            load_tokenizer: opens the tokenizer at any `BACKEND:LOCATION`.
            place: of another one, which the caller asks for; None: the one in these files.
        """
        return self._open_own(load_tokenizer) if place is None else load_tokenizer(place)

    @abstractmethod
    def _open_own(self, load_tokenizer: TokenizerLoader) -> Tokenizer:
        """The tokenizer in these files, opened by the backend that reads its kind of file."""

    @abstractmethod
    def find_start_token(self, bos: int | None, eos: int | None, width: int) -> StartToken:
        """What the model reads before a text.

        Args:
            bos, eos: ids that the settings name.
            width: number of logits.
        """

    def checkpoint(self, start: StartToken) -> Checkpoint:
        """The files as one Checkpoint, for a model that reads `start` before a text."""
        return Checkpoint(
            self.settings,
            self.tensors,
            start,
            self.chat_template,
            self.special_tokens,
            self.added_tokens,
        )


def open_model_files(path: Path) -> ModelFiles | None:
    """The files at `path`; None if there is neither a directory nor a GGUF file.

    Raises:
        MissingExtraError: it is a GGUF file, and the package `gguf` is not installed.
    """
    if os.path.isdir(path):  # False also for what no path can be
        return DirectoryFiles(path)
    if not is_gguf(path):
        return None
    from ._gguf.model_files import GgufFiles  # noqa: PLC0415  # an extra

    return GgufFiles(path)


def open_gguf_files(path: Path) -> GgufFiles:
    """The GGUF file at `path`, which may begin with `~`.

    Raises:
        MissingExtraError: the package `gguf` is not installed.
        ModelFilesError: it is no GGUF file.
    """
    file = Path(os.path.expanduser(path))  # Path.expanduser raises for a user who is not known
    if not is_gguf(file):
        raise ModelFilesError(
            f"expected {str(path)!r} to be a GGUF file, found none; check the path"
        )
    from ._gguf.model_files import GgufFiles  # noqa: PLC0415  # an extra

    return GgufFiles(file)


def is_gguf(path: Path) -> bool:
    """Whether this is a GGUF file, or one that is called so."""
    try:
        if path.suffix.lower() == ".gguf" or not path.is_file():
            return path.is_file()
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except (OSError, ValueError):
        return False


def read_gguf_vocabulary(path: Path) -> GgufVocabulary:
    """The tokenizer in the GGUF file at `path`, for the backend that builds it.

    Raises:
        MissingExtraError: the package `gguf` is not installed.
        ModelFilesError: the file is damaged, or its kind of tokenizer is not supported.
    """
    from ._gguf.container import read_container  # noqa: PLC0415  # an extra

    return parse_vocabulary(path, read_container(path).metadata)


class DirectoryFiles(ModelFiles):
    """A directory in the Hugging Face layout."""

    @cached_property
    def settings(self) -> Mapping[str, object]:
        return read_config(self.path)

    @property
    def settings_name(self) -> str:
        return str(self.path / "config.json")

    @cached_property
    def tensors(self) -> Tensors:
        return Tensors(self.path)

    @cached_property
    def chat_template(self) -> str | None:
        return find_chat_template(self.path)

    @cached_property
    def special_tokens(self) -> Mapping[str, str]:
        return find_special_tokens(self.path)

    @cached_property
    def added_tokens(self) -> frozenset[str]:
        return find_added_tokens(self.path)

    def _open_own(self, load_tokenizer: TokenizerLoader) -> Tokenizer:
        return open_tokenizer(self.path, load_tokenizer)

    def find_start_token(self, bos: int | None, eos: int | None, width: int) -> StartToken:
        return find_start_token(self.path, bos, eos, width)
