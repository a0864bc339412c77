"""From a place to the files of a model: one of the Hugging Face hub is fetched first."""

from __future__ import annotations

import os.path
import re
from pathlib import Path

from ..._support.installing import require_module
from ...errors import ModelFilesError, SettingsError
from .._checks import first_line
from ._model_files import DirectoryFiles, ModelFiles, open_model_files

# What a model consists of here. Weights in pickles are left where they are: opening one may run
# any code. Folders inside hold other formats of the same weights.
_FETCHED = ["*.json", "*.safetensors", "tokenizer.model", "chat_template.jinja"]
_LEFT = ["*/*", "consolidated*"]
_HUB_NAME = re.compile(r"(?P<owner>[\w-][\w.-]*/)?[\w-][\w.-]*")


def find_model_files(
    location: str,
    revision: str | None = None,
    *,
    with_code: bool = False,
    without_owner: bool = False,
) -> ModelFiles:
    """The files of the model at `location`.

    Args:
        location: the path of a directory or a GGUF file, or a name of the hub, such as
            `Qwen/Qwen2.5-7B`.
        revision: of a model of the hub.
        with_code: fetch the model's Python code too.
        without_owner: whether a name alone, such as `gpt2`, may be one of the hub.

    Raises:
        ModelFilesError: there is nothing at this path, and the hub gives no model of this name.
        SettingsError: a revision was given for a path.
        MissingExtraError: a package that this place needs is not installed.
    """
    path = Path(os.path.expanduser(location))  # Path.expanduser raises for a user who is not known
    files = open_model_files(path)
    if files is not None:
        if revision is not None:
            raise SettingsError(
                f"expected no revision for the directory or file {path}, found {revision!r}; "
                f"only models of the hub have revisions"
            )
        return files
    name = _HUB_NAME.fullmatch(location)
    if name is None or not (name["owner"] or without_owner):
        raise ModelFilesError(
            f"expected {location!r} to be a directory with config.json, model.safetensors and "
            f"a tokenizer, or a GGUF file; found no directory {path}"
        )
    return DirectoryFiles(_fetched(location, revision, with_code))


def _fetched(name: str, revision: str | None, with_code: bool) -> Path:
    """The folder where the hub's library keeps the files of a model, fetched if need be."""
    hub = require_module("huggingface_hub", "tokenizers", "a model of the hub")
    fetched = [*_FETCHED, "*.py"] if with_code else _FETCHED
    try:
        return Path(
            hub.snapshot_download(
                name, revision=revision, allow_patterns=fetched, ignore_patterns=_LEFT
            )
        )
    # Unknown names, closed models and broken connections have errors of many libraries.
    except Exception as error:
        raise ModelFilesError(
            f"expected {name!r} to be a directory, or a model of the Hugging Face hub; found "
            f"no such directory, and the hub gives none ({first_line(error)}); check the name, "
            f"the connection and, for a closed model, that `hf auth login` was run"
        ) from error
