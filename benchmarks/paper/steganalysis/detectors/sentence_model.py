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
_SORTED = 16
"""Batches whose texts are sorted by length together: a batch is padded to its longest text."""
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
        read = self._read(texts)
        scores = np.empty(len(texts))
        with torch.inference_mode():
            for rows in _batches(sorted(range(len(read)), key=lambda row: len(read[row]))):
                scores[rows] = self._logits([read[row] for row in rows]).double().numpy()
        return scores

    def _train(self, texts: Sequence[Seen], hidden: Tensor) -> None:
        read = self._read(texts)
        weights = [*self._encoder.parameters(), *self._head.parameters()]
        optimizer = torch.optim.AdamW(weights, lr=_RATE)
        self._encoder.train()
        for _ in range(_EPOCHS):
            for rows in _batches_of_like_lengths([len(ids) for ids in read]):
                logits = self._logits([read[row] for row in rows])
                loss = F.binary_cross_entropy_with_logits(logits, hidden[rows])
                optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
                optimizer.step()

    def _read(self, texts: Sequence[Seen]) -> list[list[int]]:
        """The encoder's own tokens of each text."""
        words = [text.text for text in texts]
        read = self._tokenizer(words, truncation=True, max_length=LENGTH)
        found: list[list[int]] = read["input_ids"]
        return found

    def _logits(self, read: Sequence[list[int]]) -> Tensor:
        padded = self._tokenizer.pad({"input_ids": list(read)}, return_tensors="pt")
        states = self._encoder(**padded).last_hidden_state
        present = padded["attention_mask"][..., None]
        out: Tensor = self._head((states * present).sum(1) / present.sum(1))[:, 0]
        return out


def _batches_of_like_lengths(lengths: Sequence[int]) -> list[list[int]]:
    """All rows once, in batches in random order, whose texts have about the same length."""
    order = torch.randperm(len(lengths)).tolist()
    batches = [
        batch
        for start in range(0, len(order), _BATCH * _SORTED)
        for batch in _batches(
            sorted(order[start : start + _BATCH * _SORTED], key=lengths.__getitem__)
        )
    ]
    return [batches[place] for place in torch.randperm(len(batches)).tolist()]


def _batches(rows: Sequence[int]) -> list[list[int]]:
    return [list(rows[start : start + _BATCH]) for start in range(0, len(rows), _BATCH)]
