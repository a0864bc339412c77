"""A network of llama.cpp, as the core sees it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import llama_cpp
import numpy as np

from ticore.backend_kit import ArrayDecoder, CheckpointModel
from ticore.backend_kit.checkpoint import StartToken
from ticore.errors import SettingsError
from ticore.interfaces import ChatTemplate, Logits, Tokenizer

from ._forward import LlamaCppForward
from ._network import Network


class LlamaCppModel(CheckpointModel):
    """A causal language model run by llama.cpp on the CPU.

    Several threads may use one model, each with its own Decoders.

    Args:
        network: the weights, ready to run.
        tokenizer: has at most as many ids as the network has logits.
        path: of the GGUF file.
        start: what the model reads before a text.
        eos_ids: ids that end a text.
        template: how conversations are written; None if the file does not say.
    """

    def __init__(
        self,
        network: Network,
        tokenizer: Tokenizer,
        *,
        path: Path,
        start: StartToken,
        eos_ids: frozenset[int],
        template: ChatTemplate | None,
    ) -> None:
        super().__init__(
            tokenizer,
            checkpoint=None,
            start=start,
            width=network.width,
            positions=network.context,
            eos_ids=eos_ids,
            dtype="float32",
            logits_dtype=np.float32,
        )
        self.network = network
        self._path = path
        self._template = template

    @property
    def chat_template(self) -> ChatTemplate | None:
        """How a conversation is written; None if the file does not say."""
        return self._template

    def portable_digest(self) -> str:
        """None, since other backends do not compute what llama.cpp does.

        Raises:
            SettingsError: always.
        """
        raise SettingsError(
            "expected a model that computes in float64, as portable numerics need, found one of "
            "llama.cpp, which computes with rounded activations; open the file with gguf:FILE, "
            "torch:FILE or jax:FILE and dtype='float64'"
        )

    def new_decoder(self, ids: list[int], opened: list[int]) -> ArrayDecoder:
        """A Decoder of `ids` that has read `opened`."""
        return ArrayDecoder(self, LlamaCppForward(self.network), ids, opened)

    def new_batched_forward(self) -> None:
        """None: on a CPU, llama.cpp takes as long per text for several as for one."""
        return

    def read_all(self, ids: list[int]) -> Logits:
        """Logits float32[len(ids), width] after each id, many ids in one pass."""
        return self.network.new_cache().read_all(ids)

    def digest_parts(self) -> Mapping[str, Any]:
        """File, version of the binding, how it was built for which processor, and tokenizer."""
        with self._path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return {
            "file": digest,
            "llama-cpp-python": version("llama-cpp-python"),
            "system": llama_cpp.llama_print_system_info().decode(),
            "context": self.network.context,  # some models turn their angles by it
            "threads": self.network.threads,
            "start": [self._start.token, self._start.always],
            "tokenizer": self.tokenizer.digest(),
        }
