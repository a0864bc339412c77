"""How the messages of a dialogue become one text: the Jinja template that a model comes with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ...errors import ModelFilesError
from ._files import MOST_OF_CONFIG, read_whole
from ._json_files import read_optional_object

_DEFAULT = "default"
_SETTINGS = "tokenizer_config.json"


def find_chat_template(folder: Path) -> str | None:
    """The template of the model in `folder`: where transformers finds it.

    chat_template.jinja is preferred to `chat_template` in tokenizer_config.json. If there are
    several, this is the one called `default`.

    Raises:
        ModelFilesError: a file that is there cannot be read, or holds no template where one
            belongs.
    """
    own = folder / "chat_template.jinja"
    return read_template(own) if own.is_file() else template_in(folder / _SETTINGS)


def read_template(path: Path) -> str:
    """The text of a template's own file. Raises ModelFilesError: it cannot be read."""
    try:
        return read_whole(path, MOST_OF_CONFIG).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise ModelFilesError(
            f"{path}: expected a template, found no readable text "
            f"({getattr(error, 'strerror', None) or 'not UTF-8'}); fetch the file again"
        ) from error


def template_in(path: Path) -> str | None:
    """The template in a tokenizer_config.json; None if it has none, or if there is no file.

    Raises:
        ModelFilesError: it cannot be read, or holds no template where one belongs.
    """
    found = read_optional_object(path).get("chat_template")
    if isinstance(found, list):
        of_default = (
            each for each in found if isinstance(each, dict) and each.get("name") == _DEFAULT
        )
        found = next((each.get("template") for each in of_default), None)
    if found is not None and not isinstance(found, str):
        raise ModelFilesError(
            f"{path}: expected chat_template to be a text, found {type(found).__name__}; "
            f"fetch the file again"
        )
    return found


def find_special_tokens(folder: Path) -> Mapping[str, str]:
    """The texts of special tokens by their names in tokenizer_config.json, such as `bos_token`.

    Templates write them by these names. Values that are no token are left out.

    Raises:
        ModelFilesError: tokenizer_config.json is there and cannot be read.
    """
    found = {}
    for name, value in read_optional_object(folder / _SETTINGS).items():
        text = value.get("content") if isinstance(value, dict) else value
        if name.endswith("_token") and isinstance(text, str):
            found[name] = text
    return found
