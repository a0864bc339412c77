"""Samples: messages that are hidden in texts side by side, read back and measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import ticore
from benchmarks._harness.sampling import sample_key, sample_random
from benchmarks._harness.text_statistics import read_back
from benchmarks._harness.timing import timed
from benchmarks.paper.prompt_cuts import as_given_back
from benchmarks.paper.setting import Setting
from benchmarks.paper.side_by_side import SideBySide
from ticore.codecs import ArithmeticCodec
from ticore.errors import TicoreError
from ticore.evaluation import Meter

from .plan import BITS, CHECKSUM, LOOKAHEAD, SEARCH, STEPWISE, VIABLE

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject, Sample, Worker
    from ticore.steganography._step import Step

OTHER_BITS = "other bits"
"""The error of a text from which other bits are read, and nothing is raised."""


def make_worker(setting: Setting) -> Worker:
    """The worker of a setting: `Sampler.take`."""
    return Sampler.opened(setting).take


class Sampler(SideBySide):
    """Takes samples with one model."""

    dtype = "float64"

    def take(self, method: str, k: int, first: int) -> Sample:
        """The texts from number `first` on, written and then read side by side."""
        numbers = self.numbers(first)
        prompts = [as_given_back(self._model, self._setting.prompt(n)) for n in numbers]
        keys = [sample_key(self._setting.seed, n) for n in numbers]
        checksum = CHECKSUM if method == SEARCH else 0
        bits = [self._bits(n)[: BITS - checksum] for n in numbers]
        # Its steps are not tokens.
        meters = None if method == LOOKAHEAD else [_TimedMeter() for _ in numbers]
        stego = ticore.Steganographer(
            self._model,
            top_k=k,
            disambiguation=STEPWISE if method == VIABLE else method,
            mode="viable" if method == VIABLE else "prefix",
            numerics="portable",
        )
        writing, written = timed(
            stego.embed_bits_batch,
            bits,
            prompts=prompts,
            keys=keys,
            stop="paper",
            checksum=checksum,
            observers=meters,
            batch_size=len(numbers),
        )
        there = [n for n, each in enumerate(written) if not isinstance(each, TicoreError)]
        reading, read = timed(
            stego.extract_bits_batch,
            [str(written[n]) for n in there],
            BITS - checksum,
            prompts=[prompts[n] for n in there],
            keys=[keys[n] for n in there],
            stop="paper",
            checksum=checksum,
            batch_size=len(numbers),
        )
        watching = sum(meter.seconds for meter in meters or ())
        seconds = (writing - watching + reading) / len(numbers)
        answers = iter(read)
        found = [each if isinstance(each, TicoreError) else next(answers) for each in written]
        texts = [
            {"method": method, "k": k, "index": number, "prompt": prompts[n], "seconds": seconds}
            | self._measured(prompts[n], written[n], meters[n].meter if meters else None)
            | outcome(bits[n], found[n])
            for n, number in enumerate(numbers)
        ]
        return {"method": method, "k": k, "first": first, "texts": texts}

    def _bits(self, number: int) -> list[int]:
        draw = sample_random(self._setting.seed, number)
        return [draw.getrandbits(1) for _ in range(BITS)]

    def _measured(
        self, prompt: str, written: ticore.Embedding | TicoreError, meter: Meter | None
    ) -> JsonObject:
        if isinstance(written, TicoreError):
            return {"text": None, "read": None}
        parts: JsonObject = {"truncation": None, "filter": written.kl_filter, "codec": None}
        perplexity = kld = None
        if meter is not None:
            measures = meter.measures()
            perplexity = measures.perplexity
            parts = {
                "truncation": measures.kl_truncation,
                "filter": measures.kl_filter,
                "codec": measures.kl_codec,
            }
            # As the authors' program: -ln of the probability of what the codec chooses from.
            kld = math.log(2) * (parts["truncation"] + parts["filter"])
        read = read_back(self._model, prompt, written.text)
        return {
            "text": written.text,
            "read": read,
            "bits": written.bits,
            "tokens": written.token_count,
            "bpt": written.bits_per_token,
            "ppl": read["ppl"],
            "ppl_written": perplexity,
            "kl": parts,
            "kld": kld,
        }


class _TimedMeter:
    """A Meter with a clock, since its time is no part of writing."""

    def __init__(self) -> None:
        self.meter = Meter(ArithmeticCodec())
        self.seconds = 0.0

    def __call__(self, step: Step, index: int) -> None:
        seconds, _ = timed(self.meter, step, index)
        self.seconds += seconds


def outcome(bits: Sequence[int], found: Sequence[int] | TicoreError) -> JsonObject:
    """Whether the bits were recovered, and if not, what went wrong in writing or reading."""
    if isinstance(found, TicoreError):
        return {"recovered": False, "error": type(found).__name__}
    return {"recovered": found == bits, "error": None if found == bits else OTHER_BITS}
