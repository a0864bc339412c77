"""Models and tokenizers that are small, seeded and awkward on purpose."""

from __future__ import annotations

import hashlib
import re

import numpy as np

from ticore.backend_kit._batch_decoder import CheckedBatchDecoder
from ticore.errors import CapacityError
from ticore.interfaces import ChatTemplate
from ticore.testing import _toys

MOST_REMEMBERED = 1 << 14


class ToyTokenizer(_toys.ToyTokenizer):
    """The same, which remembers texts: a reader asks about those that the writer asked about."""

    def __init__(self, pieces, special=()):
        super().__init__(pieces, special)
        self._remembered = {}

    def encode(self, text):
        if (ids := self._remembered.get(text)) is None:
            if len(self._remembered) >= MOST_REMEMBERED:
                self._remembered.clear()
            ids = self._remembered[text] = super().encode(text)
        return [*ids]


class ToyBrackets(ToyTokenizer):
    """The same, but "<" is itself only where a ">" closes it, and else read as "?".

    What is inconsistent after a "<" may hence be mended, as the bytes of a character are.
    """

    def encode(self, text):
        return super().encode(re.sub("<(?![^<]*>)", "?", text))


class ToyModel:
    """Seeded logits that depend on the last two ids.

    `sharpness` scales them: 0 is uniform, 30 nearly certain. Every `forced_every`-th position
    leaves one candidate only, whatever the scale.
    """

    def __init__(
        self, tokenizer, seed=0, sharpness=2.0, width=None, eos_ids=(), context=4096, forced_every=0
    ):
        self.tokenizer = tokenizer
        self.logit_width = width or tokenizer.vocab_size
        self.eos_ids = frozenset(eos_ids)
        self.context_length = context
        self._seed, self._sharpness, self._forced_every = seed, sharpness, forced_every
        self._drawn = {}

    def start(self, prompt_ids):
        return ToyDecoder(self, list(prompt_ids))

    def logits_after(self, ids):
        forced = bool(self._forced_every) and len(ids) % self._forced_every == 0
        place = (self._seed, len(ids) % 7, *(i + 1 for i in ids[-2:]))
        if (place, forced) not in self._drawn:
            rng = np.random.default_rng(place)
            logits = rng.normal(size=self.logit_width) * self._sharpness
            if forced:
                logits[rng.integers(self.logit_width)] += 1000
            self._drawn[place, forced] = logits
        return self._drawn[place, forced].copy()

    def score(self, ids):
        return np.array([self.logits_after(ids[:n]) for n in range(len(ids))])

    def digest(self):
        parts = (self._seed, self._sharpness, self.logit_width, self._forced_every)
        return hashlib.sha256(repr(parts).encode()).hexdigest()


class ToyChatModel(ToyModel):
    """The same, with a template that writes each message between "<" and ">"."""

    chat_template = ChatTemplate("{% for m in messages %}<{{ m.content }}>{% endfor %}")

    def encode_conversation(self, text):
        return self.tokenizer.encode(text)


class ToyDecoder:
    def __init__(self, model, ids):
        self._model, self.ids = model, ids

    def logits(self):
        return self._model.logits_after(self.ids)

    def push(self, token):
        if len(self.ids) >= self._model.context_length:
            raise CapacityError("full")
        self.ids.append(token)

    def rewind(self, count):
        del self.ids[len(self.ids) - count :]


class ToyBatchModel(ToyModel):
    """The same, which reads many texts at once; `passes` counts how often it read."""

    passes = 0

    def start_batch(self, prompts, rewindable=None):
        first = [self.logits_after(ids) for ids in prompts]
        return CheckedBatchDecoder(self, ToyRows(self, prompts), prompts, first, rewindable)


class ToyRows:
    def __init__(self, model, prompts):
        self._model = model
        self._texts = {row: list(ids) for row, ids in enumerate(prompts)}

    def add(self, row, ids):
        self._texts[row] = list(ids)
        return self._model.logits_after(ids)

    def push(self, tokens):
        self._model.passes += 1
        for row, token in tokens.items():
            self._texts[row].append(token)
        return [self._model.logits_after(self._texts[row]) for row in tokens]

    def rewind(self, row, count):
        del self._texts[row][len(self._texts[row]) - count :]

    def drop(self, row):
        del self._texts[row]
