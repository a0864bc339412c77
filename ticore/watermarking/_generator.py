"""Text that its receiver reads as the tokens that were written, without a watermark."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Unpack

from .._support.deprecation import keywords_after, renamed_arguments, warn_deprecated
from ..chat import Prompt
from ..consistency import Specials, View
from ..consistency._boundaries import specials_named
from ..errors import SettingsError
from ..interfaces import LanguageModel
from ._randomness import Randomness, row_randoms
from ._samplers import RowSamplers, multinomial
from ._text_loop import Sampler
from ._text_stream import Generated, TextStream
from ._whole_text_rejection import MAX_ATTEMPTS
from ._writer import RollbackKind, TextSettings, TextWriter


class GeneratorSettings(TextSettings, total=False):
    """The settings of a `Generator` by name."""

    observation: int | None
    rollback: RollbackKind
    max_attempts: int


class Generator:
    """Writes texts with one model and one sampler.

    Thread-safe where its sampler is. With a seed of the Generator, the order of the calls decides
    which text gets which random numbers, whichever is written first; each result states its seed.

    Args:
        model: any model.
        sampler: chooses tokens, see `ticore.watermarking.Sampler`; None samples by probability.
        observation: for how many further tokens an inconsistency is observed before it is taken
            back; 2 suits Llama 2, 10 Swallow and Qwen2.5 (Yan & Murawaki, section 6). None: nothing
            is taken back, and the text may be inconsistent.
        rollback: what is taken back. `windowed`: the tokens since the inconsistency began, and the
            first of them is not chosen again; this changes how likely texts are, a little.
            `exact`: the whole text, which is begun again; so a text is as likely as it is for the
            sampler, among the consistent texts of at most `max_new_tokens` tokens. `observation` is
            then not used, and a sampler that repeats its choices is refused, as `greedy` is.
        max_attempts: how many texts `exact` begins at most, for one that is consistent.
        view: what the receiver retokenizes: the `continuation`, or the `whole` text.
        specials: what special tokens in a prompt of ids mean in view `whole`. `refuse`: the
            receiver has the text alone, in which there are none. `gaps`: the receiver keeps them,
            as in rollouts of chats, and retokenizes each part between them by itself. `text`: they
            stand in the text by their names.
        end_of_text: whether the text may end by itself, before its length is reached.
        seed: of the default sampler's random numbers. The first call writes the text of this seed,
            and each later call that of a seed that follows from it. None: each call draws a seed.
            Either way the result states its own.

    Raises:
        SettingsError: `model` is not a model, a setting is out of range, there is a seed beside a
            sampler, which has random numbers of its own, or the sampler is `deterministic` and
            `rollback` is `exact`.
    """

    def __init__(
        self,
        model: LanguageModel,
        sampler: Sampler | None = None,
        *,
        observation: int | None = 2,
        rollback: RollbackKind = "windowed",
        max_attempts: int = MAX_ATTEMPTS,
        view: View = "continuation",
        specials: Specials = "refuse",
        end_of_text: bool = True,
        seed: int | None = None,
    ) -> None:
        specials = specials_named(specials)
        self._writer = TextWriter(
            model,
            observation=observation,
            rollback=rollback,
            max_attempts=max_attempts,
            view=view,
            specials=specials,
            end_of_text=end_of_text,
        )
        if sampler is not None:
            self._writer.require_usable(sampler)
        self._sampler = sampler
        self._randomness = Randomness(seed)
        self._require_no_seed(seed)

    @renamed_arguments(tokens="max_new_tokens")
    @keywords_after(2)
    def generate(
        self, prompt: Prompt, *, max_new_tokens: int = 200, seed: int | None = None
    ) -> Generated:
        """Write a text.

        Args:
            prompt: a text, a conversation (`ticore.Chat`), or token ids.
            max_new_tokens: the most tokens to write.
            seed: of this text's random numbers, in place of the Generator's.

        Returns:
            The text and how it was written; `str` of it is the text.

        Raises:
            PromptError: the prompt fills the model's context, is not consistent in view `whole`, or
                is a conversation that the model's template does not write.
            SettingsError: `max_new_tokens` or the seed is not an integer of at least 0, an id has
                no logit, or there is a seed beside a sampler.
            CapacityError: with `rollback="exact"`, no attempt was consistent.
            WrongTypeError: the prompt is bytes.
        """
        return self.stream(prompt, max_new_tokens=max_new_tokens, seed=seed).run()

    @renamed_arguments(tokens="max_new_tokens")
    @keywords_after(2)
    def generate_batch(
        self,
        prompts: Sequence[Prompt],
        *,
        max_new_tokens: int = 200,
        samplers: RowSamplers | None = None,
        seed: int | None = None,
    ) -> list[Generated]:
        """Write a text for each prompt, all of them together.

        Each text is the one that a Generator with its sampler writes alone, whatever the others
        are. (The last bits of logits may depend on the texts that are read in the same pass. So a
        choice between two tokens that are this close may differ.)

        Args:
            prompts: texts, conversations, or token ids.
            max_new_tokens: the most tokens to write for each.
            samplers: `f(n)` gives the sampler of prompt number n. None: this Generator's sampler
                for all, which must then not remember anything between calls; or, if it has none,
                sampling by probability, with random numbers of its own for each prompt.
            seed: of this batch's random numbers, in place of the Generator's.

        Returns:
            The texts, in the order of the prompts.

        Raises:
            PromptError, SettingsError: as `generate`, before anything is written. The text names
                the row, which is a prompt's number from 0 on.
            CapacityError: as `generate`; the text names the row. No text is returned.
            WrongTypeError: `prompts` is one text.
        """
        self._require_no_seed(seed, samplers)
        given = self._sampler
        if samplers is None and given is not None:
            samplers = partial(_same_for_all, given)
        if samplers is not None:
            return self._writer.write_batch(prompts, samplers, max_new_tokens, None)
        randomness, used = self._randomness.of_call(seed)
        randoms = row_randoms(randomness)
        return self._writer.write_batch(
            prompts, lambda row: multinomial(randoms(row)), max_new_tokens, used
        )

    @renamed_arguments(tokens="max_new_tokens")
    @keywords_after(2)
    def stream(
        self, prompt: Prompt, *, max_new_tokens: int = 200, seed: int | None = None
    ) -> TextStream:
        """Write the text of `generate` piece by piece: see `TextStream`.

        Args:
            prompt, max_new_tokens, seed: as for `generate`.

        Raises:
            PromptError, SettingsError: as `generate`.
        """
        self._require_no_seed(seed)
        if self._sampler is not None:
            return self._writer.start(prompt, self._sampler, max_new_tokens, None)
        randomness, used = self._randomness.of_call(seed)
        return self._writer.start(prompt, multinomial(randomness), max_new_tokens, used)

    def start(self, prompt: Prompt, tokens: int) -> TextStream:
        """Deprecated: the old name of `stream`."""
        warn_deprecated("Generator.start(prompt, N)", "Generator.stream(prompt, max_new_tokens=N)")
        return self.stream(prompt, max_new_tokens=tokens)

    def _require_no_seed(self, seed: int | None, samplers: RowSamplers | None = None) -> None:
        if seed is not None and (self._sampler is not None or samplers is not None):
            raise SettingsError(
                f"seed: expected none beside a sampler, which has random numbers of its own, "
                f"found {seed}; leave out the seed, and seed the sampler"
            )


def _same_for_all(sampler: Sampler, row: int) -> Sampler:
    return sampler


@renamed_arguments(tokens="max_new_tokens")
@keywords_after(2)
def consistent_generate(
    model: LanguageModel,
    prompt: Prompt,
    *,
    sampler: Sampler | None = None,
    max_new_tokens: int = 200,
    observation: int | None = 2,
    rollback: RollbackKind = "windowed",
    max_attempts: int = MAX_ATTEMPTS,
    **settings: Unpack[TextSettings],
) -> Generated:
    """Write a text whose tokens survive retokenization, without a watermark.

    For rollouts of reinforcement learning and the like: the tokens that are trained on are the
    tokens that were generated.

    Args:
        model, sampler, observation, rollback, max_attempts, settings: see
            `ticore.watermarking.Generator`.
        prompt, max_new_tokens: see `ticore.watermarking.Generator.generate`.

    Returns:
        The text and how it was written; `str` of it is the text.

    Raises:
        PromptError, SettingsError, CapacityError: as `Generator` and `Generator.generate`.
    """
    generator = Generator(
        model,
        sampler,
        observation=observation,
        rollback=rollback,
        max_attempts=max_attempts,
        **settings,
    )
    return generator.generate(prompt, max_new_tokens=max_new_tokens)


@renamed_arguments(tokens="max_new_tokens")
@keywords_after(2)
def consistent_generate_batch(
    model: LanguageModel,
    prompts: Sequence[Prompt],
    *,
    samplers: RowSamplers | None = None,
    max_new_tokens: int = 200,
    observation: int | None = 2,
    rollback: RollbackKind = "windowed",
    max_attempts: int = MAX_ATTEMPTS,
    **settings: Unpack[TextSettings],
) -> list[Generated]:
    """Write a text whose tokens survive retokenization for each prompt, all of them together.

    Args:
        model, observation, rollback, max_attempts, settings: see
            `ticore.watermarking.Generator`.
        prompts, samplers, max_new_tokens: see `ticore.watermarking.Generator.generate_batch`.

    Returns:
        The texts, in the order of the prompts.

    Raises:
        PromptError, SettingsError, CapacityError, WrongTypeError: as `Generator` and
            `Generator.generate_batch`.

    >>> import ticore
    >>> model = ticore.load_model("tiny-en", dtype="float32")
    >>> prompts = ["It was late when", "She opened the door, and"]
    >>> texts = consistent_generate_batch(model, prompts, max_new_tokens=20, seed=1)
    >>> [model.tokenizer.encode(text.text) == list(text.ids) for text in texts]
    [True, True]
    """
    seed = settings.pop("seed", None)
    generator = Generator(
        model,
        observation=observation,
        rollback=rollback,
        max_attempts=max_attempts,
        **settings,
    )
    return generator.generate_batch(
        prompts, samplers=samplers, max_new_tokens=max_new_tokens, seed=seed
    )
