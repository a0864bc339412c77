"""Small networks over the tokens of a text, trained from scratch.

LS-CNN (Wen et al. 2019, "Convolutional Neural Network Based Text Steganalysis"): convolutions of
three widths over embeddings, the largest value of each filter, one linear layer.
R-BiLSTM-C (Niu et al. 2019, "A Hybrid R-BiLSTM-C Neural Network Based Text Steganalysis"): a
bidirectional LSTM, added to its input, and convolutions over its states.
A transformer of two layers stands in for a fine-tuned BERT where no pretrained model is at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .detector import LENGTH, Seen

_WIDTH = 128
_FILTERS = 128
_KERNELS = (3, 4, 5)
_EPOCHS = 8
_BATCH = 64
_RATE = 1e-3
PAD = 0


class Filters(nn.Module):
    """Convolutions of several widths, and the largest value of each: [n, length, width] in."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.parts = nn.ModuleList(
            nn.Conv1d(width, _FILTERS, kernel, padding=kernel // 2) for kernel in _KERNELS
        )

    def forward(self, x: Tensor) -> Tensor:
        channels = x.transpose(1, 2)
        return torch.cat([F.relu(part(channels)).amax(-1) for part in self.parts], -1)


class LsCnn(nn.Module):
    """LS-CNN. Logits [n] of ids int64[n, length]."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(size, _WIDTH, padding_idx=PAD)
        self.filters = Filters(_WIDTH)
        self.head = nn.Sequential(nn.Dropout(0.5), nn.Linear(_FILTERS * len(_KERNELS), 1))

    def forward(self, ids: Tensor) -> Tensor:
        out: Tensor = self.head(self.filters(self.embedding(ids)))[:, 0]
        return out


class RBiLstmC(nn.Module):
    """R-BiLSTM-C. Logits [n] of ids int64[n, length]."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(size, _WIDTH, padding_idx=PAD)
        self.lstm = nn.LSTM(_WIDTH, _WIDTH // 2, batch_first=True, bidirectional=True)
        self.filters = Filters(_WIDTH)
        self.head = nn.Sequential(nn.Dropout(0.5), nn.Linear(_FILTERS * len(_KERNELS), 1))

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embedding(ids)
        out: Tensor = self.head(self.filters(x + self.lstm(x)[0]))[:, 0]
        return out


class SmallTransformer(nn.Module):
    """Two layers of attention, the mean of their states. Logits [n] of ids int64[n, length]."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(size, _WIDTH, padding_idx=PAD)
        self.positions = nn.Parameter(0.02 * torch.randn(LENGTH, _WIDTH))
        layer = nn.TransformerEncoderLayer(_WIDTH, 4, 2 * _WIDTH, 0.1, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(_WIDTH, 1)

    def forward(self, ids: Tensor) -> Tensor:
        present = ids != PAD
        x = self.embedding(ids) + self.positions[: ids.shape[1]]
        x = self.layers(x, src_key_padding_mask=~present)
        mean = (x * present[..., None]).sum(1) / present.sum(1, keepdim=True).clamp(min=1)
        out: Tensor = self.head(mean)[:, 0]
        return out


class NetworkDetector:
    """Trains a network on the ids of texts, each cut or padded to the longest it learns from.

    That is never more than `LENGTH`; the first tokens of texts are not padded to it.

    Args:
        make: a network for ids below a number; the id `PAD` fills up short texts.
    """

    def __init__(self, make: Callable[[int], nn.Module]) -> None:
        self._make = make
        self._numbers: dict[int, int] = {}

    def fit(self, texts: Sequence[Seen], hidden: npt.NDArray[np.bool_], seed: int) -> None:
        """See `Detector.fit`."""
        # Ids get new numbers, so that a vocabulary of 150,000 does not make a huge network.
        known = sorted({token for text in texts for token in text.ids})
        self._numbers = {token: n for n, token in enumerate(known, start=2)}
        self._length = min(LENGTH, max(len(text.ids) for text in texts))
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self._network = self._make(len(known) + 2)
            self._train(self._ids(texts), torch.from_numpy(hidden.astype(np.float32)))

    def scores(self, texts: Sequence[Seen]) -> npt.NDArray[np.float64]:
        """See `Detector.scores`."""
        self._network.eval()
        with torch.inference_mode():
            parts = [self._network(part) for part in _batches(self._ids(texts))]
        return torch.cat(parts).double().numpy()

    def _train(self, ids: Tensor, hidden: Tensor) -> None:
        optimizer = torch.optim.Adam(self._network.parameters(), lr=_RATE)
        self._network.train()
        for _ in range(_EPOCHS):
            for rows in _batches(torch.randperm(len(ids))):
                loss = F.binary_cross_entropy_with_logits(self._network(ids[rows]), hidden[rows])
                optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
                optimizer.step()

    def _ids(self, texts: Sequence[Seen]) -> Tensor:
        unknown = 1
        ids = torch.full((len(texts), self._length), PAD)
        for row, text in enumerate(texts):
            found = [self._numbers.get(token, unknown) for token in text.ids[: self._length]]
            ids[row, : len(found)] = torch.tensor(found)
        return ids


def _batches(rows: Tensor) -> list[Tensor]:
    return [rows[start : start + _BATCH] for start in range(0, len(rows), _BATCH)]
