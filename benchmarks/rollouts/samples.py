"""Samples: rollouts that are written side by side."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

import numpy as np

import ticore
from benchmarks._harness.types import JsonObject, Sample, Worker
from ticore.backend_kit._reading import start_batch
from ticore.chat._template_process import parse
from ticore.errors import SettingsError
from ticore.interfaces import ChatModel, ChatTemplate, LanguageModel, Logits

from .conversations import KINDS, Kind, Message, kept

PROMPTS, GROUP = 4, 16
"""Prompts of a sample, and rollouts of each."""

_END = "<|im_end|>"
"""With which a turn of ChatML ends."""


@dataclass(frozen=True)
class Plan:
    """The settings of all samples.

    Attributes:
        model: its place.
        dtype: of a model of torch; None: the backend's own.
        tokens: the most tokens that are sampled for a reply.
        seed: of the sampling.
    """

    model: str = "torch:smollm2"
    dtype: str | None = None
    tokens: int = 48
    seed: int = 0

    def open_model(self) -> LanguageModel:
        """The model.

        Raises:
            SettingsError: it has no chat template.
        """
        settings = {} if self.dtype is None else {"dtype": self.dtype}
        model = ticore.load_model(self.model, **settings)
        _template_of(model)
        return model


def make_worker(plan: Plan, prompts: Sequence[str]) -> Worker:
    """The worker of a plan: `Sampler.take`."""
    return Sampler(plan, prompts).take


@dataclass
class Rollout:
    """One text that is being written.

    Attributes:
        ids: all of them, the prompt's first.
        begun: where the present reply begins.
        sampled: how many of its ids were sampled.
        forced: ids that come next, whatever the model says.
        replies: the texts of those that have ended.
        ended: by the model's own end, or cut.
    """

    ids: list[int]
    begun: int
    sampled: int = 0
    forced: deque[int] = field(default_factory=deque)
    replies: list[str] = field(default_factory=list)
    ended: bool = False


class Sampler:
    """Takes samples.

    Args:
        plan: the settings.
        prompts: sample n has four of them, from 4 n on, modulo their number.
    """

    def __init__(self, plan: Plan, prompts: Sequence[str]) -> None:
        self._plan, self._prompts = plan, prompts
        self._model = plan.open_model()
        self._template = _template_of(self._model)
        self._end = self._end_of_turn()

    def take(self, kind: str, number: int) -> Sample:
        """Rollouts to four prompts."""
        draw = np.random.default_rng([self._plan.seed, number, sorted(KINDS).index(kind)])
        at = PROMPTS * number
        chosen = [self._prompts[(at + n) % len(self._prompts)] for n in range(PROMPTS)]
        asked = [KINDS[kind].messages(prompt) for prompt in chosen for _ in range(GROUP)]
        rollouts = self._written(KINDS[kind], asked, draw)
        rows = [
            {"ids": one.ids, "template": self._reread(KINDS[kind], messages, one)}
            for messages, one in zip(asked, rollouts, strict=True)
        ]
        return {"kind": kind, "number": number, "rollouts": rows}

    def _written(
        self, kind: Kind, asked: Sequence[list[Message]], draw: np.random.Generator
    ) -> list[Rollout]:
        """The rollouts of a batch, each until its last reply ends."""
        begins = self._model.tokenizer.encode(kind.begins)
        prompts = [[*self._encoded(self._text(messages)), *begins] for messages in asked]
        rollouts = [Rollout(list(ids), len(ids) - len(begins)) for ids in prompts]
        batch = start_batch(self._model, prompts)
        left = dict(enumerate(rollouts))
        while left:
            tokens = {}
            for row, one in list(left.items()):
                token = self._next(kind, one, batch.logits(row), draw)
                if token is None:
                    batch.drop(row)
                    del left[row]
                else:
                    one.ids.append(token)
                    tokens[row] = token
            if tokens:
                batch.push(tokens)
        return rollouts

    def _next(
        self, kind: Kind, one: Rollout, logits: Logits, draw: np.random.Generator
    ) -> int | None:
        """The next id of a rollout; None at its end."""
        if one.forced:
            token = one.forced.popleft()
            one.begun, one.sampled = len(one.ids) + 1, 0
            return token
        one.ended = one.sampled > 0 and one.ids[-1] == self._end
        if not one.ended and one.sampled < self._plan.tokens:
            one.sampled += 1
            return _drawn(np.asarray(logits, np.float64), draw)
        reply = one.ids[one.begun : len(one.ids) - one.ended]
        one.replies.append(self._model.tokenizer.decode(reply))
        if not kind.then or len(one.replies) == 2:
            return None
        turn = f"{kind.between}<|im_start|>user\n{kind.then}{_END}\n<|im_start|>assistant\n"
        one.forced.extend([*([] if one.ended else [self._end]), *self._encoded(turn)])
        return self._next(kind, one, logits, draw)

    def _reread(self, kind: Kind, messages: list[Message], one: Rollout) -> str:
        """What the template writes, up to where the ids end."""
        all_messages = list(messages)
        for n, reply in enumerate(one.replies):
            turn = [{"role": "user", "content": kind.then}] if n else []
            all_messages += [*turn, {"role": "assistant", "content": kept(reply)}]
        text = self._text(all_messages)
        return text[: text.rindex(_END) + len(_END) * one.ended]

    def _text(self, messages: list[Message]) -> str:
        template = self._template
        return parse(template.source).render(
            messages=messages, add_generation_prompt=True, **template.special_tokens
        )

    def _end_of_turn(self) -> int:
        """The id of _END: others may end texts, too, and be no end of a turn."""
        ids = self._encoded(_END)
        if len(ids) != 1 or ids[0] not in self._model.eos_ids:
            raise SettingsError(
                f"expected a model that ends its turns with the one token {_END}, found the ids "
                f"{ids} for it and {sorted(self._model.eos_ids)} as ends of texts; take one such "
                f"as torch:smollm2"
            )
        return ids[0]

    def _encoded(self, text: str) -> list[int]:
        assert isinstance(self._model, ChatModel)
        return list(self._model.encode_conversation(text))


def _template_of(model: LanguageModel) -> ChatTemplate:
    template = model.chat_template if isinstance(model, ChatModel) else None
    if template is None or _END not in template.source:
        raise SettingsError(
            "expected a chat model with a template of ChatML, found none or another one; take one "
            "such as torch:smollm2"
        )
    return template


def _drawn(logits: Logits, draw: np.random.Generator) -> int:
    """A token by its probability."""
    sums = np.cumsum(np.exp(logits - logits.max()))
    return int(np.searchsorted(sums[:-1], draw.random() * sums[-1], side="right"))


def settings_of(plan: Plan) -> JsonObject:
    """The plan in types that JSON has, with what each kind says."""
    kinds: Mapping[str, JsonObject] = {name: asdict(kind) for name, kind in KINDS.items()}
    return asdict(plan) | {"kinds": kinds}
