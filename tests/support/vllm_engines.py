"""What vLLM 0.32 does around a logits processor, without vLLM and without a model.

The classes and their fields are those of `vllm/v1/sample/logits_processor/interface.py` and
`vllm/v1/worker/gpu/sample/logits_processor/interface.py`. `V1Engine` changes its batch as
`InputBatch` of `vllm/v1/worker/gpu_input_batch.py` does, `V2Engine` its slots as `RequestState` of
`vllm/v1/worker/gpu/states.py`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

LONGEST = 64
PLACEHOLDER = -1


@dataclass
class SamplingParams:
    """As an engine gets them. With `ignore_eos` only `all_stop_token_ids` has the model's ends."""

    extra_args: dict[str, Any] | None = None
    stop_token_ids: list[int] = field(default_factory=list)
    eos_token_id: int | None = None
    all_stop_token_ids: set[int] = field(default_factory=set)


class MoveDirectionality(Enum):
    UNIDIRECTIONAL = auto()
    SWAP = auto()


@dataclass(frozen=True)
class BatchUpdate:
    batch_size: int
    removed: Sequence[int]
    added: Sequence[tuple[int, SamplingParams, list[int] | None, list[int]]]
    moved: Sequence[tuple[int, int, MoveDirectionality]]


@dataclass(frozen=True)
class LogitsProcRequestState:
    device: torch.device
    max_num_reqs: int
    vocab_size: int
    all_token_ids: Any
    prompt_len: Any
    prefill_len: Any
    total_len: Any


@dataclass(frozen=True)
class LogitsContext:
    expanded_idx_mapping: torch.Tensor
    idx_mapping: torch.Tensor
    idx_mapping_np: np.ndarray
    expanded_local_pos: torch.Tensor
    input_ids: torch.Tensor
    pos: torch.Tensor
    seq_lens_upper_bound_np: np.ndarray


def config_of(width: int, *, speculative: bool = False, more: object = None) -> Any:
    """A VllmConfig, as far as it is read."""
    return SimpleNamespace(
        model_config=SimpleNamespace(get_vocab_size=lambda: width),
        speculative_config=SimpleNamespace(num_speculative_tokens=2) if speculative else None,
        additional_config=more,
    )


@dataclass(eq=False)
class Request:
    """A request of the fake engines.

    Attributes:
        written: the tokens after the prompt.
        drafts: speculative tokens of this step.
        prefilling: whether the prompt is read in parts, and no token comes of this step.
    """

    params: SamplingParams
    prompt: list[int]
    written: list[int] = field(default_factory=list)
    drafts: list[int] = field(default_factory=list)
    prefilling: bool = False


@dataclass(frozen=True)
class Row:
    """A row of logits: a request and the speculative tokens before the row."""

    request: Request
    drafts: list[int]


Logits = Callable[[int], torch.Tensor]


class V1Engine:
    """Model Runner V1: a dense batch, and asynchronous scheduling at times."""

    def __init__(self, processor: Any, draw: random.Random) -> None:
        self._processor, self._draw = processor, draw
        self._batch: list[Request] = []

    def step(
        self, leaving: Sequence[Request], coming: Sequence[Request], logits: Logits
    ) -> list[tuple[Row, torch.Tensor, torch.Tensor]]:
        """Each row, its logits before, and after the processor."""
        draw = self._draw
        removed = sorted(map(self._batch.index, leaving), reverse=True)
        added = []
        for request in coming:
            index = removed.pop() if removed else len(self._batch)
            self._batch[index : index + 1] = [request]
            added.append((index, request.params, request.prompt, request.written))
        moved = self._condense(removed)
        if len(self._batch) > 1 and draw.random() < 0.3:
            a, b = draw.sample(range(len(self._batch)), 2)
            self._batch[a], self._batch[b] = self._batch[b], self._batch[a]
            moved.append((a, b, MoveDirectionality.SWAP))
        late = {}
        if draw.random() < 0.5:  # the last tokens come after the update and before the logits
            for request in self._batch:
                if request.written and request not in coming:
                    late[request] = request.written[-1]
                    request.written[-1] = PLACEHOLDER
        if removed or added or moved:
            update = BatchUpdate(len(self._batch), removed, added, moved)
            self._processor.update_state(update)
        else:
            self._processor.update_state(None)
        for request, token in late.items():
            request.written[-1] = token
        before = logits(len(self._batch))
        after = self._processor.apply(before.clone())
        rows = [Row(request, []) for request in self._batch]
        return list(zip(rows, before, after, strict=True))

    def _condense(self, empty: list[int]) -> list[tuple[int, int, MoveDirectionality]]:
        """Move the last requests to the places of removed ones that nobody took."""
        moved, gone = [], set(empty)
        for index in sorted(empty):
            last = max((n for n in range(len(self._batch)) if n not in gone), default=-1)
            if last > index:
                moved.append((last, index, MoveDirectionality.UNIDIRECTIONAL))
                self._batch[index] = self._batch[last]
                gone = gone - {index} | {last}
        self._batch = [request for n, request in enumerate(self._batch) if n not in gone]
        return moved


