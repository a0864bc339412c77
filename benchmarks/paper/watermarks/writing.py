"""How each way writes texts side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ticore.consistency import Verifier
from ticore.interfaces import LanguageModel
from ticore.watermarking import Generated, Generator, RowSamplers

from .arms import Arm
from .masking import Masking

Write = Callable[[Sequence[Sequence[int]], RowSamplers, int], list[Generated]]
"""`write(prompts, samplers, length)`: for each prompt, given as ids, a text of `length` tokens."""


def writer(model: LanguageModel, arm: Arm) -> Write:
    """How an arm writes with a model."""
    return WAYS[arm.way](model, arm)


def _generating(model: LanguageModel, arm: Arm) -> Write:
    generator = Generator(model, observation=arm.observation, end_of_text=arm.end_of_text)

    def write(
        prompts: Sequence[Sequence[int]], samplers: RowSamplers, length: int
    ) -> list[Generated]:
        return generator.generate_batch(list(prompts), samplers=samplers, max_new_tokens=length)

    return write


def _masking(model: LanguageModel, arm: Arm) -> Write:
    verifier, generate = Verifier(model.tokenizer), _generating(model, arm)

    def write(
        prompts: Sequence[Sequence[int]], samplers: RowSamplers, length: int
    ) -> list[Generated]:
        return generate(prompts, lambda row: Masking(samplers(row), verifier), length)

    return write


WAYS: Mapping[str, Callable[[LanguageModel, Arm], Write]] = {
    "sampling": _generating,
    "rollback": _generating,
    "masking": _masking,
}
"""By the name that an Arm has."""
