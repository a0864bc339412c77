"""How each way writes texts side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ticore.consistency import Verifier
from ticore.errors import SettingsError
from ticore.interfaces import LanguageModel
from ticore.watermarking import Generated, Generator, RowSamplers

from .arms import ATTEMPTS, Arm
from .giving_up import GivingUp
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


def _exact(model: LanguageModel, arm: Arm) -> Write:
    if not model.eos_ids:
        raise SettingsError(
            f"expected a model that has a token for the end of a text, which ends attempts to "
            f"write, found none; leave out the arm {arm.name!r}"
        )
    # One attempt more than samplers make: the last one is empty, where a sampler gives up.
    generator = Generator(model, rollback="exact", max_attempts=ATTEMPTS + 1)

    def write(
        prompts: Sequence[Sequence[int]], samplers: RowSamplers, length: int
    ) -> list[Generated]:
        return generator.generate_batch(
            list(prompts),
            samplers=lambda row: GivingUp(samplers(row), model.eos_ids, ATTEMPTS),
            max_new_tokens=length,
        )

    return write


WAYS: Mapping[str, Callable[[LanguageModel, Arm], Write]] = {
    "sampling": _generating,
    "rollback": _generating,
    "masking": _masking,
    "exact": _exact,
}
"""By the name that an Arm has."""
