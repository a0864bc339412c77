"""Writes one message and reads it again: all that is kept of a sample."""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import takewhile
from operator import eq
from typing import ParamSpec, TypeVar

import ticore
from benchmarks.clock import Clocked
from benchmarks.spread import timed
from benchmarks.workers import Found, Write
from ticore.codecs import codec_named
from ticore.draws import Draws
from ticore.errors import CapacityError, ExtractionError
from ticore.evaluation.metrics import Meter, log_likelihood, peak_memory
from ticore.interfaces import LanguageModel
from ticore.steganography.walk import Step

from .plan import Plan

P = ParamSpec("P")
T = TypeVar("T")

OTHER_BITS = "other bits"
"""How a text is misread whose reader takes no notice."""

_WARM_UP = -1  # the number of a sample that is none


def open_samples(plan: Plan, prompts: Sequence[str]) -> Write:
    """What writes the samples of a plan: `Samples.write`."""
    return Samples(ticore.load_model(plan.place), plan, prompts).write


class Samples:
    """Writes the samples of a plan with one model.

    Args:
        model: any.
        plan: how.
        prompts: taken in turn.
    """

    def __init__(self, model: LanguageModel, plan: Plan, prompts: Sequence[str]) -> None:
        self._model = Clocked(model)
        self._plan = plan
        self._prompts = prompts
        self._warm: set[tuple[str, str, int]] = set()

    def write(self, codec: str, disambiguation: str, top_k: int, index: int) -> Found:
        """Sample `index` of a codec and a disambiguation that choose from `top_k` candidates."""
        kind = codec, disambiguation, top_k
        if kind not in self._warm:
            # Another text first, so that the first sample does not pay for tables.
            self._text(*kind, _WARM_UP)
            self._warm.add(kind)
        name = {"codec": codec, "disambiguation": disambiguation, "top_k": top_k, "index": index}
        return name | self._text(*kind, index)

    def _text(self, codec: str, disambiguation: str, top_k: int, index: int) -> Found:
        plan, prompt = self._plan, self._prompts[index % len(self._prompts)]
        draw = random.Random(f"{plan.seed} {index}")
        bits = [draw.getrandbits(1) for _ in range(plan.bits)]
        stego = ticore.Steganographer(
            self._model,
            key=self._key(index),
            prompt=prompt,
            temperature=plan.temperature,
            top_k=top_k,
            codec=codec,
            disambiguation=disambiguation,
            finish="none",
            entropy=draw.randbytes,
        )
        observer = _Observer(codec, plan.temperature)
        try:
            writing, written = self._clocked(stego.embed_bits_report, bits, observer=observer)
        except CapacityError as error:
            return {"failed": str(error)}
        reading, wrong = self._clocked(_misread, stego, written.text, bits)
        measures = observer.meter.measures()
        prompt_ids = self._model.tokenizer.encode(prompt)
        read = self._model.tokenizer.encode(written.text)
        # A text may be read so that its first token takes up the end of the prompt.
        known = _in_common(prompt_ids, read)
        return {
            "failed": None,
            "text": written.text,
            "bits": written.bits,
            "tokens": written.tokens,
            "tokens_written": len(written.ids),
            "tokens_read": len(read) - known,
            "measures": asdict(measures),
            "utilisation": measures.utilisation(written.bits),
            "nll": self._nll(prompt_ids, written.ids),
            "nll_read": self._nll(read[:known], read[known:]),
            "wrong": wrong,
            "writing": writing | {"observer_seconds": observer.seconds},
            "reading": reading,
            "peak_memory": peak_memory(),
        }

    def _clocked(
        self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs
    ) -> tuple[dict[str, float], T]:
        """What `work` took and gave."""
        self._model.seconds = 0.0
        seconds, result = timed(work, *args, **kwargs)
        return {"seconds": seconds, "model_seconds": self._model.seconds}, result

    def _nll(self, prompt_ids: Sequence[int], ids: Sequence[int]) -> float | None:
        """By the model as it is, at temperature 1; None where its context does not hold them."""
        found = log_likelihood(self._model, prompt_ids, ids)
        return None if found is None else -found

    def _key(self, index: int) -> bytes:
        """Each sample has its own, so that no figure is about one key's draws."""
        return hashlib.blake2b(f"key {self._plan.seed} {index}".encode(), digest_size=32).digest()


class _Observer:
    """A Meter with a clock: what it takes is no part of writing."""

    def __init__(self, codec: str, temperature: float) -> None:
        # What it is asked for does not depend on the draws.
        self.meter = Meter(codec_named(codec).make(draws=Draws(bytes(32), "codec")), temperature)
        self.seconds = 0.0

    def __call__(self, step: Step, index: int) -> None:
        started = time.perf_counter()
        self.meter(step, index)
        self.seconds += time.perf_counter() - started


def _misread(stego: ticore.Steganographer, text: str, bits: list[int]) -> str | None:
    """How the text is misread: `OTHER_BITS` or an error's name; None if it is not."""
    try:
        return None if stego.extract_bits(text, len(bits)) == bits else OTHER_BITS
    except ExtractionError as error:
        return type(error).__name__


def _in_common(left: Sequence[int], right: Sequence[int]) -> int:
    """How many ids both begin with."""
    return sum(1 for _ in takewhile(lambda pair: eq(*pair), zip(left, right, strict=False)))
