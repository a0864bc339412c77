"""Forward passes in step with those of other processes that hold parts of the same parameters.

With ZeRO-3 or FSDP each pass needs all processes, but their texts end at different lengths. So each
process says before each of its passes that it is not done. One that is done makes passes whose
result nobody reads, until all are done. transformers does the same, and calls it `synced_gpus`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import torch
from torch import distributed
from transformers import PreTrainedModel

from ticore.errors import TicoreError

from ._caller import given_to_generate


def is_synced(model: PreTrainedModel) -> bool:
    """Whether the running `generate` is to be in step with other processes, as it decides it."""
    given = given_to_generate("synced_gpus")
    if given is not None:
        return bool(given)
    if not (distributed.is_available() and distributed.is_initialized()):
        return False
    of_generate: Any = import_module("transformers.generation.utils")
    spread = of_generate.is_deepspeed_zero3_enabled() or of_generate.is_fsdp_managed_module(model)
    return bool(spread) and distributed.get_world_size() > 1


@contextmanager
def in_step(model: PreTrainedModel) -> Iterator[None]:
    """Within it, passes of the model are in step; it is left when all processes are done.

    A process that fails with an error of ticore lets the others finish, too.
    """

    def announce(*_: Any) -> None:
        _is_any_going(model, True)

    # Before the hooks that gather parameters, for which all processes must pass.
    hook = model.register_forward_pre_hook(announce, prepend=True)
    try:
        yield
    except TicoreError:
        hook.remove()
        _pass_along(model)
        raise
    finally:
        hook.remove()
    _pass_along(model)


def _pass_along(model: PreTrainedModel) -> None:
    """Join the passes of the processes that are not done."""
    network: Any = model
    while _is_any_going(model, False):
        with torch.no_grad():
            network(input_ids=torch.zeros(1, 1, dtype=torch.int64, device=model.device))


def _is_any_going(model: PreTrainedModel, going: bool) -> bool:
    """Tell the other processes whether this one is going; whether any one is."""
    count = torch.tensor(float(going), device=model.device)
    distributed.all_reduce(count)
    return bool(count > 0)
