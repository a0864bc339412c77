"""Replacement: tokens drawn anew by the model, as it would have gone on at that place.

Yan & Murawaki, "Addressing Tokenization Inconsistency in Steganography and Watermarking Based on
Large Language Models", measure robustness so. A replaced token is drawn from the model's
distribution behind the tokens before it. (Their published script fed the whole text to the model
in one pass and drew from what it predicted there; what stands here depends on nothing to the right
of a token, nor on the token itself.)
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from ...interfaces import Decoder, LanguageModel, Logits
from ...watermarking import Warp, multinomial
from ...watermarking.sampling import excluding
from .base import Attacked, require_share


class Replacement:
    """Replaces each token with probability epsilon.

    Tokens are gone through from left to right. What is drawn stands behind the attacked text so
    far, replaced tokens included, which is what the final text has to the left of it; so a fluent
    model writes on fluently. The token that stood there may be drawn again, so that `changed` is
    at most the share of `positions`. Special ids and those that end a text are never drawn.

    The tokens are those that `text` is read as, and the result is what they decode to. Tokenizers
    that normalise do so to the whole text, unless no token was chosen. A token of single bytes may
    leave an incomplete character, which decodes to U+FFFD.

    Args:
        model: draws the tokens; an attacker's, so not necessarily the one that wrote.
        epsilon: from 0 to 1.
        draw: the random numbers.
        prompt: a text, or ids, that the model reads before the text.
        warp: temperature, top-k and top-p; None draws from the distribution as it is.

    Raises:
        SettingsError: epsilon is no probability.
    """

    def __init__(
        self,
        model: LanguageModel,
        epsilon: float,
        draw: random.Random,
        *,
        prompt: str | Sequence[int] = (),
        warp: Warp | None = None,
    ) -> None:
        require_share("epsilon", epsilon)
        self.name = f"replacement {epsilon:g}"
        self._model = model
        self._epsilon = epsilon
        self._draw = draw
        tokenizer = model.tokenizer
        self._prompt = tokenizer.encode(prompt) if isinstance(prompt, str) else list(prompt)
        never = {*tokenizer.special_ids, *model.eos_ids}
        never |= {*range(tokenizer.vocab_size, model.logit_width)}
        self._sampler = excluding(multinomial(draw, warp), sorted(never))

    def __call__(self, text: str) -> Attacked:
        """`text` with some tokens replaced; `positions` are those of `encode(text)`.

        Raises SettingsError where `text` is no valid Unicode.
        """
        tokenizer = self._model.tokenizer
        before = tokenizer.encode(text)
        context = _LeftContext(self._model, self._prompt)
        positions = []
        for at, token in enumerate(before):
            chosen = token
            if self._draw.random() < self._epsilon:
                positions.append(at)
                chosen = self._sampler(context.ids, context.logits())
            context.ids.append(chosen)
        after = context.ids[len(self._prompt) :]
        others = sum(one != other for one, other in zip(before, after, strict=True))
        return Attacked(
            # Not decoded where nothing was done, since decoding may undo a normalisation.
            text=tokenizer.decode(after) if positions else text,
            label=self.name,
            changed=others / max(1, len(before)),
            positions=tuple(positions),
        )


class _LeftContext:
    """Tokens that are read by a model when it is asked what follows, and not before.

    Where they are more than it can read at once, a new Decoder begins with the last ones, as many
    as fill half of its context.

    Attributes:
        ids: all of them; to be appended to.
    """

    def __init__(self, model: LanguageModel, prompt_ids: Sequence[int]) -> None:
        self._model = model
        self._decoder: Decoder | None = None
        self._begin = 0  # where what the Decoder has read begins
        self.ids = list(prompt_ids)

    def logits(self) -> Logits:
        """Logits float[logit_width] of the next token."""
        most = self._model.context_length
        if self._decoder is None or len(self.ids) - self._begin > most:
            fits = len(self.ids) <= most
            self._begin = 0 if fits else len(self.ids) - max(1, most // 2)
            self._decoder = self._model.start(self.ids[self._begin :])
        for token in self.ids[self._begin + len(self._decoder.ids) :]:
            self._decoder.push(token)
        return self._decoder.logits()
