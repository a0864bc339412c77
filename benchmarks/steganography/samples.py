"""Samples: one message is written, read back and measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import ticore
from benchmarks._harness.sampling import negative_log_likelihood, sample_key, sample_random
from benchmarks._harness.timed_model import TimedModel
from benchmarks._harness.timing import timed
from ticore._support.common_beginning import common_length
from ticore._support.shared_randomness import SharedRandomness
from ticore.codecs import codec_named
from ticore.errors import CapacityError, ExtractionError
from ticore.evaluation import Meter, peak_memory
from ticore.interfaces import LanguageModel

from .plan import Plan

if TYPE_CHECKING:
    from benchmarks._harness.types import Sample, Worker
    from ticore.steganography._step import Step

P = ParamSpec("P")
T = TypeVar("T")

OTHER_BITS = "other bits"
"""The misreading of a text from which other bits are read, and no error is raised."""

_WARM_UP = -1  # the index of a sample that is thrown away


def make_worker(plan: Plan, prompts: Sequence[str]) -> Worker:
    """The worker of a plan: `Sampler.take` with the plan's model."""
    return Sampler(ticore.load_model(plan.model), plan, prompts).take


class Sampler:
    """Takes samples with one model.

    Args:
        model: that writes.
        plan: the settings.
        prompts: sample `n` has prompt `n`, modulo their number.
    """

    def __init__(self, model: LanguageModel, plan: Plan, prompts: Sequence[str]) -> None:
        self._model = TimedModel(model)
        self._plan = plan
        self._prompts = prompts
        self._warm: set[tuple[str, str, int]] = set()

    def take(self, codec: str, disambiguation: str, top_k: int, index: int) -> Sample:
        """Sample `index` of a method that chooses from `top_k` candidates per step."""
        kind = codec, disambiguation, top_k
        if kind not in self._warm:
            # Another message first, so that the first sample does not include building tables.
            self._message(*kind, _WARM_UP)
            self._warm.add(kind)
        task = {"codec": codec, "disambiguation": disambiguation, "top_k": top_k, "index": index}
        return task | self._message(*kind, index)

    def _message(self, codec: str, disambiguation: str, top_k: int, index: int) -> Sample:
        plan, prompt = self._plan, self._prompts[index % len(self._prompts)]
        draw = sample_random(plan.seed, index)
        bits = [draw.getrandbits(1) for _ in range(plan.bits)]
        stego = ticore.Steganographer(
            self._model,
            key=sample_key(plan.seed, index),
            prompt=prompt,
            mode="prefix",  # as the paper verifies
            temperature=plan.temperature,
            top_k=top_k,
            codec=codec,
            disambiguation=disambiguation,
            finish="none",
            entropy=draw.randbytes,
        )
        observer = _TimedMeter(codec, plan.temperature, self._model)
        try:
            embed_times, written = self._timed(stego.embed_bits, bits, observer=observer)
        except CapacityError as error:
            return {"failure": str(error)}
        extract_times, misreading = self._timed(_misreading, stego, written.text, bits)
        measures = observer.meter.measures()
        prompt_ids = self._model.tokenizer.encode(prompt)
        read_ids = self._model.tokenizer.encode(written.text)
        # The reader's first token may span the end of the prompt and the start of the message.
        shared = common_length(prompt_ids, read_ids)
        return {
            "failure": None,
            "text": written.text,
            "bits": written.bits,
            "token_count": written.token_count,
            "written_token_count": len(written.ids),
            "read_token_count": len(read_ids) - shared,
            "measures": asdict(measures),
            "utilisation": measures.utilisation(written.bits),
            "nll": negative_log_likelihood(self._model, prompt_ids, written.ids),
            "nll_read": negative_log_likelihood(self._model, read_ids[:shared], read_ids[shared:]),
            "misreading": misreading,
            "embed_times": embed_times | {"observer_seconds": observer.seconds},
            "extract_times": extract_times,
            "peak_memory": peak_memory(),
        }

    def _timed(
        self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs
    ) -> tuple[dict[str, float], T]:
        """The seconds of a call, in all and in the model, and its result."""
        self._model.seconds = 0.0
        seconds, result = timed(work, *args, **kwargs)
        return {"seconds": seconds, "model_seconds": self._model.seconds}, result


class _TimedMeter:
    """A Meter with a clock, since its time is no part of writing, nor of the model."""

    def __init__(self, codec: str, temperature: float, model: TimedModel) -> None:
        self._model = model
        # The meter asks the codec for probabilities, which do not depend on its random numbers.
        self.meter = Meter(
            codec_named(codec).make(randomness=SharedRandomness(bytes(32), "codec")), temperature
        )
        self.seconds = 0.0

    def __call__(self, step: Step, index: int) -> None:
        in_model = self._model.seconds
        seconds, _ = timed(self.meter, step, index)
        self.seconds += seconds
        self._model.seconds = in_model  # it asks for the logits too


def _misreading(stego: ticore.Steganographer, text: str, bits: list[int]) -> str | None:
    """What goes wrong when the text is read: `OTHER_BITS`, an error's name, or None for nothing."""
    try:
        return None if stego.extract_bits(text, len(bits)) == bits else OTHER_BITS
    except ExtractionError as error:
        return type(error).__name__
