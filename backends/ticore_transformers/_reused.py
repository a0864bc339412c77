"""Memory that is written over in each step: new memory takes longer to get than to fill."""

from __future__ import annotations

import torch


class ReusedRows:
    """Rows float32[n, width] in the same memory each time, for any n; it grows to the largest n."""

    def __init__(self) -> None:
        self._kept = torch.empty(0, 0)

    def like(self, rows: int, example: torch.Tensor) -> torch.Tensor:
        """float32[rows, width] of any content, on the device and of the width of `example`."""
        if len(self._kept) < rows:
            shape = (rows, example.shape[-1])
            self._kept = torch.empty(shape, dtype=torch.float32, device=example.device)
        return self._kept[:rows]
