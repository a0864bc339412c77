"""Rollouts for a trainer of TRL: ids, text and log-probabilities that agree.

    trainer = GRPOTrainer(..., rollout_func=rollouts(tokenizer))

A trainer that is handed ids trains on them. But rewards are computed from their text, and what is
stored is often the text. Here the text is read back as exactly these ids.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import Any

import torch
from torch import distributed

from ticore.consistency import View
from ticore.errors import SettingsError
from ticore.interfaces import Tokenizer
from ticore_torch import ids_of

from ._caller import require_called
from ._choosing import Consistency
from ._consistent import custom_generate


def rollouts(
    tokenizer: Tokenizer | object,
    *,
    consistency: Consistency = "rollback",
    observation: int = 2,
    view: View = "continuation",
    **settings: Any,
) -> Callable[[Sequence[Any], Any], dict[str, Any]]:
    """What `GRPOTrainer` of TRL takes as `rollout_func` (as of TRL 1.16).

    The log-probability of a token is the one in the distribution that it was drawn from: after
    temperature, top-k and the like, without tokens that were banned at this place after a rollback,
    and, with masks, without those that would make the text inconsistent. The trainer computes the
    others from the network and the temperature alone; its importance sampling correction takes the
    ratio of both.

    Args:
        tokenizer, consistency, observation, view: see `consistent`.
        settings: what else `model.generate` takes, over the trainer's `generation_kwargs`.

    Returns:
        `f(prompts, trainer)`. `prompts` are texts or chats, one for each completion that is wanted,
        as TRL repeats them. It uses the trainer's `model`, `accelerator`, `processing_class`,
        `generation_kwargs` and, for chats, `tools`, `chat_template` and `chat_template_kwargs`. It
        returns `prompt_ids`, `completion_ids` (with the id that ended it,
        if one did) and `logprobs`: for each prompt a list.

    Raises:
        SettingsError, PromptError, CapacityError: when it is called: as `consistent`; also where
            the trainer generates with vLLM or with a paged cache, or has several environments.
    """

    def rollout(prompts: Sequence[Any], trainer: Any) -> dict[str, Any]:
        prompt_ids = [_prompt_ids(prompt, trainer) for prompt in prompts]
        if not prompt_ids:
            return {"prompt_ids": [], "completion_ids": [], "logprobs": []}
        model = trainer.accelerator.unwrap_model(trainer.model)
        log_probabilities: list[list[float]] = []
        custom = custom_generate(
            tokenizer,
            consistency=consistency,
            observation=observation,
            view=view,
            log_probabilities=log_probabilities,
        )
        given = {**_generation_settings(trainer), **settings}
        require_called(given)
        if (count := given.get("num_return_sequences", 1)) != 1:
            raise SettingsError(
                f"num_return_sequences: expected 1, found {count}; TRL gives each prompt as often "
                f"as it wants texts, by num_generations of its config"
            )
        modes = [(module, module.training) for module in model.modules()]
        model.eval()  # dropout would sample from other networks than the trainer's
        try:
            ids, mask = _padded(prompt_ids, given.get("pad_token_id"), model.device)
            with _outer_parameters(trainer.model):
                found = model.generate(ids, attention_mask=mask, custom_generate=custom, **given)
        finally:
            for module, training in modes:
                module.training = training
        sequences = getattr(found, "sequences", found)[:, ids.shape[1] :].tolist()
        return {
            "prompt_ids": prompt_ids,
            "completion_ids": [
                row[: len(values)] for row, values in zip(sequences, log_probabilities, strict=True)
            ],
            "logprobs": log_probabilities,
        }

    return rollout


def _outer_parameters(model: Any) -> AbstractContextManager[Any]:
    """Within it, the parameters are whole that no inner module of FSDP gathers, as in TRL."""
    if not distributed.is_available():
        return nullcontext()
    fsdp: Any = import_module("torch.distributed.fsdp")  # not in every build of PyTorch
    if not isinstance(model, fsdp.FullyShardedDataParallel):
        return nullcontext()
    whole: AbstractContextManager[Any] = fsdp.FullyShardedDataParallel.summon_full_params(
        model, recurse=False, writeback=False
    )
    return whole


def _generation_settings(trainer: Any) -> dict[str, Any]:
    found: dict[str, Any] | None = getattr(trainer, "generation_kwargs", None)
    if found is None:
        raise SettingsError(
            "expected a trainer that generates with transformers, found none of its "
            "generation_kwargs; set use_vllm=False, or sample with vLLM and ticore_vllm"
        )
    return found


def _prompt_ids(prompt: Any, trainer: Any) -> list[int]:
    """The ids of a text, or of a chat by the template, with the tools that the trainer uses.

    Raises:
        SettingsError: the trainer has several environments, each with its own tools.
    """
    if isinstance(prompt, str):
        return list(trainer.processing_class(prompt)["input_ids"])
    if len(getattr(trainer, "environment_factories", None) or ()) > 1:
        raise SettingsError(
            "expected a trainer with one environment at most, found several; a rollout function "
            "is not told which prompt belongs to which; train with one, or without rollouts()"
        )
    found = trainer.processing_class.apply_chat_template(
        prompt,
        # Some templates announce tools where the list is empty.
        tools=getattr(trainer, "tools", None) or None,
        chat_template=getattr(trainer, "chat_template", None),
        add_generation_prompt=True,
        tokenize=True,
        return_dict=True,
        **(getattr(trainer, "chat_template_kwargs", None) or {}),
    )
    return list(found["input_ids"])


def _padded(
    prompts: Sequence[Sequence[int]], pad: Any, device: torch.device
) -> tuple[torch.Tensor, torch.Tensor]:
    """The prompts padded at the left, and 1 where no padding is: int64[rows, longest] each."""
    longest = max(map(len, prompts))
    (padding, *_) = *ids_of(pad), 0
    ids = [[padding] * (longest - len(prompt)) + list(prompt) for prompt in prompts]
    mask = [[0] * (longest - len(prompt)) + [1] * len(prompt) for prompt in prompts]
    return torch.tensor(ids, device=device), torch.tensor(mask, device=device)
