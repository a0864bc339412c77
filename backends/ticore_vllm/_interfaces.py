"""What vLLM gives a logits processor, as far as it is read here.

vLLM itself is needed only where it runs: these protocols follow vLLM 0.32, in
`vllm/v1/sample/logits_processor/interface.py` (Model Runner V1) and
`vllm/v1/worker/gpu/sample/logits_processor/interface.py` (Model Runner V2).
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt
import torch


class SamplingParams(Protocol):
    """The settings of one request.

    Attributes:
        extra_args: those for others than vLLM.
        stop_token_ids, eos_token_id: what ends the text. With `ignore_eos` neither has the model's
            end tokens; `all_stop_token_ids` has them always.
    """

    extra_args: dict[str, Any] | None
    stop_token_ids: list[int] | None

    @property
    def eos_token_id(self) -> int | None: ...


class ModelConfig(Protocol):
    def get_vocab_size(self) -> int: ...


class VllmConfig(Protocol):
    model_config: ModelConfig
    speculative_config: Any
    additional_config: Any


class Direction(Protocol):
    name: str  # UNIDIRECTIONAL or SWAP


class BatchUpdate(Protocol):
    """How the batch of Model Runner V1 changed, in this order: removed, added, moved."""

    @property
    def removed(self) -> Sequence[int]: ...
    @property
    def added(
        self,
    ) -> Sequence[tuple[int, SamplingParams, list[int] | None, list[int]]]: ...
    @property
    def moved(self) -> Sequence[tuple[int, int, Direction]]: ...


class OnHost(Protocol):
    np: npt.NDArray[np.int32]


class OnDevice(Protocol):
    gpu: torch.Tensor


class RequestState(Protocol):
    """The slots of Model Runner V2.

    Attributes:
        all_token_ids: int32[slots, longest], the tokens of each slot.
        prompt_len: int32[slots], how many of them are the prompt.
        prefill_len: int32[slots], how many were there when the request came: the prompt, and after
            a preemption what had been written.
        total_len: int32[slots], how many there are.
    """

    @property
    def device(self) -> torch.device: ...
    @property
    def vocab_size(self) -> int: ...
    @property
    def all_token_ids(self) -> OnDevice: ...
    @property
    def prompt_len(self) -> OnHost: ...
    @property
    def prefill_len(self) -> OnHost: ...
    @property
    def total_len(self) -> OnDevice: ...


class LogitsContext(Protocol):
    """The rows of one step. A request with n speculative tokens has n + 1 rows, one after another.

    Attributes:
        idx_mapping_np: int32[requests], the slot of each request.
        expanded_idx_mapping: int32[rows], the slot of each row.
        input_ids: int32[rows], the token before each row.
        pos: int64[rows], the position of that token.
        seq_lens_upper_bound_np: int32[requests], the number of tokens before the one that is
            sampled; with speculative tokens an upper bound.
    """

    @property
    def idx_mapping_np(self) -> npt.NDArray[np.int32]: ...
    @property
    def expanded_idx_mapping(self) -> torch.Tensor: ...
    @property
    def input_ids(self) -> torch.Tensor: ...
    @property
    def pos(self) -> torch.Tensor: ...
    @property
    def seq_lens_upper_bound_np(self) -> npt.NDArray[np.int32]: ...


if TYPE_CHECKING:

    class V1Base: ...

    class V2Base: ...

else:

    def _logits_processor_of(module):
        """vLLM's own base class, which it asks for; a stand-in where there is no such vLLM."""
        try:
            return import_module(module).LogitsProcessor
        except ModuleNotFoundError as error:
            if not module.startswith(error.name):
                raise  # vLLM is there, and lacks something of its own
            return type("NoLogitsProcessor", (), {})

    V1Base = _logits_processor_of("vllm.v1.sample.logits_processor.interface")
    V2Base = _logits_processor_of("vllm.v1.worker.gpu.sample.logits_processor.interface")
