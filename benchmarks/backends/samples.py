"""Messages that are written by one side and read by others."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from functools import cache
from typing import Any, cast

import ticore
from benchmarks.workers import Found, Write
from ticore.errors import CapacityError, ExtractionError
from ticore.interfaces import LanguageModel, PortableModel

from .noisy import Noisy, rows_of
from .plan import EXCHANGE, NAMES, PORTABLE, Plan


def open_samples(plan: Plan, prompts: Sequence[str]) -> Write:
    """What writes the samples of a plan: `Samples.write`."""
    return Samples(plan, prompts).write


class Samples:
    """Writes the samples of a plan.

    Args:
        plan: how.
        prompts: taken in turn.
    """

    def __init__(self, plan: Plan, prompts: Sequence[str]) -> None:
        self._plan = plan
        self._prompts = prompts

    def write(self, part: str, what: str, grid_bits: int, index: int) -> Found:
        """Sample `index` of a codec, or of a backend's place where the part is EXCHANGE.

        It says who misread it: of the noises, or of the places. None where nothing was written.
        """
        name = dict(zip(NAMES, (part, what, grid_bits, index), strict=True))
        misread = (
            self._exchanged(what, index)
            if part == EXCHANGE
            else self._noisy(what, grid_bits, index, sealed=part == PORTABLE)
        )
        return name | {"misread": misread}

    def _exchanged(self, place: str, index: int) -> list[str] | None:
        message = self._random(index).randbytes(self._plan.bits // 8)
        try:
            text = self._side(_model(place), index, numerics="portable").embed(message)
        except CapacityError:
            return None
        readers = {
            place: self._side(_model(place), index, numerics="portable")
            for place in self._plan.places
        }
        return [place for place, reader in readers.items() if not _reads(reader, text, message)]

    def _noisy(self, codec: str, grid_bits: int, index: int, *, sealed: bool) -> list[float] | None:
        """The noises at which the text is misread.

        A text of raw bits is read by the stepwise way, a sealed one by the portable way.
        """
        model = _model(self._plan.places[0])
        settings = {
            "codec": codec,
            "grid_bits": grid_bits,
            "numerics": "portable" if sealed else "same-stack",
        }
        draw = self._random(index)
        writer = self._side(model, index, **settings)
        bits = [draw.getrandbits(1) for _ in range(self._plan.bits)]
        message = draw.randbytes(self._plan.bits // 8)
        try:
            written = writer.embed_report(message) if sealed else writer.embed_bits_report(bits)
        except CapacityError:
            return None
        prompt_ids = model.tokenizer.encode(self._prompt(index))
        rows = rows_of(model, prompt_ids, written.ids)
        misread = []
        for number, noise in enumerate(self._plan.noises):
            seed = (self._plan.seed, index, number)
            other = Noisy(model, prompt_ids, rows, noise, seed)
            reader = self._side(other, index, **settings)
            if not (
                _reads(reader, written.text, message)
                if sealed
                else _reads_bits(reader, written.text, bits)
            ):
                misread.append(noise)
        return misread

    def _side(self, model: LanguageModel, index: int, **settings: Any) -> ticore.Steganographer:
        key = hashlib.blake2b(f"key {self._plan.seed} {index}".encode(), digest_size=32).digest()
        return ticore.Steganographer(
            model,
            key=key,
            prompt=self._prompt(index),
            top_k=self._plan.top_k,
            finish="none",
            entropy=self._random(index).randbytes,
            **settings,
        )

    def _prompt(self, index: int) -> str:
        return self._prompts[index % len(self._prompts)]

    def _random(self, index: int) -> random.Random:
        return random.Random(f"{self._plan.seed} {index}")


@cache
def _model(place: str) -> PortableModel:
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
