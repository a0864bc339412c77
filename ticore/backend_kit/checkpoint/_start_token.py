"""What a model reads before a text: a start token, which is no part of the text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ...errors import ModelFilesError, PromptError
from ._files import MOST_OF_TOKENIZER
from ._json_files import read_optional_object


@dataclass(frozen=True)
class StartToken:
    """What a model reads before a text.

    Attributes:
        token: the id; None if the model has no start token.
        always: whether it is read before every text. If not, it is read before an empty text only,
            so that there are logits of a next token.
    """

    token: int | None
    always: bool

    def prepended_to(self, ids: list[int]) -> list[int]:
        """What the model reads for a text that begins with `ids`.

        Raises:
            PromptError: there is nothing to read.
        """
        if ids and not self.always:
            return ids
        if self.token is None:
            raise PromptError(
                "expected a prompt of at least one token, since this model has neither a start "
                "token nor one that ends texts, found none; give it a prompt"
            )
        return [self.token, *ids]


def find_start_token(folder: Path, bos: int | None, eos: int | None, width: int) -> StartToken:
    """What the model in `folder` reads before a text: what transformers' tokenizers put there.

    The first of these that says something decides whether there is a start token:

    1. `add_bos_token` in tokenizer_config.json (Llama 2, Mistral: true; Qwen2: false);
    2. the template in tokenizer.json, by the special token that it begins with (Llama 3) or by
       beginning with none (GPT-2);
    3. the config, by naming a `bos_token_id` (`tiny-en`).

    A model without a start token still needs something to read before an empty text:
    `bos_token_id`, or else the id that ends a text, since in training one text followed another.

    Args:
        folder: holds the tokenizer's files.
        bos, eos: ids that the model's config names.
        width: number of logits.

    Raises:
        ModelFilesError: a file that is there cannot be read, or its start token has no logit.
    """
    template = folder / "tokenizer.json"
    stated = read_optional_object(folder / "tokenizer_config.json").get("add_bos_token")
    before = eos if bos is None else bos
    if isinstance(stated, bool):
        return StartToken(before, stated and bos is not None)
    if not template.is_file():
        return StartToken(before, bos is not None)
    settings = read_optional_object(template, MOST_OF_TOKENIZER)
    first = next(_first_tokens(settings.get("post_processor")), None)
    if first is None:
        return StartToken(before, False)
    if not 0 <= first < width:
        raise ModelFilesError(
            f"{template}: expected a start token below {width}, found {first}; "
            f"use the tokenizer that the model was trained with"
        )
    return StartToken(first, True)


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
