"""A network of transformers, as the core sees it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import torch

from ticore.backend_kit import CheckpointModel, DeviceDecoder
from ticore.backend_kit.checkpoint import Checkpoint, StartToken
from ticore.interfaces import Logits, Tokenizer

from ._batch import TorchBatchedForward
from ._device_logits import TorchLogits, as_array
from ._forward import TorchForward
from ._network import Network

# What a config says of its file and not of the model.
_UNESSENTIAL = ("_name_or_path", "dtype", "torch_dtype", "transformers_version")


class TorchModel(CheckpointModel):
    """A causal language model of transformers.

    Several threads may use one model, each with its own Decoders. Forward passes then wait for each
    other, because PyTorch keeps number formats for the whole process.

    Args:
        network: computes in one dtype on one device.
        tokenizer: has at most `width` ids.
        width: number of logits.
        checkpoint: the files that both are from; None for a model that was in memory.
        start: what the model reads before a text.
        positions: how many ids the network can read, the start token among them.
        eos_ids: ids that end a text.
    """

    def __init__(
        self,
        network: Network,
        tokenizer: Tokenizer,
        *,
        width: int,
        checkpoint: Checkpoint | None,
        start: StartToken,
        positions: int,
        eos_ids: frozenset[int],
    ) -> None:
        dtype = network.module.dtype
        super().__init__(
            tokenizer,
            checkpoint=checkpoint,
            start=start,
            width=width,
            positions=positions,
            eos_ids=eos_ids,
            dtype=str(dtype).removeprefix("torch."),
            logits_dtype=as_array(torch.empty(0, dtype=dtype)).dtype,
        )
        self.network = network

    def new_decoder(self, ids: list[int], opened: list[int]) -> DeviceDecoder:
        """A Decoder of `ids` that has read `opened`."""
        return DeviceDecoder(self, TorchForward(self.network, TorchLogits), ids, opened)

    def new_batched_forward(self) -> TorchBatchedForward | None:
        """What reads several texts side by side; None where padding or rewinding is impossible."""
        return TorchBatchedForward(self.network, as_array) if self.network.pads else None

    def read_all(self, ids: list[int]) -> Logits:
        """Logits float[len(ids), width] after each id, in one pass."""
        return as_array(self.network.read_all(ids))

    def digest_parts(self) -> Mapping[str, Any]:
        """Weights, config, dtype, kind of device, and tokenizer."""
        module = self.network.module
        config = module.config.to_diff_dict()
        return {
            "class": type(module).__name__,
            "config": {name: config[name] for name in config if name not in _UNESSENTIAL},
            "attention": module.config._attn_implementation,
            "dtype": str(module.dtype),
            "device": module.device.type,
            "start": [self._start.token, self._start.always],
            "weights": digest_of_weights(module),
            "tokenizer": self.tokenizer.digest(),
        }


def digest_of_weights(module: torch.nn.Module) -> str:
    """SHA-256 hex digest of all parameters and buffers, by name, dtype, shape and bytes.

    It is about the weights in memory, and so does not depend on how files split them.
    """
    digest = hashlib.sha256()
    tensors = [*module.named_parameters(), *module.named_buffers()]
    for name, tensor in sorted(tensors, key=lambda pair: pair[0]):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        flat = tensor.detach().cpu().contiguous().flatten()
        digest.update(flat.view(torch.uint8).numpy().data)
    return digest.hexdigest()
