"""What a Generator and a Watermarker share: one model, and how its texts are verified."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Literal, TypedDict, get_args

from .._support.checks import listed, require, require_integer, require_one_of
from ..backend_kit._batch_decoder import each_row, error_names_row
from ..backend_kit._reading import RowDecoder, start_batch
from ..chat import Prompt, prompt_ids
from ..consistency import Specials, Verification, Verifier, View
from ..errors import PromptError, SettingsError
from ..interfaces import Decoder, LanguageModel
from ..registry import require_model
from ..schemes._array_cache import ResultCache
from ._batching import write_together
from ._first_tokens import hopeless
from ._logits import unspellable_ids
from ._rollback import MAX_BACKTRACKS, Rollback, max_rewind
from ._samplers import RowSamplers, excluding, is_deterministic, of_text
from ._text_loop import Sampler, TextLoop
from ._text_stream import Generated, TextStream
from ._whole_text_rejection import MAX_ATTEMPTS, WholeTextRejection

RollbackKind = Literal["windowed", "exact"]
"""What is taken back with an inconsistency: the tokens since it began, or the whole text."""


class TextSettings(TypedDict, total=False):
    """How a text is read, when it may end, and its seed: see `ticore.watermarking.Generator`."""

    view: View
    specials: Specials
    end_of_text: bool
    seed: int | None


class TextWriter:
    """Starts texts of one model. The sampler is given with each call. Thread-safe.

    Args:
        model: any.
        observation, rollback, max_attempts, view, specials, end_of_text: see `Generator`.

    Raises:
        SettingsError: `model` is not a model, or a setting is out of range or contradicts another.
    """

    def __init__(
        self,
        model: LanguageModel,
        *,
        observation: int | None = 2,
        rollback: RollbackKind = "windowed",
        max_attempts: int = MAX_ATTEMPTS,
        view: View = "continuation",
        specials: Specials = "refuse",
        end_of_text: bool = True,
    ) -> None:
        require_model(model)
        if observation is not None:
            observation = require_integer("observation", observation, 0)
        require_one_of("rollback", rollback, get_args(RollbackKind))
        max_attempts = require_integer("max_attempts", max_attempts, 1)
        require(
            observation is not None or rollback == "windowed",
            "observation",
            "a number of tokens with rollback='exact', which verifies every text",
            observation,
        )
        self._model = model
        self._observation = observation
        self._rollback: RollbackKind = rollback
        self._max_attempts = max_attempts
        self._view: View = view
        self._eos_ids = model.eos_ids if end_of_text else frozenset[int]()
        tokenizer = model.tokenizer
        never = unspellable_ids(tokenizer, model.logit_width) | model.eos_ids
        self._never = sorted(never - self._eos_ids)
        self._masks = ResultCache()
        self._verifier = Verifier(tokenizer, mode="prefix", view=view, specials=specials)

    @cached_property
    def _never_first(self) -> frozenset[int]:
        """The ids that cannot begin a text which is read without its prompt.

        Empty where no id can: a sampler needs one to choose, and then the writer gives up as usual.
        """
        # Two threads may do the same, with the same result.
        never = self._eos_ids.union(self._never)
        spelled = [token for token in range(self._model.logit_width) if token not in never]
        found = hopeless(self._verifier.start(), spelled)
        return found if len(found) < len(spelled) else frozenset()

    def require_usable(self, sampler: Sampler) -> None:
        """Refuse a sampler that would write the same text in each attempt.

        Raises:
            SettingsError: it would.
        """
        if self._rollback == "exact" and is_deterministic(sampler):
            raise SettingsError(
                "rollback: expected 'windowed' with a sampler whose choices depend on the tokens "
                "before alone, such as greedy or the scheme gumbel, found 'exact', which would "
                "write the same inconsistent text again and again; use 'windowed', or a sampler or "
                "scheme that draws each token"
            )

    def start(
        self, prompt: Prompt, sampler: Sampler, max_new_tokens: int, seed: int | None
    ) -> TextStream:
        """A text that is about to be written. Raises as `Generator.generate`.

        Args:
            prompt, max_new_tokens: see there.
            sampler: of this text.
            seed: for the result, see `Generated`.
        """
        max_new_tokens = require_integer("max_new_tokens", max_new_tokens, 0)
        ids = self._ids(prompt)
        verification = self._verification(ids)
        return self._stream(self._model.start(ids), verification, sampler, max_new_tokens, seed)

    def write_batch(
        self,
        prompts: Sequence[Prompt],
        samplers: RowSamplers,
        max_new_tokens: int,
        seed: int | None,
    ) -> list[Generated]:
        """For each prompt a text. Raises as `Generator.generate_batch`."""
        prompts = listed(prompts, "prompts", "for one text use generate, or give [prompt]")
        max_new_tokens = require_integer("max_new_tokens", max_new_tokens, 0)
        ids = each_row(self._ids, prompts)
        verifications = each_row(self._verification, ids)
        chosen = [samplers(row) for row in range(len(ids))]
        each_row(self.require_usable, chosen)
        batch = start_batch(self._model, ids, self._rewindable())
        texts = [
            self._stream(RowDecoder(batch, row), verification, sampler, max_new_tokens, seed)
            for row, (verification, sampler) in enumerate(zip(verifications, chosen, strict=True))
        ]
        ended = write_together(batch, [_reads(row, text) for row, text in enumerate(texts)])
        written = {row: texts[row].result() for row in ended}
        return [written[row] for row in range(len(texts))]

    def _rewindable(self) -> int | None:
        """The most tokens that a text is rewound by; None: to its prompt."""
        if self._rollback == "exact":
            return None
        return max_rewind(self._observation or 0, MAX_BACKTRACKS)

    def _ids(self, prompt: Prompt) -> list[int]:
        """The ids of a prompt that the model can read and continue."""
        ids = prompt_ids(self._model, prompt)
        if len(ids) >= self._model.context_length:
            raise PromptError(
                f"expected a prompt of fewer than {self._model.context_length} tokens, the "
                f"model's context, found {len(ids)}; shorten it"
            )
        return ids

    def _verification(self, prompt_ids: Sequence[int]) -> Verification | None:
        if self._observation is None:
            return None
        verification = self._verifier.start(prompt_ids)
        if not verification.consistent:
            raise PromptError(
                "expected a prompt that its tokenizer reads back as the tokens given, found "
                "another; give it as text, use view 'continuation', or, where the receiver keeps "
                "special tokens, specials='gaps'"
            )
        return verification

    def _stream(
        self,
        decoder: Decoder,
        verification: Verification | None,
        sampler: Sampler,
        max_new_tokens: int,
        seed: int | None,
    ) -> TextStream:
        """A text whose prompt `decoder` has read."""
        room = self._model.context_length - len(decoder.ids)
        chooses = of_text(excluding(sampler, self._never, self._masks), len(decoder.ids))
        most = min(max_new_tokens, room)
        rollback: TextLoop
        alone = self._view == "continuation"
        never_first = (lambda: self._never_first) if alone else None
        if verification is not None and self._rollback == "exact":
            rollback = WholeTextRejection(
                decoder,
                verification,
                chooses,
                max_new_tokens=most,
                eos_ids=self._eos_ids,
                max_attempts=self._max_attempts,
                never_first=never_first,
            )
        else:
            rollback = Rollback(
                decoder,
                verification,
                chooses,
                max_new_tokens=most,
                observation=self._observation or 0,
                eos_ids=self._eos_ids,
                never=self._never,
                never_first=never_first,
            )
        return TextStream(
            self._model.tokenizer,
            self._view,
            self._verifier.specials,
            decoder.ids,
            rollback,
            fills_context=room < max_new_tokens,
            seed=seed,
        )


def _reads(row: int, text: TextStream) -> Iterator[int]:
    """`TextLoop.reads` of a row's text. Errors name the row."""
    with error_names_row(row):
        yield from text.rollback.reads()
