"""Packed masks as tensors, applied to logits without waiting for the device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from ticore.consistency import Verification, packed_masks

from ._served import ServedText, Words, why_refused

_ALL = np.uint32(0xFFFFFFFF)


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
    verifications: Sequence[Verification | None],
    texts: Sequence[ServedText | None],
    drafts: Sequence[Sequence[int]] | None = None,
) -> torch.Tensor:
    """Give -inf to each candidate that would make its text inconsistent.

    Where this would leave no candidate, because another constraint has removed the rest, the row
    stays as it is. So do the rows after a draft that is masked.

    Args:
        logits: float[n, width]; is changed in place.
        verifications: for each text, what gives its masks; None for a text without.
        texts: each one has its special tokens and its report; None for a text without.
        drafts: for each text, m tokens that may come next. It has m + 1 rows, one after another:
            before the drafts, and after each of them. None if there are no drafts.

    Returns:
        `logits`.
    """
    if all(verification is None for verification in verifications):
        return logits
    packed, masked = _packed(len(logits), verifications, texts, drafts)
    refused = _on_device(~packed, logits.shape[1], logits.device)
    dead_end = ~(~refused & (logits > -torch.inf)).any(dim=1)
    for n, text in masked:
        if text.report.name:
            mass = (logits[n].float().softmax(dim=0) * refused[n]).sum()
            text.report.add(mass.where(~dead_end[n], 0), dead_end[n])
    return logits.masked_fill_(refused & ~dead_end[:, None], -torch.inf)


@dataclass
class _Position:
    """A text, and where it stands among its drafts: `row` is its row there."""

    row: int
    text: ServedText
    verification: Verification
    drafts: Sequence[int]
    passed: int = 0

    def next(self) -> bool:
        """Go on after the next draft; False if there is none, or if it is masked."""
        if self.passed == len(self.drafts):
            return False
        if why_refused(self.verification.push, self.drafts[self.passed]):
            return False
        self.row, self.passed = self.row + 1, self.passed + 1
        return self.verification.admissible


def _packed(
    count: int,
    verifications: Sequence[Verification | None],
    texts: Sequence[ServedText | None],
    drafts: Sequence[Sequence[int]] | None,
) -> tuple[Words, list[tuple[int, ServedText]]]:
    """The masks uint32[count, words], and the rows that are masked with their texts.

    Drafts are pushed to the text itself and taken back, since a copy of a long text takes long.
    """
    drafts = drafts or [()] * len(texts)
    positions, row = [], 0
    for text, verification, tokens in zip(texts, verifications, drafts, strict=True):
        if text is not None and verification is not None:
            positions.append(_Position(row, text, verification, tokens))
        row += len(tokens) + 1
    words = len(positions[0].text.specials)
    packed = np.full((count, words), _ALL, dtype=np.uint32)
    masked: list[tuple[int, ServedText]] = []
    going = positions
    try:
        while going:
            found = np.empty((len(going), words), dtype=np.uint32)
            packed_masks([at.verification for at in going], found)
            for at, mask in zip(going, found, strict=True):
                packed[at.row] = mask | at.text.specials if at.verification.consistent else mask
                masked.append((at.row, at.text))
            going = [at for at in going if at.next()]
    finally:
        for at in positions:
            at.verification.rewind(at.passed)
    return packed, masked


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
