"""For Model Runner V2, whose tokens are on the device.

The device must not wait for the masks. So the last tokens are copied before the forward pass of a
step, right after those of the step before were sampled, and the masks are made while it runs.
Speculative tokens come with the logits, so with them each step waits for its forward pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import numpy.typing as npt
import torch

from ticore.consistency import Verification
from ticore_masks import RequestSettings, ServedText, mask_texts

from ._interfaces import LogitsContext, RequestState, SamplingParams, VllmConfig
from ._processor import ConsistentTokens, ends_of, served_texts


@dataclass(frozen=True)
class _New:
    """A request whose tokens were not read yet.

    Attributes:
        start: the position from which they are read: the prompt is of interest in view `whole`.
    """

    settings: RequestSettings
    ends: frozenset[int]
    start: int


@dataclass
class _Slot:
    """A request.

    Attributes:
        text: what is verified of it.
        read: the number of its tokens that were read, the prompt included.
        unverified: those that were read and not verified.
    """

    text: ServedText
    read: int
    unverified: list[int]


class _Snapshot:
    """The last token of each slot, and all tokens of some slots, on their way from the device.

    Args:
        state: where they are.
        starts: for each slot of which all tokens are copied, the position of the first one.
    """

    def __init__(self, state: RequestState, starts: dict[int, int]) -> None:
        tokens, totals = state.all_token_ids.gpu, state.total_len.gpu.long()
        last = tokens.gather(1, (totals - 1).clamp(min=0)[:, None])
        # Only CUDA tells when a copy has arrived; elsewhere the next line waits for it.
        later = tokens.is_cuda
        self._pairs = torch.cat((totals[:, None], last), dim=1).to("cpu", non_blocking=later)
        ends = state.prefill_len.np
        self._ids = {
            slot: tokens[slot, start : int(ends[slot])].to("cpu", non_blocking=later)
            for slot, start in starts.items()
        }
        self._arrived: torch.cuda.Event | None = None
        if later:
            self._arrived = torch.cuda.Event()  # type: ignore[no-untyped-call]  # PyTorch's
            self._arrived.record()

    def pairs(self) -> npt.NDArray[np.int64]:
        """int64[slots, 2]: the number of tokens and the last one. Waits until they are here."""
        self._wait()
        found: npt.NDArray[np.int64] = self._pairs.numpy()
        return found

    def ids(self) -> dict[int, list[int]]:
        """The tokens of the slots that were asked for. Waits until they are here."""
        self._wait()
        return {slot: ids.tolist() for slot, ids in self._ids.items()}

    def _wait(self) -> None:
        if self._arrived is not None:
            self._arrived.synchronize()


class Processor(ConsistentTokens):
    """See `ConsistentTokens`.

    In each step vLLM calls `add_request` for each new request, then `apply_staged_writes`, then
    `apply`, with speculative tokens perhaps several times for some of the requests each.
    """

    def __init__(self, vllm_config: VllmConfig, state: RequestState) -> None:
        self._texts = served_texts(vllm_config)
        self._state = state
        self._speculative = vllm_config.speculative_config is not None
        self._new: dict[int, _New] = {}
        self._slots: dict[int, _Slot] = {}
        self._snapshot: _Snapshot | None = None  # of this step

    def add_request(self, req_idx: int, sampling_params: SamplingParams) -> bool:
        """Give a slot to a request; what the slot held before has ended.

        Returns:
            Whether its candidates are masked.
        """
        self._new.pop(req_idx, None)
        if (ended := self._slots.pop(req_idx, None)) is not None:
            self._texts.close(ended.text)
        settings = self._texts.settings_of(sampling_params.extra_args)
        if settings.on:
            start = 0 if settings.view == "whole" else int(self._state.prompt_len.np[req_idx])
            self._new[req_idx] = _New(settings, ends_of(sampling_params), start)
        return settings.on

    def apply_staged_writes(self) -> None:
        """Start to copy the last tokens, before the forward pass of this step."""
        if self._new or self._slots:
            starts = {slot: new.start for slot, new in self._new.items()}
            self._snapshot = _Snapshot(self._state, starts)

    def apply(self, logits: torch.Tensor, ctx: LogitsContext) -> torch.Tensor:
        """Mask float[rows, width] in place, and give it back."""
        if self._snapshot is None:  # no request is masked
            return logits
        for slot, ids in self._snapshot.ids().items():
            self._begin(slot, ids)
        verifications: list[Verification | None] = []
        texts: list[ServedText | None] = []
        drafts: list[list[int]] = []
        for index, length, its_drafts in self._rows(ctx):
            drafts.append(its_drafts)
            if (of_slot := self._slots.get(index)) is None:
                texts.append(None)
                verifications.append(None)
            else:
                texts.append(of_slot.text)
                new = self._unverified(index, of_slot, length)
                verifications.append(of_slot.text.extend(new))
        return mask_texts(logits, verifications, texts, drafts)

    def _begin(self, index: int, ids: list[int]) -> None:
        """Begin the text of a new request, whose tokens are here."""
        if (new := self._new.pop(index, None)) is None:
            return  # it was begun in an earlier call of this step
        prompt = int(self._state.prompt_len.np[index]) - new.start
        text = self._texts.start(new.settings, ids[:prompt], new.ends)
        self._slots[index] = _Slot(text, new.start + len(ids), ids[prompt:])

    def _unverified(self, index: int, slot: _Slot, length: int) -> list[int]:
        """The tokens of a slot that were not verified yet; it has at least `length` tokens."""
        assert self._snapshot is not None
        total, last = self._snapshot.pairs()[index].tolist()
        if total < length:  # the snapshot was made before the last token was sampled
            total = int(self._state.total_len.gpu[index])
            last = int(self._state.all_token_ids.gpu[index, total - 1])
        found, slot.unverified = slot.unverified, []
        if total == slot.read + 1:
            found.append(last)
        elif total > slot.read:
            found += self._state.all_token_ids.gpu[index, slot.read : total].tolist()
        slot.read = total
        return found

    def _rows(self, ctx: LogitsContext) -> Iterator[tuple[int, int, list[int]]]:
        """For each request its slot, a lower bound of its length, and its speculative tokens."""
        if not self._speculative:
            slots = ctx.idx_mapping_np.tolist()
            for index, length in zip(slots, ctx.seq_lens_upper_bound_np.tolist(), strict=True):
                yield index, length, []
            return
        of_rows = torch.stack((ctx.expanded_idx_mapping.long(), ctx.pos.long(), ctx.input_ids), 1)
        for index, rows in groupby(of_rows.tolist(), key=lambda row: row[0]):
            # The first row of a request follows its last written token, which is no draft.
            (_, position, _), *drafts = rows
            yield index, position + 1, [token for _, _, token in drafts]
