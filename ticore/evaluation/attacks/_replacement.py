"""Replacement: some tokens are replaced by tokens that a model samples at their positions.

Yan & Murawaki, "Addressing Tokenization Inconsistency in Steganography and Watermarking Based on
Large Language Models", measure robustness in this way. A new token is sampled from the model's
distribution given the tokens before it. (Their published script gave the whole text to the model in
one pass, and sampled from its predictions there. Here, a new token depends neither on the token
that it replaces nor on later ones.)
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from ...chat import Prompt, prompt_ids
from ...interfaces import Decoder, LanguageModel, Logits
from ...steganography._jobs import Job, NewText, begin_text, run_alone
from ...watermarking import LogitsWarper, multinomial
from ...watermarking._logits import unspellable_ids
from ...watermarking._samplers import excluding
from ._base import Attacked, require_share


class Replacement:
    """Replaces each token with probability epsilon. Use one per thread.

    Tokens are replaced from left to right. A new token is sampled given the tokens before it in the
    attacked text, replaced ones included. It may be the token that was there before, so `changed`
    is at most the share of `positions`. Special ids and ids that end a text are never sampled.

    The text is encoded, and the result is decoded. A tokenizer with a normalizer therefore
    normalizes the whole text, unless no token was chosen. A token of single bytes may leave an
    incomplete character, which is decoded to U+FFFD.

    Args:
        model: samples the new tokens. It belongs to the attacker and may be another model than the
            one that wrote the text.
        epsilon: 0 to 1.
        draw: the random numbers.
        prompt: a text, or ids, that the model reads before the text.
        warp: temperature, top-k and top-p; None: the model's distribution as it is.

    Raises:
        SettingsError: epsilon is not a probability.
        PromptError, MissingExtraError, SettingsError, WrongTypeError: the model cannot read
            the prompt.
    """

    def __init__(
        self,
        model: LanguageModel,
        epsilon: float,
        draw: random.Random,
        *,
        prompt: Prompt = (),
        warp: LogitsWarper | None = None,
    ) -> None:
        require_share("epsilon", epsilon)
        self.name = f"replacement {epsilon:g}"
        self._model = model
        self._epsilon = epsilon
        self._draw = draw
        self._prompt = prompt_ids(model, prompt)
        never = unspellable_ids(model.tokenizer, model.logit_width) | model.eos_ids
        self._sampler = excluding(multinomial(draw, warp), sorted(never))

    def __call__(self, text: str) -> Attacked:
        """Replace some tokens; `positions` are those of `encode(text)`.

        Raises:
            SettingsError: `text` is not valid Unicode.
        """
        return run_alone(self._model, self.replacing(text))

    def replacing(self, text: str) -> Job[Attacked]:
        """The attack on a text as a job of `_jobs`, so that a model may read many texts at once.

        The job returns and raises what a call does.
        """
        tokenizer = self._model.tokenizer
        before = tokenizer.encode(text)
        context = _LeftContext(self._model.context_length, self._prompt)
        positions = []
        for at, token in enumerate(before):
            chosen = token
            if self._draw.random() < self._epsilon:
                positions.append(at)
                chosen = self._sampler(context.ids, (yield from context.logits()))
            context.ids.append(chosen)
        after = context.ids[len(self._prompt) :]
        others = sum(one != other for one, other in zip(before, after, strict=True))
        return Attacked(
            # Without a replacement the text stays as it is: encode and decode may normalize it.
            text=tokenizer.decode(after) if positions else text,
            label=self.name,
            changed=others / max(1, len(before)),
            positions=tuple(positions),
        )


class _LeftContext:
    """The tokens to the left, which the model reads only when logits are needed.

    If they are more than the model's context, a new Decoder begins with the last ones, as many as
    fill half of it.

    Args:
        most: the model's context length.
        prompt_ids: the first tokens.

    Attributes:
        ids: all tokens; the caller appends to it.
    """

    def __init__(self, most: int, prompt_ids: Sequence[int]) -> None:
        self._most = most
        self._decoder: Decoder | None = None
        self._begin = 0  # position of the first token that the Decoder has read
        self.ids = list(prompt_ids)

    def logits(self) -> Job[Logits]:
        """The part of a job that gets the logits float[logit_width] of the next token."""
        most = self._most
        if self._decoder is None or len(self.ids) - self._begin > most:
            fits = len(self.ids) <= most
            self._begin = 0 if fits else len(self.ids) - max(1, most // 2)
            self._decoder = yield from begin_text(NewText(self.ids[self._begin :]))
        yield from self.ids[self._begin + len(self._decoder.ids) :]
        return self._decoder.logits()
