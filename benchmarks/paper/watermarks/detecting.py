"""What a detector says of a text, and what its model says of it after an attack."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchmarks._harness.sampling import negative_log_likelihood, sample_key
from benchmarks.paper.setting import Setting
from ticore import WatermarkDetector
from ticore.errors import UnscorableTextError
from ticore.evaluation import Attacked
from ticore.interfaces import LanguageModel
from ticore.schemes import Scheme, make_scheme

from .arms import SCHEMES

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject


def scheme_of(model: LanguageModel, setting: Setting, name: str, number: int) -> Scheme:
    """The scheme with the key of text `number`."""
    key, size = sample_key(setting.seed, number), model.tokenizer.vocab_size
    return make_scheme(name, key, size, **SCHEMES[name])


def detected(model: LanguageModel, scheme: Scheme, ids: Sequence[int]) -> JsonObject:
    """What a detector says. A text that is too short to score has strength 0."""
    try:
        found = WatermarkDetector(model.tokenizer, scheme).detect_ids(ids)
    except UnscorableTextError:
        return {"strength": 0.0, "p_value": 1.0, "scored": 0}
    return {"strength": found.strength, "p_value": found.p_value, "scored": found.scored}


def after_attack(
    model: LanguageModel, prompt_ids: Sequence[int], scheme: Scheme, attacked: Attacked
) -> JsonObject:
    """The attacked text, its likelihood after the prompt, and what a detector says of it."""
    ids = model.tokenizer.encode(attacked.text)
    return {
        "text": attacked.text,
        "changed": attacked.changed,
        "read_token_count": len(ids),
        "nll_read": negative_log_likelihood(model, prompt_ids, ids),
        **detected(model, scheme, ids),
    }
