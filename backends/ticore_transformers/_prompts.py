"""What `generate` continues: ids that the network can read, at least one in each row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ticore.errors import PromptError, SettingsError, WrongTypeError


def require_network(model: object) -> None:
    """Refuse what is no model of transformers. Raises WrongTypeError."""
    if not (hasattr(model, "generation_config") and hasattr(model, "get_input_embeddings")):
        raise WrongTypeError(
            f"model: expected a model of transformers, found {type(model).__name__}; with a model "
            f"of ticore call ticore.consistent_generate"
        )


def require_prompts(model: Any, prompts: Any) -> None:
    """Refuse what the network would fail at.

    Args:
        model: of transformers.
        prompts: what `generate` was given as ids; None where it was given none.

    Raises:
        WrongTypeError: they are no tensor of integers.
        SettingsError: it is not int64[rows, n] with at least one row, or the network has not all of
            these ids.
        PromptError: n is 0.
    """
    if prompts is None:
        return
    if not isinstance(prompts, torch.Tensor) or prompts.dtype not in (torch.int64, torch.int32):
        found = prompts.dtype if isinstance(prompts, torch.Tensor) else type(prompts).__name__
        raise WrongTypeError(
            f"inputs: expected prompts as a tensor int64[rows, n], found {found}; give "
            f"torch.tensor([ids])"
        )
    if prompts.ndim != 2 or not len(prompts):
        raise SettingsError(
            f"inputs: expected prompts int64[rows, n] of one row or more, found the shape "
            f"{list(prompts.shape)}; give torch.tensor([ids])"
        )
    if not prompts.shape[1]:
        raise _empty()
    width = model.get_input_embeddings().weight.shape[0]
    least, most = (int(end) for end in torch.aminmax(prompts))
    if least < 0 or most >= width:
        wrong = least if least < 0 else most
        raise SettingsError(
            f"inputs: expected ids from 0 to {width - 1:,}, found {wrong:,}; is the tokenizer the "
            f"model's?"
        )


def require_no_empty(prompts: Sequence[Sequence[int]]) -> None:
    """Refuse a row that is padding alone. Raises PromptError."""
    if not all(prompts):
        raise _empty()


def _empty() -> PromptError:
    return PromptError(
        "expected prompts of at least one id each, found an empty one; begin it with the id that "
        "texts of this model begin with, such as its bos_token_id"
    )
