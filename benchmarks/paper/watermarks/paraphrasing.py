"""Paraphrase as an attack: by a model at an endpoint, or by one that runs here.

It is taken after the texts and stored beside them, since it depends on another model: texts with
other settings of the paraphraser are paraphrased again, and none is written again.

The paper's attack is GPT-4o with a system message of its own. The instruction here is ours:
`ticore.evaluation.attacks.SYSTEM`.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import ticore
from benchmarks._harness.code_digest import code_digest
from benchmarks._harness.collect import Collector
from benchmarks._harness.progress import messages
from benchmarks._harness.sample_store import SampleStore, digest_of
from benchmarks.paper.setting import Setting
from ticore.chat import Chat, prompt_ids
from ticore.errors import PromptError, SettingsError
from ticore.evaluation import (
    Attack,
    Attacked,
    EndpointParaphrase,
    LocalParaphrase,
    NoCompletionError,
)
from ticore.evaluation.attacks import SYSTEM
from ticore.interfaces import LanguageModel
from ticore.watermarking import LogitsWarper

from .arms import UNMARKED, main_arms
from .detecting import after_attack, scheme_of

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject, Sample, Worker

FAILURES = 5
"""Texts in a row without a paraphrase after which a run ends: something is set up wrongly."""

WARPER = LogitsWarper(temperature=0.7, top_p=0.9)
"""How a model that runs here is sampled. A server samples as it is set up to."""

_TASK_NAMES = ("scheme", "arm", "index", "written")

Texts = Mapping[tuple[str, str, int], str]
"""The texts to paraphrase, by scheme, arm and index."""


@dataclass(frozen=True)
class Paraphraser:
    """Which model paraphrases.

    Attributes:
        place: the address of an OpenAI-compatible endpoint, such as `http://localhost:8000/v1`; or
            the place of a model with a chat template that runs here, such as `smollm2`.
        model: the name to ask the endpoint for; None for a place.
        key_variable: the environment variable with the endpoint's key; None: no key is sent.

    Raises:
        SettingsError: an endpoint has no model's name, or a place has one, or a key.
    """

    place: str
    model: str | None = None
    key_variable: str | None = None

    def __post_init__(self) -> None:
        if self.is_endpoint and self.model is None:
            raise SettingsError(
                f"--paraphraser: expected --paraphraser-model with the endpoint {self.place}, "
                f"found none; give the name that the endpoint knows the model by"
            )
        if not self.is_endpoint and (self.model, self.key_variable) != (None, None):
            raise SettingsError(
                f"--paraphraser: expected an address such as http://localhost:8000/v1 with "
                f"--paraphraser-model or --paraphraser-key, found the place {self.place}; leave "
                f"these options out, or give an address"
            )

    @property
    def is_endpoint(self) -> bool:
        """Whether texts are sent to a server."""
        return self.place.startswith(("http://", "https://"))

    @property
    def attack(self) -> str:
        """The attack's name, for tables and samples."""
        return f"paraphrase by {self.model or self.place}"

    def local_model(self) -> LanguageModel | None:
        """The model that runs here; None for an endpoint. Raises TicoreError: it is not there."""
        return None if self.is_endpoint else ticore.load_model(self.place)

    def open(self) -> Attack:
        """The attack.

        Raises:
            SettingsError: the address is not one, or the environment variable holds no key.
            PromptError: the model has no chat template.
            TicoreError: the model cannot be opened.
        """
        if self.model is not None:
            return EndpointParaphrase(
                self.place, self.model, key_variable=self.key_variable, system=SYSTEM
            )
        model = ticore.load_model(self.place)
        asked = partial(_asked, model)
        asked("")  # raises where there is no template, before any text is written
        return _LocalAttack(model, asked, self.place)


class _LocalAttack:
    """Paraphrases with a model here, by sampling: small models repeat their greedy choices."""

    def __init__(self, model: LanguageModel, asked: Callable[[str], list[int]], name: str) -> None:
        self._draw = random.Random()
        self._attack = LocalParaphrase(model, prompt=asked, warp=WARPER, draw=self._draw, name=name)
        self.name = self._attack.name

    def __call__(self, text: str) -> Attacked:
        self._draw.seed(text)  # so that the order of texts, and an interruption, change nothing
        return self._attack(text)


