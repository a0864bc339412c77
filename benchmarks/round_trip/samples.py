"""Samples: messages are written and read back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any

import ticore
from benchmarks._harness.counting_model import CountingModel
from benchmarks._harness.refusals import or_refused, refused
from benchmarks._harness.sampling import sample_key, sample_random
from benchmarks._harness.timing import timed
from ticore.consistency import Mode
from ticore.interfaces import LanguageModel

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject, Sample, Worker


@dataclass(frozen=True)
class Plan:
    """The settings of all samples.

    Attributes:
        model: what `ticore.load_model` opens.
        size: bytes per message.
        top_k: candidates per step.
        temperature: as for `ticore.Steganographer`.
        seed: of all messages and keys.
        chat: whether a prompt is what a user says, and the text the reply of a chat model.
        reader: the model that reads, such as the same one of another backend; None for `model`.
        batch: how many texts are written, and read, side by side.
        part_size: how many bytes of a message a text holds; None for all of them. A message of
            several parts is written and read by itself.
        codec, disambiguation: as for `ticore.Steganographer`.
        mode: as well; None for the mode of new messages.
    """

    model: str = "tiny-en"
    size: int = 16
    top_k: int = 64
    temperature: float = 1.0
    seed: int = 0
    chat: bool = False
    reader: str | None = None
    batch: int = 1
    part_size: int | None = None
    codec: str = "arithmetic"
    disambiguation: str = "stepwise"
    mode: Mode | None = None

    @property
    def portable(self) -> bool:
        """Whether the texts are portable: a batch is, and so is what another backend reads."""
        return self.batch > 1 or self.reader is not None

    def open_models(self) -> tuple[LanguageModel, LanguageModel]:
        """The model that writes, and the one that reads."""
        options = {"dtype": "float64"} if self.portable else {}
        writer = ticore.load_model(self.model, **options)
        reader = writer if self.reader is None else ticore.load_model(self.reader, **options)
        return writer, reader


def make_worker(plan: Plan, prompts: Sequence[str]) -> Worker:
    """The worker of a plan: `Sampler.take` with the plan's models."""
    return Sampler(*plan.open_models(), plan, prompts).take


class Sampler:
    """Takes samples with one model, or two.

    Args:
        writer: the model that writes.
        reader: the model that reads.
        plan: the settings.
        prompts: message `n` has prompt `n`, modulo their number.
    """

    def __init__(
        self, writer: LanguageModel, reader: LanguageModel, plan: Plan, prompts: Sequence[str]
    ) -> None:
        self._writer = writer
        self._reader = reader
        self._plan = plan
        self._prompts = prompts

    def take(self, first: int, count: int) -> Sample:
        """A sample: the messages from number `first` on. All in it follows from the numbers.

        Messages that are written side by side have one key.
        """
        draw = sample_random(self._plan.seed, first)
        messages = [draw.randbytes(self._plan.size) for _ in range(count)]
        prompts = [self._prompts[n % len(self._prompts)] for n in range(first, first + count)]
        asked = [ticore.Chat.ask(each) if self._plan.chat else each for each in prompts]
        settings: dict[str, Any] = {
            "key": sample_key(self._plan.seed, first),
            "temperature": self._plan.temperature,
            "top_k": self._plan.top_k,
            "codec": self._plan.codec,
            "disambiguation": self._plan.disambiguation,
            "mode": self._plan.mode,
        }
        if self._plan.portable:
            settings["numerics"] = "portable"
        if self._plan.batch == 1 or self._plan.part_size is not None:
            each = zip(messages, asked, strict=True)
            rows = [
                or_refused(partial(self._take_one, message, to, settings, draw))
                for message, to in each
            ]
        else:
            rows = self._take_batch(messages, asked, settings, draw)
        for n, prompt, row in zip(range(first, first + count), prompts, rows, strict=True):
            row |= {"index": n, "prompt": prompt}
        return {"first": first, "count": count, "texts": rows}

    def _take_one(
        self,
        message: bytes,
        prompt: str | ticore.Chat,
        settings: dict[str, Any],
        draw: Random,
    ) -> JsonObject:
        """With how many texts were written, and how many tokens the models read for each of one.

        Raises:
            CapacityError: the writer could not send the message.
        """
        settings = settings | {"prompt": prompt}
        writing, reading = CountingModel(self._writer), CountingModel(self._reader)
        writer = ticore.Steganographer(writing, entropy=draw.randbytes, **settings)
        reader = ticore.Steganographer(reading, **settings)
        size = self._plan.part_size
        if size is None:
            embed_seconds, written = timed(lambda: [writer.embed(message)])
            extract_seconds, read = timed(reader.extract, written[0].text)
        else:
            embed_seconds, written = timed(lambda: writer.embed_parts(message, part_size=size))
            texts = [each.text for each in written]
            extract_seconds, read = timed(reader.extract_parts, texts)
        row = _row(written, embed_seconds, read == message, extract_seconds)
        row["writer_passes"] = writing.passes / sum(len(each.ids) for each in written)
        row["reader_passes"] = reading.passes / row["token_count"]
        return row

    def _take_batch(
        self,
        messages: list[bytes],
        prompts: list[str | ticore.Chat],
        settings: dict[str, Any],
        draw: Random,
    ) -> list[JsonObject]:
        """Seconds are those of the batch, divided by the number of its messages."""
        writer = ticore.Steganographer(self._writer, entropy=draw.randbytes, **settings)
        together: dict[str, Any] = {"prompts": prompts, "batch_size": self._plan.batch}
        embed_seconds, found = timed(lambda: writer.embed_batch(messages, **together))
        reader = ticore.Steganographer(self._reader, **settings)
        texts = [each.text for each in found if isinstance(each, ticore.Embedding)]
        together["prompts"] = [
            prompt
            for prompt, each in zip(prompts, found, strict=True)
            if isinstance(each, ticore.Embedding)
        ]
        extract_seconds, read = timed(lambda: iter(reader.extract_batch(texts, **together)))
        count = len(messages)
        return [
            _row([each], embed_seconds / count, next(read) == message, extract_seconds / count)
            if isinstance(each, ticore.Embedding)
            else refused(each)
            for each, message in zip(found, messages, strict=True)
        ]


def _row(
    written: Sequence[ticore.Embedding],
    embed_seconds: float,
    recovered: bool,
    extract_seconds: float,
) -> JsonObject:
    """Of the texts of one message. The divergence is the mean over all their tokens."""
    tokens = sum(each.token_count for each in written)
    bits = sum(each.bits for each in written)
    dropped = sum(each.kl_filter * each.token_count for each in written)
    return {
        "recovered": recovered,
        "bits": bits,
        "token_count": tokens,
        "bits_per_token": bits / tokens,
        "kl_filter": dropped / tokens,
        "given_up": [reason for each in written for reason in each.given_up],
        "embed_seconds": embed_seconds,
        "extract_seconds": extract_seconds,
        "texts": [each.text for each in written],
    }
