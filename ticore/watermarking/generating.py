"""Text that its receiver reads as the tokens that were written, with or without a watermark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..consistency import Specials, Verification, Verifier, View
from ..errors import PromptError, SettingsError, WrongTypeError
from ..interfaces import Decoder, LanguageModel
from ..limits import checked_ids
from ..registry import require_model
from ..rows import each_row
from .lockstep import Row, in_lockstep
from .rollback import MOST_UNDONE, Rollback, Sampler, most_rewound
from .sampling import RowSamplers, excluding, multinomial, of_text, own_draws, random_numbers
from .serial import start_batch
from .writing import Generated, Writing


class Generator:
    """Writes texts with one model and one sampler.

    Args:
        model: any model.
        sampler: chooses tokens, see `ticore.watermarking.Sampler`; None samples by probability.
        observation: how many further tokens an inconsistency is given to vanish before it is taken
            back; 2 suits Llama 2, 10 Swallow and Qwen2.5 (the paper, section 6). None: nothing is
            taken back, and the text may be inconsistent.
        view: what the receiver retokenises: the `continuation`, or the `whole` text.
        specials: what special tokens in a prompt of ids mean in view `whole`. `refused`: the
            receiver has the text alone, where there are none. `boundaries`: the receiver keeps
            them, as in rollouts of chats, and reads each part between them by itself.
        end_of_text: whether the text may end by itself, before its length is reached.
        seed: of the random numbers of the default sampler; None: another text each time, also in
            processes that were forked after this was made.
    """

    def __init__(
        self,
        model: LanguageModel,
        sampler: Sampler | None = None,
        *,
        observation: int | None = 2,
        view: View = "continuation",
        specials: Specials = "refused",
        end_of_text: bool = True,
        seed: int | None = None,
    ) -> None:
        require_model(model)
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
        self._never = sorted(never - self._eos_ids)
        self._draw = random_numbers(seed)
        self._given = sampler
        self._sampler = excluding(sampler or multinomial(self._draw), self._never)
        self._verifier = Verifier(tokenizer, "prefix", view, specials=specials)

    def generate(self, prompt: str | Sequence[int], tokens: int) -> Generated:
        """A text of at most `tokens` tokens.

        Args:
            prompt: a text, or its token ids.

        Raises:
            PromptError: the prompt does not fit the model's context, or is not consistent and the
                receiver retokenises the whole.
            SettingsError: `tokens` is negative, or an id has no logit.
        """
        return self.start(prompt, tokens, undo=MOST_UNDONE).run()

    def generate_batch(
        self,
        prompts: Sequence[str | Sequence[int]],
        tokens: int,
        samplers: RowSamplers | None = None,
    ) -> list[Generated]:
        """For each prompt a text of at most `tokens` tokens; they are written side by side.

        Each text is the one that a Generator with its sampler writes by itself, whatever the
        others are. (Logits may differ in their last bits by what is read beside a text; a choice
        as close as that may fall differently.)

        Args:
            prompts: texts, or their token ids.
            samplers: gives for the number of a prompt its sampler. None: the sampler of this
                Generator for all, which must then remember nothing from one call to the next; or,
                where there is none, sampling by probability, with random numbers of its own for
                each number of a prompt, and others in each call.

        Raises as `generate`, before anything is written, and names the row: a prompt's number,
        from 0 on.
        """
        if isinstance(prompts, str | bytes):
            raise WrongTypeError(
                f"expected a list of prompts, found one {type(prompts).__name__}; for one text "
                f"use generate, or give [prompt]"
            )
        _require_length(tokens)
        own = samplers or self._row_samplers()
        ids = each_row(self._ids, prompts)
        verifications = each_row(self._verification, ids)
        batch = start_batch(self._model, ids, most_rewound(self._observation or 0, MOST_UNDONE))
        texts = [
            self._writing(
                Row(batch, row), verification, excluding(own(row), self._never), tokens, MOST_UNDONE
            )
            for row, verification in enumerate(verifications)
        ]
        ended = in_lockstep(batch, [text.rollback for text in texts])
        written = {row: texts[row].result() for row in ended}
        return [written[row] for row in range(len(texts))]

    def start(self, prompt: str | Sequence[int], tokens: int, *, undo: int = 0) -> Writing:
        """The same as `generate` piece by piece: see `Writing`. Raises as `generate`.

        Args:
            undo: see `Rollback`; above 0 a piece that was given out may be taken back.
        """
        _require_length(tokens)
        ids = self._ids(prompt)
        verification = self._verification(ids)
        return self._writing(self._model.start(ids), verification, self._sampler, tokens, undo)

    def _ids(self, prompt: str | Sequence[int]) -> list[int]:
        """Of a prompt that the model can read, and write behind."""
        given = self._model.tokenizer.encode(prompt) if isinstance(prompt, str) else prompt
        ids = checked_ids(given, self._model.logit_width)
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
                "special tokens, specials='boundaries'"
            )
        return verification

    def _writing(
        self,
        decoder: Decoder,
        verification: Verification | None,
        sampler: Sampler,
        tokens: int,
        undo: int,
    ) -> Writing:
        """Of a text whose prompt `decoder` has read."""
        room = self._model.context_length - len(decoder.ids)
        rollback = Rollback(
            decoder,
            verification,
            of_text(sampler, len(decoder.ids)),
            tokens=min(tokens, room),
            observation=self._observation or 0,
            eos_ids=self._eos_ids,
            undo=undo,
        )
        tokenizer = self._model.tokenizer
        specials = self._verifier.specials
        return Writing(tokenizer, self._view, specials, decoder.ids, rollback, cut=room < tokens)

    def _row_samplers(self) -> RowSamplers:
        given = self._given
        if given is not None:
            return lambda row: given
        draws = own_draws(self._draw)
        return lambda row: multinomial(draws(row))


def _require_length(tokens: int) -> None:
    if tokens < 0:
        raise SettingsError(f"tokens: expected 0 or more, found {tokens}")


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


def consistent_generate_batch(
    model: LanguageModel,
    prompts: Sequence[str | Sequence[int]],
    samplers: RowSamplers | None = None,
    tokens: int = 200,
    observation: int = 2,
    **settings: Any,
) -> list[Generated]:
    """For each prompt such a text; they are written side by side.

    Args:
        model, prompts, samplers, tokens, observation, settings: as for `Generator` and
            `Generator.generate_batch`.

    Raises as `Generator` and `Generator.generate_batch`.

    >>> import ticore
    >>> model = ticore.load_model("tiny-en", dtype="float32")
    >>> prompts = ["It was late when", "She opened the door, and"]
    >>> texts = consistent_generate_batch(model, prompts, tokens=20, seed=1)
    >>> [model.tokenizer.encode(text.text) == list(text.ids) for text in texts]
    [True, True]
    """
    return Generator(model, observation=observation, **settings).generate_batch(
        prompts, tokens, samplers
    )