class V2Engine:
    """Model Runner V2: slots that keep what was in them, and rows in any order."""

    def __init__(self, draw: random.Random, slots: int, width: int) -> None:
        self._draw = draw
        self._free = list(range(slots))
        self._slots: dict[Request, int] = {}
        self.processor: Any = None

        def staged(*shape: int) -> Any:
            filled = torch.full(shape, 7, dtype=torch.int32)  # what an earlier request left
            return SimpleNamespace(gpu=filled)

        def backed() -> Any:
            return SimpleNamespace(np=np.zeros(slots, dtype=np.int32))

        self.state = LogitsProcRequestState(
            device=torch.device("cpu"),
            max_num_reqs=slots,
            vocab_size=width,
            all_token_ids=staged(slots, LONGEST),
            prompt_len=backed(),
            prefill_len=backed(),
            total_len=staged(slots),
        )

    def step(
        self, leaving: Sequence[Request], coming: Sequence[Request], logits: Logits
    ) -> list[tuple[Row, torch.Tensor, torch.Tensor]]:
        """Each row, its logits before, and after the processor."""
        state = self.state
        for request in leaving:
            self._free.append(self._slots.pop(request))
        for request in coming:
            slot = self._slots[request] = self._free.pop()
            state.prompt_len.np[slot] = len(request.prompt)
            state.prefill_len.np[slot] = len(request.prompt) + len(request.written)
            self.processor.add_request(slot, request.params)
        late = self._draw.random() < 0.2  # some tokens come after the staged writes
        for request, slot in self._slots.items():
            self._write(slot, [*request.prompt, *request.written], late and request not in coming)
        self.processor.apply_staged_writes()
        for request, slot in self._slots.items():
            self._write(slot, [*request.prompt, *request.written], False)
        order = list(self._slots)
        self._draw.shuffle(order)
        found = []
        while order:  # with speculative tokens a step may apply the masks in portions
            speculative = any(request.drafts for request in self._slots)
            cut = self._draw.randint(1, len(order)) if speculative else len(order)
            found += self._apply(order[:cut], logits)
            del order[:cut]
        return found

    def _write(self, slot: int, ids: list[int], without_last: bool) -> None:
        count = len(ids) - without_last
        self.state.all_token_ids.gpu[slot, :count] = torch.tensor(ids[:count], dtype=torch.int32)
        self.state.total_len.gpu[slot] = count

    def _apply(
        self, requests: Sequence[Request], logits: Logits
    ) -> list[tuple[Row, torch.Tensor, torch.Tensor]]:
        rows = [
            Row(request, request.drafts[:n])
            for request in requests
            for n in range(len(request.drafts) + 1)
        ]
        slots = np.array([self._slots[request] for request in requests], dtype=np.int32)
        texts = [[*row.request.prompt, *row.request.written, *row.drafts] for row in rows]
        # While a prompt is read in parts, fewer tokens are visible than there are.
        unread = [3 * row.request.prefilling for row in rows]
        lengths = [
            len(r.prompt) + len(r.written) + len(r.drafts) - 3 * r.prefilling for r in requests
        ]
        ctx = LogitsContext(
            expanded_idx_mapping=torch.tensor([self._slots[row.request] for row in rows]).int(),
            idx_mapping=torch.from_numpy(slots),
            idx_mapping_np=slots,
            expanded_local_pos=torch.tensor([len(row.drafts) for row in rows]).int(),
            input_ids=torch.tensor([ids[-1] for ids in texts]).int(),
            pos=torch.tensor([len(ids) - 1 - n for ids, n in zip(texts, unread, strict=True)]),
            seq_lens_upper_bound_np=np.array(lengths, dtype=np.int32),
        )
        before = logits(len(rows))
        after = self.processor.apply(before.clone(), ctx)
        return list(zip(rows, before, after, strict=True))
