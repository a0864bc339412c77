"""What lies beside the weights: the tokenizer, and whether texts begin with a start token."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ticore.errors import ModelFilesError
from ticore.interfaces import Tokenizer, TokenizerLoader

from .config import Config
from .fields import read_json


@dataclass(frozen=True)
class Start:
    """What a model reads before a text.

    Attributes:
        token: the id.
        always: before every text, or only before an empty one, that there be a next token.
    """

    token: int
    always: bool


def open_tokenizer(folder: Path, config: Config, load_tokenizer: TokenizerLoader) -> Tokenizer:
    """The tokenizer in `folder`: tokenizer.model if it is SentencePiece's, else tokenizer.json.

    Of models that have both, the first is what they were trained with and the second converted
    from it. But a tokenizer.model may also hold ranks, as that of Llama 3 does.

    Raises:
        ModelFilesError: neither is there, it cannot be read, or it is another model's.
    """
    original, converted = folder / "tokenizer.model", folder / "tokenizer.json"
    if not original.is_file() and not converted.is_file():
        raise ModelFilesError(
            f"{folder}: expected a tokenizer in tokenizer.model or tokenizer.json, found neither; "
            f"fetch it from where the model is from"
        )
    tokenizer = None
    if original.is_file():
        try:
            tokenizer = load_tokenizer(f"sentencepiece:{original}")
        except ModelFilesError:
            if not converted.is_file():
                raise
    if tokenizer is None:
        tokenizer = load_tokenizer(f"tokenizers:{converted}")
    if tokenizer.vocab_size > config.vocab_size:
        raise ModelFilesError(
            f"{folder}: expected a tokenizer of at most {config.vocab_size} ids, as many as "
            f"the model has logits, found {tokenizer.vocab_size}; "
            f"use the tokenizer that the model was trained with"
        )
    return tokenizer


def find_start(folder: Path, config: Config) -> Start:
    """What the model in `folder` reads before a text: what transformers' tokenizers put there.

    The first of these that says something decides whether there is a start token:

    1. `add_bos_token` in tokenizer_config.json (Llama 2, Mistral: true; Qwen2: false);
    2. the template in tokenizer.json, by the special token that it begins with (Llama 3) or by
       beginning with none (GPT-2);
    3. config.json, by naming a `bos_token_id` (`tiny-en`).

    Before an empty text one is always read: `bos_token_id`, or else the id that ends a text, as
    in training one text followed the other.

    Raises:
        ModelFilesError: a file that is there cannot be read, or its start token has no logit.
    """
    token = config.eos_ids[0] if config.bos_token is None else config.bos_token
    stated, template = folder / "tokenizer_config.json", folder / "tokenizer.json"
    if stated.is_file():
        always = read_json(stated, "the tokenizer's settings").get("add_bos_token")
        if isinstance(always, bool):
            return Start(token, always and config.bos_token is not None)
    if template.is_file():
        found = next(_first_tokens(read_json(template, "a tokenizer").get("post_processor")), None)
        if found is not None and not 0 <= found < config.vocab_size:
            raise ModelFilesError(
                f"{template}: expected a start token below {config.vocab_size}, found {found}; "
                f"use the tokenizer that the model was trained with"
            )
        return Start(token, False) if found is None else Start(found, True)
    return Start(token, config.bos_token is not None)


def _first_tokens(processor: object) -> Iterator[int]:
    """Ids of the special tokens that the templates of a post-processor begin with."""
    match processor:
        case {"type": "Sequence", "processors": [*inner]}:
            for each in inner:
                yield from _first_tokens(each)
        case {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": str(name)}}, *_],
            "special_tokens": {**tokens},
        }:
            match tokens.get(name):
                case {"ids": [int(first), *_]}:
                    yield first
