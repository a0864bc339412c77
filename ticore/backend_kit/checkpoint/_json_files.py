"""The JSON objects of a model's directory."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from ...errors import ModelFilesError
from ._files import MOST_OF_CONFIG, read_whole

# Fields in which generation_config.json overrules config.json, as in transformers.
_SEPARATORS = ("bos_token_id", "eos_token_id")


def read_config(folder: Path) -> Mapping[str, object]:
    """The config.json of `folder`, but with the bos and eos ids that generation_config.json has.

    Raises:
        ModelFilesError: there is no config.json, or no JSON object in either file.
    """
    config = read_object(folder / "config.json", "the config.json of a model")
    generation = read_optional_object(folder / "generation_config.json")
    stated = {name: generation.get(name) for name in _SEPARATORS}
    return {**config, **{name: ids for name, ids in stated.items() if ids is not None}}


def read_object(path: Path, kind: str, most: int = MOST_OF_CONFIG) -> Mapping[str, object]:
    """The JSON object in the file at `path`.

    Args:
        path: of the file.
        kind: what it is, for the error's text.
        most: the most bytes that it may have.

    Raises:
        ModelFilesError: no such file, or no JSON object in it.
    """
    try:
        found = json.loads(read_whole(path, most).decode())
    except OSError as error:
        raise ModelFilesError(
            f"{path}: expected {kind}, found no readable file ({error.strerror}); "
            f"name a directory that transformers' save_pretrained wrote"
        ) from error
    except (ValueError, RecursionError) as error:  # malformed JSON or malformed UTF-8
        raise ModelFilesError(
            f"{path}: expected JSON, found something else ({error}); fetch the file again"
        ) from error
    if not isinstance(found, dict):
        raise ModelFilesError(
            f"{path}: expected a JSON object, found {type(found).__name__}; fetch the file again"
        )
    return found


def read_optional_object(path: Path, most: int = MOST_OF_CONFIG) -> Mapping[str, object]:
    """As `read_object`, but empty if there is no such file."""
    return read_object(path, "a JSON object", most) if path.is_file() else {}
