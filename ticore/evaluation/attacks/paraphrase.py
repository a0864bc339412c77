"""Paraphrase by a model that runs here: the text in other words, as an instruction asks for."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher

from ...errors import SettingsError
from ...interfaces import LanguageModel
from ...watermarking import Generator, Warp, greedy, multinomial
from .base import Attacked
from .words import split

PLACE = "{text}"
"""Where the text goes in a template."""

INSTRUCTION = (
    "Rewrite the text below in other words. Keep its meaning, its language and about its length. "
    "Answer with the rewritten text and nothing else.\n\n"
    f"{PLACE}"
)

Prompt = str | Callable[[str], Sequence[int]]
"""A template with `{text}` in it, or a function from the text to the prompt's token ids."""

# An answer that is still going on at so many tokens, beside twice the text's own, has gone astray.
_SPARE = 64


class LocalParaphrase:
    """Rewrites texts with any language model, best one that was trained to follow instructions.

    Args:
        model: rewrites.
        prompt: a template, or a function that gives ids. A chat model wants its turns marked by
            control tokens, which no text is read as, so only a function can give them.
        warp: temperature, top-k and top-p to sample with; None always takes the likeliest token.
        draw: the random numbers; needed where there is a `warp`.
        tokens: how many to write at most; None: twice those of the text, and 64.
        name: the model's, for the label; None: the beginning of its digest.

    Raises:
        SettingsError: the template has no `{text}`, or of `warp` and `draw` one is missing.
    """

    def __init__(
        self,
        model: LanguageModel,
        *,
        prompt: Prompt = f"{INSTRUCTION}\n\nThe same in other words:\n",
        warp: Warp | None = None,
        draw: random.Random | None = None,
        tokens: int | None = None,
        name: str | None = None,
    ) -> None:
        if isinstance(prompt, str):
            require_template(prompt)
        if (warp is None) != (draw is None):
            raise SettingsError(
                "expected both warp and draw, which sample, or neither, which takes the likeliest "
                "tokens; found one of them"
            )
        if tokens is not None and tokens < 1:
            raise SettingsError(f"tokens: expected at least 1, or None, found {tokens!r}")
        self.name = f"paraphrase by {name or model.digest()[:12]}"
        self._model = model
        self._prompt: Prompt = prompt
        self._tokens = tokens
        sampler = greedy if draw is None else multinomial(draw, warp)
        self._generator = Generator(model, sampler, observation=None)

    def __call__(self, text: str) -> Attacked:
        """What the model makes of `text`, without white space around it.

        Raises:
            PromptError: the text and the instruction leave the model no room to write.
        """
        if not text.strip():
            return Attacked(text, self.name, 0.0)
        encode = self._model.tokenizer.encode
        filled = self._prompt
        prompt = encode(fill(filled, text)) if isinstance(filled, str) else filled(text)
        most = self._tokens or 2 * len(encode(text)) + _SPARE
        written = self._generator.generate(prompt, most)
        after = written.text.strip()
        return Attacked(
            after, self.name, share_changed(text, after), complete=written.end == "end of text"
        )


def require_template(template: str) -> None:
    """Raises SettingsError unless there is exactly one place for the text."""
    if (count := template.count(PLACE)) != 1:
        raise SettingsError(
            f"prompt: expected {PLACE} once, where the text goes, found it {count} times"
        )


def fill(template: str, text: str) -> str:
    """The template with the text in its place; other braces mean nothing."""
    return template.replace(PLACE, text)


def share_changed(before: str, after: str) -> float:
    """The share of the words of `before` that are not kept in `after`, in the same order.

    >>> share_changed("one two three four", "one three four five")
    0.25
    """
    old, new = split(before)[0], split(after)[0]
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    return 1 - sum(block.size for block in blocks) / max(1, len(old)) if old else 0.0
