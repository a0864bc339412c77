"""A sentence-embedding model, fine-tuned: it stands in for the paper's BERT."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .detector import LENGTH, Seen

_EPOCHS = 3
_BATCH = 32
_RATE = 5e-5


class FineTuned:
    """A pretrained encoder with a linear layer on the mean of its states, all of it trained.

    Args:
        folder: a directory in the Hugging Face layout, such as that of MiniLM-L6.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def fit(self, texts: Sequence[Seen], hidden: npt.NDArray[np.bool_], seed: int) -> None:
        """See `Detector.fit`."""
        transformers = import_module("transformers")
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self._tokenizer = transformers.AutoTokenizer.from_pretrained(self._folder)
            self._encoder: Any = transformers.AutoModel.from_pretrained(self._folder)
            self._head = nn.Linear(self._encoder.config.hidden_size, 1)
            self._train(texts, torch.from_numpy(hidden.astype(np.float32)))

    def scores(self, texts: Sequence[Seen]) -> npt.NDArray[np.float64]:
        """See `Detector.scores`."""
        self._encoder.eval()
        with torch.inference_mode():
            parts = [
                self._logits(texts[start : start + _BATCH])
                for start in range(0, len(texts), _BATCH)
            ]
        return torch.cat(parts).double().numpy()

    def _train(self, texts: Sequence[Seen], hidden: Tensor) -> None:
        weights = [*self._encoder.parameters(), *self._head.parameters()]
        optimizer = torch.optim.AdamW(weights, lr=_RATE)
        self._encoder.train()
        for _ in range(_EPOCHS):
            order = torch.randperm(len(texts)).tolist()
            for start in range(0, len(texts), _BATCH):
                rows = order[start : start + _BATCH]
                logits = self._logits([texts[row] for row in rows])
                loss = F.binary_cross_entropy_with_logits(logits, hidden[rows])
                optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
                optimizer.step()

    def _logits(self, texts: Sequence[Seen]) -> Tensor:
        settings: dict[str, Any] = {"truncation": True, "max_length": LENGTH, "padding": True}
        read = self._tokenizer([text.text for text in texts], return_tensors="pt", **settings)
        states = self._encoder(**read).last_hidden_state
        present = read["attention_mask"][..., None]
        out: Tensor = self._head((states * present).sum(1) / present.sum(1))[:, 0]
        return out
