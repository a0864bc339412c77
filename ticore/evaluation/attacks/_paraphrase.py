"""Paraphrase by a language model that runs in this process."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher

from ..._support.checks import require_integer
from ..._support.deprecation import renamed_arguments
from ...errors import SettingsError
from ...interfaces import LanguageModel
from ...watermarking import Generator, LogitsWarper, greedy, multinomial
from ._base import Attacked
from ._words import split

PLACE = "{text}"
"""The place of the text in a template."""

INSTRUCTION = (
    "Rewrite the text below in other words. Keep its meaning, its language and about its length. "
    "Answer with the rewritten text and nothing else.\n\n"
    f"{PLACE}"
)

Prompt = str | Callable[[str], Sequence[int]]
"""A template with `{text}` in it, or a function from the text to the prompt's token ids."""

# An answer ends after twice as many tokens as the text has, and this many more.
_SPARE = 64


class LocalParaphrase:
    """Rewrites texts with a language model. Use one per thread.

    Models that were trained to follow instructions do it best.

    Args:
        model: the model that rewrites.
        prompt: a template, or a function from the text to ids. The turns of a chat begin with
            special tokens, which no text is encoded to, so only a function can give them.
        warp: temperature, top-k and top-p to sample with; None: always take the likeliest token.
        draw: the random numbers; needed with a `warp`.
        max_new_tokens: the most tokens to write; None: twice as many as the text has, plus 64.
        name: the model's name in the label; None: the beginning of its digest.

    Raises:
        SettingsError: the template does not hold `{text}` exactly once, only one of `warp` and
            `draw` is given, or `max_new_tokens` is below 1.
    """

    @renamed_arguments(tokens="max_new_tokens")
    def __init__(
        self,
        model: LanguageModel,
        *,
        prompt: Prompt = f"{INSTRUCTION}\n\nThe same in other words:\n",
        warp: LogitsWarper | None = None,
        draw: random.Random | None = None,
        max_new_tokens: int | None = None,
        name: str | None = None,
    ) -> None:
        if isinstance(prompt, str):
            require_template(prompt)
        if (warp is None) != (draw is None):
            raise SettingsError(
                "expected both warp and draw, to sample, or neither, to take the likeliest tokens; "
                "found one of them; give the other one, too"
            )
        if max_new_tokens is not None:
            max_new_tokens = require_integer("max_new_tokens", max_new_tokens, 1)
        self.name = f"paraphrase by {name or model.digest()[:12]}"
        self._model = model
        self._prompt: Prompt = prompt
        self._max_new_tokens = max_new_tokens
        sampler = greedy if draw is None else multinomial(draw, warp)
        self._generator = Generator(model, sampler, observation=None)

    def __call__(self, text: str) -> Attacked:
        """The text in the model's words, without white space at its ends.

        Raises:
            PromptError: the text and the instruction leave the model no room to write.
        """
        if not text.strip():
            return Attacked(text, self.name, 0.0)
        encode = self._model.tokenizer.encode
        filled = self._prompt
        prompt = encode(fill(filled, text)) if isinstance(filled, str) else filled(text)
        most = self._max_new_tokens or 2 * len(encode(text)) + _SPARE
        written = self._generator.generate(prompt, max_new_tokens=most)
        after = written.text.strip()
        return Attacked(
            after, self.name, share_changed(text, after), complete=written.end == "end of text"
        )


def require_template(template: str) -> None:
    """Check that a template has exactly one place for the text. Raises SettingsError."""
    if (count := template.count(PLACE)) != 1:
        raise SettingsError(
            f"prompt: expected {PLACE} once, where the text goes, found it {count} times"
        )


def fill(template: str, text: str) -> str:
    """The template with the text in its place; other braces have no meaning."""
    return template.replace(PLACE, text)


def share_changed(before: str, after: str) -> float:
    """The share of the words of `before` that are not in `after` in the same order.

    >>> share_changed("one two three four", "one three four five")
    0.25
    """
    old, new = split(before)[0], split(after)[0]
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    return 1 - sum(block.size for block in blocks) / max(1, len(old)) if old else 0.0
