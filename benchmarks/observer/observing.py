"""What the observer computes of a text: numbers about its tokens, and where it ends."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from benchmarks._harness.text_statistics import read_back
from ticore.interfaces import LanguageModel
from ticore.steganography._ending import _SENTENCE_END
from ticore.steganography._jobs import Job
from ticore.steganography._portability import TOLERANCE
from ticore.steganography._setup import Setup

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject

_DIGITS = 4  # of a surprisal in bits; a text's sum is then right to a hundredth of a bit


def observed(model: LanguageModel, prompt: str, text: str) -> JsonObject:
    """What can be said of any text.

    Args:
        model: that may have written it.
        prompt: what the text continues.
        text: the whole text, which begins with the prompt.

    Returns:
        `text`, `ids` and `statistics` as `read_back` gives them; `sentence_ends`, the tokens that
        end a sentence.
    """
    found = read_back(model, prompt, text)
    before = model.tokenizer.encode(text)[: -len(found["ids"])]
    grown = [*before]
    ends = []
    for place, token in enumerate(found["ids"]):
        grown.append(token)
        if _SENTENCE_END.search(model.tokenizer.decode(grown)):
            ends.append(place)
    return found | {"sentence_ends": ends}


def in_pool(setup: Setup, ids: Sequence[int]) -> Job[JsonObject]:
    """What can be said of a text that was chosen from the candidates of these settings.

    Args:
        setup: of the text.
        ids: its tokens, each of them a candidate.

    Returns:
        `surprisals` in bits, under the integer weights, one per token; `excess`, the sum of
        surprisals less the entropies that were to be expected; `deviation`, the standard one of it;
        `borderline`, the tokens at which another machine might have had other candidates.
    """
    state = yield from setup.begin(list(ids))
    surprisals, borderline = [], []
    excess = variance = 0.0
    for place, token in enumerate(ids):
        step = yield from state.next_step()
        [index] = np.flatnonzero(step.choices.ids == token).tolist()
        shares = step.weights / step.weights.sum()
        bits = -np.log2(shares)
        entropy = float(shares @ bits)
        excess += float(bits[index]) - entropy
        variance += float(shares @ (bits - entropy) ** 2)
        surprisals.append(round(float(bits[index]), _DIGITS))
        if not step.is_stable_within(TOLERANCE):
            borderline.append(place)
        state.push(token)
    return {
        "surprisals": surprisals,
        "excess": excess,
        "deviation": math.sqrt(variance),
        "borderline": borderline,
    }
