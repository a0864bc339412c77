"""Text that its receiver reads as the tokens that were written, with or without a watermark."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..consistency import Verification, Verifier, View
from ..errors import PromptError, SettingsError
from ..interfaces import LanguageModel, Tokenizer
from .rollback import MOST_UNDONE, End, Rollback, Sampler
from .sampling import excluding, multinomial


@dataclass(frozen=True)
class Generated:
    """A text and how it came about.

    Attributes:
        text: what the tokens written spell: in view `continuation` by themselves, so that with
            rollback `encode(text)` gives them back; in view `whole` behind the prompt.
        ids: these tokens.
        whole: the prompt and the text together, as the model read them. In view `whole`, with
            rollback, `encode(whole)` gives back the prompt's tokens and `ids`.
        end: why it ended: `length`, `end of text`, `dead end` (nothing consistent may follow),
            `context` (the model can read no more).
        rollbacks: how often tokens were taken back since their inconsistency stayed.
        temporary: how often an inconsistency vanished by itself.
        undone: how often a consistent text was taken back, since nothing could follow it.
        forwards: tokens that the model read behind the prompt.
        consistent: whether the tokens survive being read back.
        seconds: wall-clock time.
    """

    text: str
    ids: tuple[int, ...]
    whole: str
    end: End | Literal["context"]
    rollbacks: int
    temporary: int
    undone: int
    forwards: int
    consistent: bool
    seconds: float


class Generator:
    """Writes texts with one model and one sampler.

    Args:
        model: any model.
        sampler: chooses tokens, see `ticore.watermarking.Sampler`; None samples by probability.
        observation: how many further tokens an inconsistency is given to vanish before it is taken
            back; 2 suits Llama 2, 10 Swallow and Qwen2.5 (the paper, section 6). None: nothing is
            taken back, and the text may be inconsistent.
        view: what the receiver retokenises: the `continuation`, or the `whole` text.
        end_of_text: whether the text may end by itself, before its length is reached.
        seed: of the random numbers of the default sampler.
    """

    def __init__(
        self,
        model: LanguageModel,
        sampler: Sampler | None = None,
        *,
        observation: int | None = 2,
        view: View = "continuation",
        end_of_text: bool = True,
        seed: int | None = None,
    ) -> None:
        if observation is not None and observation < 0:
            raise SettingsError(
                f"observation: expected 0 or more tokens, or None, found {observation}"
            )
        self._model = model
        self._observation = observation
        self._view: View = view
        self._eos_ids = model.eos_ids if end_of_text else frozenset[int]()
        tokenizer = model.tokenizer
        never = {*tokenizer.special_ids, *range(tokenizer.vocab_size, model.logit_width)}
        never |= model.eos_ids
        chosen = sampler or multinomial(random.Random(seed))
        self._sampler = excluding(chosen, sorted(never - self._eos_ids))
        self._verifier = Verifier(tokenizer, "prefix", view)

    def generate(self, prompt: str | Sequence[int], tokens: int) -> Generated:
        """A text of at most `tokens` tokens.

        Args:
            prompt: a text, or its token ids.

        Raises:
            PromptError: the prompt does not fit the model's context, or is not consistent and the
                receiver retokenises the whole.
            SettingsError: `tokens` is negative.
        """
        return self.start(prompt, tokens, undo=MOST_UNDONE).run()

    def start(self, prompt: str | Sequence[int], tokens: int, *, undo: int = 0) -> Writing:
        """The same piece by piece: see `Writing`. Raises as `generate`.

        Args:
            undo: see `Rollback`; above 0 a piece that was given out may be taken back.
        """
        if tokens < 0:
            raise SettingsError(f"tokens: expected 0 or more, found {tokens}")
        tokenizer = self._model.tokenizer
        ids = tokenizer.encode(prompt) if isinstance(prompt, str) else list(prompt)
        room = self._model.context_length - len(ids)
        if room <= 0:
            raise PromptError(
                f"expected a prompt of fewer than {self._model.context_length} tokens, the "
                f"model's context, found {len(ids)}; shorten it"
            )
        rollback = Rollback(
            self._model.start(ids),
            None if self._observation is None else self._verification(ids),
            self._sampler,
            tokens=min(tokens, room),
            observation=self._observation or 0,
            eos_ids=self._eos_ids,
            undo=undo,
        )
        return Writing(tokenizer, self._view, ids, rollback, cut=room < tokens)

    def _verification(self, prompt_ids: Sequence[int]) -> Verification:
        verification = self._verifier.start(prompt_ids)
        if not verification.consistent:
            raise PromptError(
                "expected a prompt that its tokenizer reads back as the tokens given, found "
                "another; give it as text, or use view 'continuation'"
            )
        return verification


class Writing:
    """A text that is being written.

    Iterate for its pieces as they are settled, or `run` it to its end; `result` says at any time
    what was written so far.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        view: View,
        prompt_ids: Sequence[int],
        rollback: Rollback,
        *,
        cut: bool,
    ) -> None:
        self._tokenizer = tokenizer
        self._view: View = view
        self._prompt_ids = list(prompt_ids)
        self._rollback = rollback
        self._cut = cut
        self._started = time.perf_counter()

    def __iter__(self) -> Iterator[str]:
        shown = ""
        for _ in self._rollback.run():
            text = self._text()
            # The last character may be incomplete; it is shown with the next piece.
            if text.startswith(shown) and not text.endswith("\ufffd"):
                yield text[len(shown) :]
                shown = text
        yield self._text()[len(shown) :]

    def run(self) -> Generated:
        """Write to the end."""
        for _ in self._rollback.run():
            pass
        return self.result()

    def result(self) -> Generated:
        """What was written so far."""
        rollback, ids = self._rollback, tuple(self._rollback.committed)
        read = self._tokenizer.encode(self._whole() if self._view == "whole" else self._text())
        end = rollback.end or "length"
        return Generated(
            text=self._text(),
            ids=ids,
            whole=self._whole(),
            end="context" if self._cut and end == "length" else end,
            rollbacks=rollback.rollbacks,
            temporary=rollback.temporary,
            undone=rollback.undone,
            forwards=rollback.forwards,
            consistent=read == [*(self._prompt_ids if self._view == "whole" else ()), *ids],
            seconds=time.perf_counter() - self._started,
        )

    def _text(self) -> str:
        if self._view == "continuation":
            return self._tokenizer.decode(self._rollback.committed)
        return self._whole()[len(self._tokenizer.decode(self._prompt_ids)) :]

    def _whole(self) -> str:
        return self._tokenizer.decode([*self._prompt_ids, *self._rollback.committed])


def consistent_generate(
    model: LanguageModel,
    prompt: str | Sequence[int],
    sampler: Sampler | None = None,
    tokens: int = 200,
    observation: int = 2,
    **settings: Any,
) -> Generated:
    """A text whose tokens its receiver reads again, without a watermark.

    For rollouts of reinforcement learning and the like: what is trained on is what was generated.

    Args:
        model, prompt, sampler, tokens, observation, settings: as for `Generator`.

    Raises as `Generator` and `Generator.generate`.
    """
    return Generator(model, sampler, observation=observation, **settings).generate(prompt, tokens)
