"""What lies beside the weights: the tokenizer, and whether texts begin with a start token."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ticore.errors import ModelFilesError
from ticore.interfaces import Tokenizer, TokenizerLoader


@dataclass(frozen=True)
class Start:
    """What a model reads before a text.

    Attributes:
        token: the id; None if there is none.
        always: before every text, or only where nothing else precedes the first prediction.
    """

    token: int | None
    always: bool


def open_tokenizer(folder: Path, load_tokenizer: TokenizerLoader) -> Tokenizer:
    """The tokenizer in `folder`: tokenizer.model if it is SentencePiece's, else tokenizer.json.

    Of models that have both, the former is what they were trained with; the latter is converted
    from it, and reads runs of spaces otherwise. Tokens added in tokenizer.json alone, such as marks
    of a dialogue, are then no tokens here. A tokenizer.model may also be a list of ranks, as that
    of Llama 3, beside which tokenizer.json says the same and more.

    Raises:
        ModelFilesError: neither is there, or what is there cannot be read.
    """
    pieces, converted = folder / "tokenizer.model", folder / "tokenizer.json"
    if pieces.is_file():
        try:
            return load_tokenizer(f"sentencepiece:{pieces}")
        except ModelFilesError:
            if not converted.is_file():
                raise
    if not converted.is_file():
        raise ModelFilesError(
            f"{folder}: expected tokenizer.model or tokenizer.json, found neither; put it there, "
            f"or name another with tokenizer='BACKEND:LOCATION'"
        )
    return load_tokenizer(f"tokenizers:{converted}")


def find_start(folder: Path, bos: int | None, eos: int | None) -> Start:
    """What the model in `folder` reads before a text.

    The first of these that says something decides:

    1. `add_bos_token` in tokenizer_config.json: true or false (Mistral, Qwen2);
    2. the template in tokenizer.json: the special token it puts in front, if any (Llama 3);
    3. the config of a model that has neither: its `bos_token_id`, if any (`tiny-en`).

    A model that reads none still needs something before an empty prompt: `bos_token_id`, or else
    the id that ends a text, after which another begins.

    Args:
        folder: holds the tokenizer's files.
        bos, eos: ids that the model's config names.
    """
    stated = _read_object(folder / "tokenizer_config.json").get("add_bos_token")
    template = _read_object(folder / "tokenizer.json").get("post_processor")
    before = eos if bos is None else bos
    if isinstance(stated, bool):
        return Start(bos, True) if stated and bos is not None else Start(before, False)
    if (folder / "tokenizer.json").is_file():
        first = next(_first_tokens(template), None)
        return Start(before, False) if first is None else Start(first, True)
    return Start(before, bos is not None)


def _first_tokens(processor: Any) -> Iterator[int]:
    """Ids that the templates of a post-processor put before a text."""
    match processor:
        case {"type": "Sequence", "processors": [*processors]}:
            for inner in processors:
                yield from _first_tokens(inner)
        case {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": name}}, *_],
            "special_tokens": dict(tokens),
        }:
            yield int(tokens[name]["ids"][0])


def _read_object(path: Path) -> Mapping[str, Any]:
    """The JSON object in a file; empty if there is no such file."""
    if not path.is_file():
        return {}
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelFilesError(
            f"{path}: expected JSON, found something else ({error}); fetch the file again"
        ) from error
    if not isinstance(found, dict):
        raise ModelFilesError(
            f"{path}: expected a JSON object, found {type(found).__name__}; fetch the file again"
        )
    return found
