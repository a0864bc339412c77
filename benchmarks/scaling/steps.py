"""The steps of the four ways, without a network: logits are made beside the clock."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import torch
from transformers import LogitsProcessorList, StoppingCriteriaList

from benchmarks._harness.corpora import passage
from benchmarks.verification.plan import CHARACTERS_PER_TOKEN
from ticore.consistency import Verifier
from ticore.interfaces import Tokenizer
from ticore.watermarking import Rollback
from ticore.watermarking._rollback import MAX_BACKTRACKS
from ticore_transformers import ConsistentLogitsProcessor
from ticore_transformers._choosing import Chooser, Consistency, Wanted
from ticore_transformers._processing import RowProcessors
from ticore_transformers._sequences import Sequences
from ticore_transformers._text import GeneratedText
from ticore_transformers._writing import write

from .clock import seconds_of_work

WAYS = ("nothing", "masks", "resample", "rollback")
PROMPT = 20  # tokens

_LIKELY = 0.99  # probability of the next token of the text
_OBSERVATION = 2


class GuidedLogits:
    """Logits float32[rows, width]: in each row the next token of a text is likely.

    Args:
        texts: the tokens of each row, those of the prompt first.
        noise: float32[rows, width], of normal numbers; is changed.

    Attributes:
        table: the logits.
        seconds: that making them took.
        passes: how many forward passes a network would have made.
    """

    def __init__(self, texts: Sequence[Sequence[int]], noise: torch.Tensor) -> None:
        self.table = noise
        self.seconds = 0.0
        self.passes = 0
        width = noise.shape[1]
        # A sum of `width` exponentials of normal numbers is about width * sqrt(e).
        self._boost = math.log(_LIKELY / (1 - _LIKELY) * width) + 0.5
        self._texts = texts
        self._at = [PROMPT] * len(texts)
        self._move(range(len(texts)), 1.0)

    def push(self, tokens: Mapping[int, int]) -> None:
        """Go on by one token in each of these rows."""
        self.passes += bool(tokens)
        self._step(list(tokens), 1)

    def rewind(self, row: int, count: int) -> None:
        """Go back in a row."""
        self._step([row], -count)

    def drop(self, row: int) -> None:
        """Forget a row."""

    def _step(self, rows: Sequence[int], count: int) -> None:
        started = seconds_of_work(self.table.device)
        self._move(rows, -1.0)
        for row in rows:
            self._at[row] += count
        self._move(rows, 1.0)
        self.seconds += seconds_of_work(self.table.device) - started

    def _move(self, rows: Sequence[int], sign: float) -> None:
        columns = [self._texts[row][self._at[row]] for row in rows]
        self.table[list(rows), columns] += sign * self._boost


class _Row:
    """The Decoder of one row."""

    def __init__(self, logits: GuidedLogits, row: int, prompt: Sequence[int]) -> None:
        self._logits, self._row = logits, row
        self.ids = tuple(prompt)

    def logits(self) -> Any:
        return self._logits.table[self._row]

    def push(self, token: int) -> None:
        self._logits.push({self._row: token})

    def rewind(self, count: int) -> None:
        self._logits.rewind(self._row, count)


def passages(tokenizer: Tokenizer, text: str, rows: int, steps: int, seed: int) -> list[list[int]]:
    """For each row the tokens of some passage: a prompt, and as many as are written, and more."""
    draw, size = random.Random(seed), PROMPT + 2 * steps + 8
    found: list[list[int]] = []
    while len(found) < rows:
        some = tokenizer.encode(passage(text, 2 * CHARACTERS_PER_TOKEN * size, draw))
        ids = list(islice((token for token in some if token not in tokenizer.special_ids), size))
        if len(ids) == size:
            found.append(ids)
    return found


def seconds_per_step(
    way: str, tokenizer: Tokenizer, texts: Sequence[Sequence[int]], noise: torch.Tensor, steps: int
) -> tuple[float, float]:
    """What a step takes in which each text gets a token, without reading it.

    Args:
        way: one of `WAYS`.
        tokenizer: of the texts.
        texts: see `passages`.
        noise: see `GuidedLogits`; it is as before in the end, but for rounding. The steps are made
            on its device.
        steps: how many tokens each text gets.

    Returns:
        Seconds per step (see `seconds_of_work`), and forward passes per step.
    """
    logits = GuidedLogits(texts, noise)
    prompts = torch.tensor([list(text[:PROMPT]) for text in texts], device=noise.device)
    verifier = Verifier(tokenizer, mode="prefix")
    started = seconds_of_work(noise.device)
    if way in ("nothing", "masks"):
        masks = ConsistentLogitsProcessor(tokenizer, prompt_length=PROMPT)
        processors = LogitsProcessorList([masks] if way == "masks" else [])
        _as_transformers(prompts, logits, processors, steps)
    else:
        consistency: Consistency = "masks" if way == "resample" else "rollback"
        _as_ticore(prompts, logits, verifier, consistency, steps)
    seconds = seconds_of_work(noise.device) - started - logits.seconds
    return seconds / steps, logits.passes / steps


def _as_transformers(
    prompts: torch.Tensor, logits: GuidedLogits, processors: LogitsProcessorList, steps: int
) -> None:
    """What `generate` does between two forward passes."""
    ids: Any = prompts
    for _ in range(steps):
        scores = processors(ids, logits.table.clone())
        tokens = torch.multinomial(torch.softmax(scores, dim=-1), 1)
        ids = torch.cat([ids, tokens], dim=1)
        logits.push(dict(enumerate(tokens[:, 0].tolist())))


def _as_ticore(
    prompts: torch.Tensor,
    logits: GuidedLogits,
    verifier: Verifier,
    consistency: Consistency,
    steps: int,
) -> None:
    """What `ticore_transformers.consistent` does between two forward passes."""
    rollback = consistency == "rollback"
    texts = []
    for row, prompt in enumerate(prompts.tolist()):
        decoder, verification = _Row(logits, row, prompt), verifier.start()
        decisions = Rollback(
            decoder,
            verification,
            lambda ids, scores: 0,  # the chooser chooses
            max_new_tokens=steps,
            observation=_OBSERVATION if rollback else 0,
            max_backtracks=MAX_BACKTRACKS if rollback else 0,
        )
        texts.append(GeneratedText(row, decoder, verification, decisions))
    sequences = Sequences(prompts, steps)
    chooser = Chooser(
        RowProcessors(LogitsProcessorList(), sequences),
        sequences,
        sample=True,
        never=torch.tensor(
            sorted(verifier.tokenizer.special_ids), dtype=torch.int64, device=prompts.device
        ),
        consistency=consistency,
        end_ids=frozenset(),
        wanted=Wanted(),
    )
    write(texts, chooser, logits, StoppingCriteriaList(), sequences)