def _asked(model: LanguageModel, text: str) -> list[int]:
    return prompt_ids(model, Chat.ask(text, system=SYSTEM))


def paraphrased(
    setting: Setting,
    rows: Sequence[JsonObject],
    paraphraser: Paraphraser,
    folder: Path,
    collector: Collector,
) -> tuple[list[JsonObject], bool]:
    """The rows of the part, with the attack on the texts of each scheme's main arms.

    Args:
        setting, rows: of the texts.
        paraphraser: who attacks them.
        folder: where paraphrases are stored.
        collector: has them paraphrased.

    Returns:
        The rows, and whether each text was tried: Ctrl-C ends a run early. A text whose answer was
        no paraphrase has no such attack.

    Raises:
        EndpointError: the endpoint cannot be reached or refuses. What was answered is stored.
        NoCompletionError, PromptError: `FAILURES` texts in a row were not answered by a text.
    """
    texts = _attackable(setting, rows)
    model, other = setting.model.open(), paraphraser.local_model()
    # The key is no part of this, nor is it stored anywhere.
    facts = paraphraser.place, paraphraser.model, None if other is None else other.digest()
    code = code_digest(
        make_worker, *(part for m in (model, other) if m for part in (m, m.tokenizer))
    )
    samples, complete = collector.samples(
        SampleStore(folder / f"watermarks-paraphrases-{setting.model.name}.jsonl"),
        digest_of(setting.facts(), model.digest(), facts, code),
        [(*key, _digest(text)) for key, text in texts.items()],
        _TASK_NAMES,
        partial(make_worker, setting, paraphraser, texts),
    )
    failed = sum("failed" in sample for sample in samples)
    messages.print(f"{paraphraser.attack}: {len(samples):,} texts, {failed:,} without an answer")
    found = {_key(each): each["after"] for each in samples if "after" in each}
    return [
        row | {"attacks": row["attacks"] | {paraphraser.attack: found[_key(row)]}}
        if _key(row) in found
        else row
        for row in rows
    ], complete


def make_worker(setting: Setting, paraphraser: Paraphraser, texts: Texts) -> Worker:
    """The worker that paraphrases texts of a setting: `Paraphrasing.take`."""
    model = setting.model.open()
    return Paraphrasing(model, setting, paraphraser.open(), texts).take


class Paraphrasing:
    """Paraphrases texts, one after the other.

    Args:
        model: that wrote the texts.
        setting: of the texts.
        attack: makes the paraphrases.
        texts: all that may be asked for.
    """

    def __init__(
        self, model: LanguageModel, setting: Setting, attack: Attack, texts: Texts
    ) -> None:
        self._model = model
        self._setting = setting
        self._attack = attack
        self._texts = texts
        self._failures = 0  # in a row

    def take(self, scheme: str, arm: str, index: int, written: str) -> Sample:
        """The paraphrase of a text, `after`; or, where the answer was none, why it `failed`."""
        kind = {"scheme": scheme, "arm": arm, "index": index, "written": written}
        try:
            attacked = self._attack(self._texts[scheme, arm, index])
        except (NoCompletionError, PromptError) as error:
            self._failures += 1
            if self._failures == FAILURES:
                raise
            return kind | {"failed": str(error)}
        self._failures = 0
        prompt = self._model.tokenizer.encode(self._setting.prompt(index))
        scheme_ = scheme_of(self._model, self._setting, scheme, index)
        after = after_attack(self._model, prompt, scheme_, attacked)
        said = {"label": attacked.label, "complete": attacked.complete}
        return kind | {"after": after | said}


def _attackable(setting: Setting, rows: Sequence[JsonObject]) -> Texts:
    """The texts with a watermark in the main arms."""
    arms = {arm.name for arm in main_arms(setting.model.observation)}
    return {
        _key(row): row["text"] for row in rows if row["scheme"] != UNMARKED and row["arm"] in arms
    }


def _key(row: JsonObject) -> tuple[str, str, int]:
    return row["scheme"], row["arm"], row["index"]


def _digest(text: str) -> str:
    """Of a text: if another one is written in its place, that one is paraphrased."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]
