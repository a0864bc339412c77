"""Packed masks as tensors, applied to logits without waiting for the device."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from ticore.consistency import Verification, packed_masks

from ._served import ServedText, Words


def refused_tokens(
    texts: Sequence[Verification | None], words: int, width: int, device: torch.device
) -> torch.Tensor:
    """bool[rows, width] on the device: what may not follow each text; nothing after None.

    Args:
        texts: the verification of each row, which a text may begin with.
        words: of 32 bits: enough for the tokenizer and for the logits.
        width: the number of logits.
        device: where the logits are.
    """
    packed = packed_masks(texts, np.empty((len(texts), words), dtype=np.uint32))
    return _on_device(~packed, width, device)  # inverted while it is small


def mask_texts(
    logits: torch.Tensor,
    rows: Sequence[Verification | None],
    texts: Sequence[ServedText | None],
) -> torch.Tensor:
    """Give -inf to each candidate that would make its text inconsistent.

    Where this would leave no candidate, because another constraint has removed the rest, the row
    stays as it is.

    Args:
        logits: float[n, width]; is changed in place.
        rows: for each row, the verification that gives its mask, or None for no mask.
        texts: for each row, the request's text, which has its special tokens and its report; None
            for a row without one.

    Returns:
        `logits`.
    """
    if all(row is None for row in rows):
        return logits
    masked = [
        (n, row, text)
        for n, (row, text) in enumerate(zip(rows, texts, strict=True))
        if row is not None and text is not None
    ]
    packed = np.empty((len(rows), len(masked[0][2].specials)), dtype=np.uint32)
    packed_masks(rows, packed)
    for n, row, text in masked:
        if row.consistent:
            packed[n] |= text.specials
    refused = _on_device(~packed, logits.shape[1], logits.device)
    dead_end = ~(~refused & (logits > -torch.inf)).any(dim=1)
    for n, _, text in masked:
        if text.report.name:
            mass = (logits[n].float().softmax(dim=0) * refused[n]).sum()
            text.report.add(mass.where(~dead_end[n], 0), dead_end[n])
    return logits.masked_fill_(refused & ~dead_end[:, None], -torch.inf)


def _on_device(packed: Words, width: int, device: torch.device) -> torch.Tensor:
    """The first `width` bits of each row of uint32[rows, words], as bool on the device."""
    octets = packed.astype("<u4", copy=False).view(np.uint8)
    if device.type == "cpu":
        bits = np.unpackbits(octets, axis=1, count=width, bitorder="little")
        return torch.from_numpy(bits.view(np.bool_))
    # As bytes, the first token's bit in the first one, an eighth of the result is copied. From
    # pinned memory the copy waits for nothing.
    data = torch.from_numpy(octets)
    data = (
        data.pin_memory().to(device, non_blocking=True)
        if device.type == "cuda"
        else data.to(device)
    )
    shifts = torch.arange(8, dtype=torch.uint8, device=device)
    return (data[:, :, None] >> shifts & 1).bool().reshape(len(packed), -1)[:, :width]
