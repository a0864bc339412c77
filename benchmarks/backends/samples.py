"""Samples: a message is written with one model and read with others."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, cast

import ticore
from benchmarks._harness.sampling import sample_key, sample_random
from ticore.errors import CapacityError, ExtractionError
from ticore.interfaces import LanguageModel, PortableModel

from .perturbed_model import PerturbedModel, logits_before
from .plan import EXCHANGE, PORTABLE, TASK_NAMES, Plan

if TYPE_CHECKING:
    from benchmarks._harness.types import Sample, Worker


def make_worker(plan: Plan, prompts: Sequence[str]) -> Worker:
    """The worker of a plan: `MessageSampler.take`."""
    return MessageSampler(plan, prompts).take


class MessageSampler:
    """Takes the samples of a plan.

    Args:
        plan: the settings.
        prompts: sample `n` has prompt `n`, modulo their number.
    """

    def __init__(self, plan: Plan, prompts: Sequence[str]) -> None:
        self._plan = plan
        self._prompts = prompts

    def take(self, part: str, subject: str, grid_bits: int, index: int) -> Sample:
        """Sample `index` of a codec, or of a model where the part is `EXCHANGE`.

        Returns:
            The task, and `misread`: the noise levels, or the models, that misread the message. None
            where no message was written.
        """
        task = dict(zip(TASK_NAMES, (part, subject, grid_bits, index), strict=True))
        misread = (
            self._misreading_models(subject, index)
            if part == EXCHANGE
            else self._misreading_noise_levels(subject, grid_bits, index, sealed=part == PORTABLE)
        )
        return task | {"misread": misread}

    def _misreading_models(self, writer: str, index: int) -> list[str] | None:
        message = sample_random(self._plan.seed, index).randbytes(self._plan.bits // 8)
        try:
            text = self._stego(load_exact(writer), index, numerics="portable").embed(message).text
        except CapacityError:
            return None
        readers = {
            place: self._stego(load_exact(place), index, numerics="portable")
            for place in self._plan.models
        }
        return [place for place, reader in readers.items() if not _reads(reader, text, message)]

    def _misreading_noise_levels(
        self, codec: str, grid_bits: int, index: int, *, sealed: bool
    ) -> list[float] | None:
        """Sealed messages are written with portable numerics, raw bits with same-stack numerics."""
        model = load_exact(self._plan.models[0])
        settings = {
            "codec": codec,
            "grid_bits": grid_bits,
            "numerics": "portable" if sealed else "same-stack",
        }
        draw = sample_random(self._plan.seed, index)
        writer = self._stego(model, index, **settings)
        bits = [draw.getrandbits(1) for _ in range(self._plan.bits)]
        message = draw.randbytes(self._plan.bits // 8)
        try:
            written = writer.embed(message) if sealed else writer.embed_bits(bits)
        except CapacityError:
            return None
        prompt_ids = model.tokenizer.encode(self._prompt(index))
        logits = logits_before(model, prompt_ids, written.ids)
        misread = []
        for n, noise in enumerate(self._plan.noise_levels):
            seed = (self._plan.seed, index, n)
            other = PerturbedModel(model, prompt_ids, logits, noise, seed)
            reader = self._stego(other, index, **settings)
            if not (
                _reads(reader, written.text, message)
                if sealed
                else _reads_bits(reader, written.text, bits)
            ):
                misread.append(noise)
        return misread

    def _stego(self, model: LanguageModel, index: int, **settings: Any) -> ticore.Steganographer:
        return ticore.Steganographer(
            model,
            key=sample_key(self._plan.seed, index),
            prompt=self._prompt(index),
            top_k=self._plan.top_k,
            finish="none",
            entropy=sample_random(self._plan.seed, index, "entropy").randbytes,
            **settings,
        )

    def _prompt(self, index: int) -> str:
        return self._prompts[index % len(self._prompts)]


@cache
def load_exact(place: str) -> PortableModel:
    """The model in float64, which portable numerics need; each model is loaded once."""
    return cast(PortableModel, ticore.load_model(place, dtype="float64"))


def _reads(reader: ticore.Steganographer, text: str, message: bytes) -> bool:
    try:
        return reader.extract(text) == message
    except ExtractionError:
        return False


def _reads_bits(reader: ticore.Steganographer, text: str, bits: list[int]) -> bool:
    try:
        return reader.extract_bits(text, len(bits)) == bits
    except ExtractionError:
        return False
