"""The chat template in a file that a user names, with the special tokens that it writes."""

from __future__ import annotations

import os
from pathlib import Path

from ...errors import ModelFilesError
from ...interfaces import ChatTemplate
from ._chat_template import find_special_tokens, read_template, template_in
from ._model_files import open_model_files

_SETTINGS = ".json"


def read_chat_template(path: Path) -> ChatTemplate:
    """The chat template at `path`.

    Args:
        path: of a model's directory, a GGUF file, a tokenizer_config.json, or a template such as
            chat_template.jinja. The special tokens of a template are those that a
            tokenizer_config.json beside it names.

    Raises:
        ModelFilesError: nothing is there, it has no template, or it is damaged.
        MissingExtraError: it is a GGUF file, and the package `gguf` is not installed.
    """
    if (files := open_model_files(path)) is not None:
        source, special_tokens = files.chat_template, files.special_tokens
    elif not os.path.isfile(path):  # Path.is_file raises for what no path can be, as a template
        raise ModelFilesError(
            f"expected a chat template at {str(path)!r}, found no such file; give a "
            f"chat_template.jinja, a tokenizer_config.json, a model's directory or a GGUF file"
        )
    elif path.suffix == _SETTINGS:
        source, special_tokens = template_in(path), find_special_tokens(path.parent)
    else:
        source, special_tokens = read_template(path), find_special_tokens(path.parent)
    if source is None:
        raise ModelFilesError(
            f"{path}: expected a chat template, found none; take chat_template.jinja or "
            f"tokenizer_config.json of a chat model"
        )
    return ChatTemplate(source, special_tokens)
