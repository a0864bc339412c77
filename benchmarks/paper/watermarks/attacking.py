"""The replacement attack on many texts at once.

A token is replaced by a sample from its left context: the prompt, then the attacked text so far,
with the tokens that were replaced before. So the logits of the original text do not do, and a text
takes a pass per token. Here each pass serves all texts.
"""

from __future__ import annotations

from collections.abc import Sequence

from ticore.errors import TicoreError
from ticore.evaluation import Attacked, Replacement
from ticore.interfaces import LanguageModel
from ticore.steganography._lockstep import run_together


def replace_together(
    model: LanguageModel, attacks: Sequence[Replacement], texts: Sequence[str]
) -> list[Attacked]:
    """What each attack makes of its text.

    Args:
        model: that of all attacks.
        attacks: at least one, each with random numbers of its own.
        texts: as many.

    Raises:
        TicoreError: as a single attack.
    """
    jobs = [attack.replacing(text) for attack, text in zip(attacks, texts, strict=True)]
    attacked = []
    for found in run_together(model, jobs, len(jobs)):
        if isinstance(found, TicoreError):
            raise found
        attacked.append(found)
    return attacked
