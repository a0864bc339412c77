"""A network with its tokenizer, as the core sees it: start, push, rewind, score."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import torch

from ticore.checkpoint import Checkpoint
from ticore.decoding import DeviceDecoder
from ticore.interfaces import BatchDecoder, Logits, Tokenizer
from ticore.limits import checked_ids, require_float64, require_prompt_fits, require_scorable
from ticore.rows import Rows, checked_prompts, each_row

from .batch import TorchRows
from .network import Network
from .reading import TorchText
from .rows import Row, as_array

# What a config says of its file and not of the model.
_UNESSENTIAL = ("_name_or_path", "dtype", "torch_dtype", "transformers_version")


class TorchModel:
    """A causal language model of transformers.

    Args:
        network: computes in one dtype on one device.
        tokenizer: has at most `width` ids.
        width: number of logits.
        checkpoint: the files that both are from.
        positions: how many ids the network can read, the start token among them.
        eos_ids: ids that end a text.
    """

    def __init__(
        self,
        network: Network,
        tokenizer: Tokenizer,
        *,
        width: int,
        checkpoint: Checkpoint,
        positions: int,
        eos_ids: frozenset[int],
    ) -> None:
        self.network = network
        self._tokenizer = tokenizer
        self._width = width
        self._start = checkpoint.start
        self._checkpoint = checkpoint
        self._positions = positions
        self._eos_ids = eos_ids

    @property
    def tokenizer(self) -> Tokenizer:
        return self._tokenizer

    @property
    def logit_width(self) -> int:
        """Number of logits; may exceed `tokenizer.vocab_size`."""
        return self._width

    @property
    def eos_ids(self) -> frozenset[int]:
        """Ids that end a text."""
        return self._eos_ids

    @property
    def context_length(self) -> int:
        """Most ids that a Decoder can read. One position is the start token's, used or not."""
        return self._positions - 1

    def start(self, prompt_ids: Sequence[int]) -> DeviceDecoder:
        """A Decoder that has read `prompt_ids`, behind the start token if there is one.

        Raises:
            PromptError: the prompt exceeds `context_length`, or is empty and there is nothing to
                read in its place.
            SettingsError: an id has no logit.
        """
        require_prompt_fits(len(prompt_ids), self.context_length)
        checked = self.checked(prompt_ids)
        opened = self._start.before(checked)
        return DeviceDecoder(self, TorchText(self.network, Row), checked, opened)

    def start_batch(
        self, prompts: Sequence[Sequence[int]], rewindable: int | None = None
    ) -> BatchDecoder | None:
        """A BatchDecoder whose rows have read `prompts`, behind the start token if there is one.

        Logits may differ in their last bits from those of a Decoder, and by which rows are read
        beside each other. None where the network cannot read padded texts, or not rewind them.

        Raises as `start`, and names the row.
        """
        if not self.network.pads:
            return None
        checked = checked_prompts(self, prompts)
        opened = each_row(self._start.before, checked)
        rows = TorchRows(self.network, as_array)
        return Rows(self, rows, checked, rows.begin(opened) if opened else (), rewindable)

    def score(self, ids: Sequence[int]) -> Logits:
        """Logits float[len(ids), logit_width] in one pass; row i was computed before ids[i].

        Row i is what `start(ids[:i])` computes. It may differ in its last bits from what a
        Decoder gives that reads one by one.

        Raises:
            CapacityError: `ids` exceed `context_length` by more than one; the last is not read.
            PromptError: there is no id to read before the first.
            SettingsError: an id has no logit.
        """
        require_scorable(len(ids), self.context_length)
        read = self.checked(ids)[:-1]
        if not ids:
            return np.empty((0, self._width), as_array(torch.empty(0, dtype=self._dtype)).dtype)
        rows = self.network.read_all(self._start.before(read))
        if read and not self._start.always:
            rows = torch.cat([self.network.read_all(self._start.before([])), rows])
        return as_array(rows)

    def digest(self) -> str:
        """SHA-256 hex digest of weights, config, dtype, kind of device, and tokenizer.

        Weights are read once for it, a second or so for each GB.
        """
        return self._digest

    def checked(self, ids: Sequence[int]) -> list[int]:
        """`ids` as plain integers. Raises SettingsError where one has no logit."""
        return checked_ids(ids, self._width)

    @property
    def _dtype(self) -> torch.dtype:
        return self.network.module.dtype

    def portable_digest(self) -> str:
        """Hex digest of the checkpoint. Raises SettingsError where the dtype is not float64.

        The network is trusted to be as it was loaded: weights changed since are not noticed here.
        """
        require_float64(str(self._dtype).removeprefix("torch."))
        return self._checkpoint.digest()

    @cached_property
    def _digest(self) -> str:
        module = self.network.module
        config = module.config.to_diff_dict()
        parts = {
            "class": type(module).__name__,
            "config": {name: config[name] for name in config if name not in _UNESSENTIAL},
            "attention": module.config._attn_implementation,
            "dtype": str(self._dtype),
            "device": module.device.type,
            "start": [self._start.token, self._start.always],
            "weights": digest_of_weights(module),
            "tokenizer": self._tokenizer.digest(),
        }
        text = json.dumps(parts, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()


def digest_of_weights(module: torch.nn.Module) -> str:
    """SHA-256 hex digest of all parameters and buffers, by name, dtype, shape and bytes.

    Of what is in memory and not of files: however they are split, the weights are the same.
    """
    digest = hashlib.sha256()
    tensors = [*module.named_parameters(), *module.named_buffers()]
    for name, tensor in sorted(tensors, key=lambda pair: pair[0]):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        flat = tensor.detach().cpu().contiguous().flatten()
        digest.update(flat.view(torch.uint8).numpy().data)
    return digest.hexdigest()
