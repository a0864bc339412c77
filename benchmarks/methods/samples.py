"""Samples: one message is written and read back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from benchmarks.round_trip.samples import Plan
from benchmarks.round_trip.samples import Sampler as RoundTrips
from ticore.interfaces import LanguageModel

from .plan import METHODS

if TYPE_CHECKING:
    from benchmarks._harness.types import Sample, Worker


Prompts = Mapping[str, Mapping[str, Sequence[str]]]
"""By model and kind of text. Message `n` has prompt `n`, modulo their number."""


def make_worker(plan: Plan, prompts: Prompts) -> Worker:
    """The worker of a plan, whose model and method each task replaces: `Sampler.take`."""
    return Sampler(plan, prompts).take


class Sampler:
    """Takes samples.

    Args:
        plan: the settings.
        prompts: see `Prompts`.
    """

    def __init__(self, plan: Plan, prompts: Prompts) -> None:
        self._plan = plan
        self._prompts = prompts
        self._open = cache(self._opened)

    def take(self, index: int, model: str, kind: str, method: str) -> Sample:
        """Message `index`, in a text of some kind, by a method."""
        task = {"index": index, "model": model, "kind": kind, "method": method}
        way = METHODS[method]
        plan = replace(
            self._plan,
            model=model,
            codec=way.codec,
            disambiguation=way.disambiguation,
            mode=way.mode,
            chat=kind == "chat",
        )
        opened = self._open(model)
        taken = RoundTrips(opened, opened, plan, self._prompts[model][kind]).take(index, 1)
        [text] = taken["texts"]
        if "refused" in text:
            return task | {"failure": text["refused"]}
        return {**task, **text, "failure": None}

    @staticmethod
    def _opened(model: str) -> LanguageModel:
        return Plan(model=model).open_models()[0]
