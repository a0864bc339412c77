"""What the masks of one request did, as one line of JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import torch


@dataclass
class Report:
    """What the masks of one request did.

    A server learns of forced tokens and of the masks' cost here; nothing else tells it.

    Attributes:
        name: what the request called it.
        masked: the number of steps in which candidates were masked.
        unmasked: the number of steps in which none could be, since no text begins with what the
            engine had written, or since the engine did not know its last token yet.
        why: the first reason for such a step; empty if there was none.
    """

    name: str
    masked: int = 0
    unmasked: int = 0
    why: str = ""
    # float64[4] on the device, so that no step waits for it: the number of masks, the sum of the
    # probability mass that each one removed, its maximum, and how many left no candidate.
    _sums: torch.Tensor | None = field(default=None, repr=False)

    def add(self, mass: torch.Tensor, dead_end: torch.Tensor) -> None:
        """Count one mask, without waiting for the device.

        Args:
            mass: float[], the probability of the candidates that the mask removed.
            dead_end: bool[], whether it would have removed all that the engine allowed.
        """
        mass, dead_end = mass.double(), dead_end.double()
        new = torch.stack((torch.ones_like(mass), mass, mass, dead_end))
        if (old := self._sums) is not None:
            new = torch.cat((old[:2] + new[:2], torch.maximum(old[2:3], mass), old[3:] + dead_end))
        self._sums = new

    def refuse(self, why: str) -> None:
        """Count a step in which nothing could be masked."""
        self.unmasked += 1
        self.why = self.why or why

    def line(self) -> str:
        """All of it as JSON. Waits for the device.

        `removed_mean` and `removed_most` are the mean and the maximum, over all masks, of the
        probability that was removed, in the logits as the processor got them, at temperature 1.
        `dead_ends` counts masks that were lifted, since they left no candidate.
        """
        masks, mass, most, dead_ends = [0.0] * 4 if self._sums is None else self._sums.tolist()
        found: dict[str, Any] = {
            "report": self.name,
            "masked": self.masked,
            "unmasked": self.unmasked,
            "why": self.why,
            "removed_mean": mass / max(1.0, masks),
            "removed_most": most,
            "dead_ends": int(dead_ends),
        }
        return json.dumps(found, ensure_ascii=False)
