"""Writes watermarked texts whose tokens a detector finds again in the text."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Unpack

from .._support.checks import require_type
from .._support.deprecation import keywords_after, renamed_arguments
from ..chat import Prompt
from ..consistency import Specials, View
from ..consistency._boundaries import specials_named
from ..interfaces import LanguageModel
from ..registry import require_model
from ..schemes import GumbelPayload, Scheme, SchemeSettings, external_scheme, make_scheme
from ._agreement import WatermarkAgreement
from ._generator import GeneratorSettings
from ._randomness import Randomness, row_randoms
from ._samplers import LogitsWarper, watermarked_sampler
from ._text_stream import Generated, TextStream
from ._whole_text_rejection import MAX_ATTEMPTS
from ._writer import RollbackKind, TextWriter


class WatermarkerSettings(GeneratorSettings, total=False):
    """How a `Watermarker` writes, by name."""

    temperature: float
    top_k: int | None
    top_p: float


class Watermarker:
    """Writes texts with one model, one scheme and one key.

    Thread-safe. With a seed of the Watermarker, the order of the calls decides which text gets
    which random numbers, whichever is written first; each result states its seed.

    It can be copied and pickled where its model and scheme can. A pickle holds the key, which is a
    secret: keep it like the key.

    Args:
        model: any model.
        scheme: its name, or a scheme as an object.
        key: the secret, which a detector needs too; only for a scheme that is given by name. See
            `ticore.new_key`.
        observation, rollback, max_attempts, view, specials, end_of_text: see
            `ticore.watermarking.Generator`. `gumbel` takes its choices from the key, so it has no
            `exact` rollback.
        temperature, top_k, top_p: see `ticore.watermarking.LogitsWarper`; applied before the
            scheme's own bias.
        seed: of the random numbers that are not the scheme's. The first call writes the text of
            this seed, and each later call that of a seed that follows from it. None: each call
            draws a seed. Either way the result states its own. (Version 1 of `gumbel` has no random
            numbers but the scheme's: after a prompt of five tokens or more its text is always the
            same.)
        settings: of the scheme, such as gamma; see `ticore.schemes.SchemeSettings`.

    Attributes:
        scheme: the scheme as an object.

    Raises:
        SettingsError: `model` is not a model, or a setting is out of range or unknown.
        CredentialError: there is no key, or it is too short or too long.

    >>> import ticore
    >>> model = ticore.load_model("tiny-en")
    >>> watermarker = Watermarker(model, "gumbel", key=bytes(32), seed=1)
    >>> text = watermarker.generate("The weather in spring", max_new_tokens=60).text
    >>> ticore.WatermarkDetector(model.tokenizer, "gumbel", key=bytes(32)).detect(text).verdict
    'watermarked'
    """

    def __init__(
        self,
        model: LanguageModel,
        scheme: str | Scheme = "left_hash",
        *,
        key: bytes | str | None = None,
        observation: int | None = 2,
        rollback: RollbackKind = "windowed",
        max_attempts: int = MAX_ATTEMPTS,
        view: View = "continuation",
        specials: Specials = "refuse",
        end_of_text: bool = True,
        temperature: float = 1.0,
        top_k: int | None = None,
        top_p: float = 1.0,
        seed: int | None = None,
        **settings: Unpack[SchemeSettings],
    ) -> None:
        specials = specials_named(specials)
        require_model(model)
        self.scheme = make_scheme(scheme, key, model.tokenizer.vocab_size, **settings)
        if isinstance(self.scheme, GumbelPayload):
            self.scheme.require_writable()
        self._warper = LogitsWarper(temperature, top_k, top_p)
        self._randomness = Randomness(seed)
        self._writer = TextWriter(
            model,
            observation=observation,
            rollback=rollback,
            max_attempts=max_attempts,
            view=view,
            specials=specials,
            end_of_text=end_of_text,
        )
        self._writer.require_usable(watermarked_sampler(self.scheme, Random(0), self._warper))

    @classmethod
    def from_agreement(
        cls,
        model: LanguageModel,
        agreement: WatermarkAgreement,
        *,
        payload: bytes | str | None = None,
        **settings: Unpack[WatermarkerSettings],
    ) -> Watermarker:
        """A Watermarker whose texts a detector with the same agreement finds.

        Args:
            model: one whose tokenizer is that of the agreement.
            agreement: the scheme, its settings and the key.
            payload: what is written, for a scheme with a payload: see
                `ticore.schemes.GumbelPayload`.
            settings: how to write: see the class.

        Raises:
            SettingsError: `model` is not a model, its tokenizer is another one than the
                agreement's, or a setting is out of range.
            WrongTypeError: `agreement` is not one, such as the name of its file.
        """
        require_model(model)
        require_type(
            "agreement", agreement, WatermarkAgreement, "open it with WatermarkAgreement.load"
        )
        agreement.require_tokenizer(model.tokenizer)
        scheme = agreement.make_scheme(model.tokenizer.vocab_size, payload=payload)
        return cls(model, scheme, **settings)

    @classmethod
    def for_engine(
        cls,
        model: LanguageModel,
        engine: str,
        config: object,
        **settings: Unpack[WatermarkerSettings],
    ) -> Watermarker:
        """A Watermarker of another engine's watermark, which that engine's detector finds.

        Args:
            model: any.
            engine: one of `ticore.schemes.EXTERNAL_SCHEMES`.
            config: the engine's own settings by its own names, with the key: a mapping, or the
                engine's configuration object. Green lists of transformers are drawn from as many
                ids as the model has logits, unless the mapping has another `vocab_size`.
            settings: how to write: see the class.

        Raises:
            SettingsError: `model` is not a model, the engine or a setting is unknown, or a setting
                is out of range.
        """
        require_model(model)
        return cls(model, external_scheme(engine, config, model.logit_width), **settings)

    @renamed_arguments(tokens="max_new_tokens")
    @keywords_after(2)
    def generate(
        self, prompt: Prompt, *, max_new_tokens: int = 200, seed: int | None = None
    ) -> Generated:
        """Write a watermarked text.

        Args:
            prompt: a text, a conversation (`ticore.Chat`), or token ids.
            max_new_tokens: the most tokens to write.
            seed: of this text's random numbers, in place of the Watermarker's.

        Returns:
            The text and how it was written; `str` of it is the text.

        Raises:
            PromptError, SettingsError, CapacityError: as
                `ticore.watermarking.Generator.generate`.
        """
        return self.stream(prompt, max_new_tokens=max_new_tokens, seed=seed).run()

    @renamed_arguments(tokens="max_new_tokens")
    @keywords_after(2)
    def generate_batch(
        self,
        prompts: Sequence[Prompt],
        *,
        max_new_tokens: int = 200,
        seed: int | None = None,
    ) -> list[Generated]:
        """Write a watermarked text for each prompt, all of them together.

        Each prompt has random numbers of its own, which depend on the call's seed and on its place
        in `prompts`. So a text does not depend on what is written beside it: see
        `ticore.watermarking.Generator.generate_batch`.

        Args:
            prompts: texts, conversations, or token ids.
            max_new_tokens: the most tokens to write for each.
            seed: of this batch's random numbers, in place of the Watermarker's.

        Returns:
            The texts, in the order of the prompts.

        Raises:
            PromptError, SettingsError, CapacityError, WrongTypeError: as
                `ticore.watermarking.Generator.generate_batch`.
        """
        randomness, used = self._randomness.of_call(seed)
        randoms = row_randoms(randomness)
        return self._writer.write_batch(
            prompts,
            lambda row: watermarked_sampler(self.scheme, randoms(row), self._warper),
            max_new_tokens,
            used,
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
        randomness, used = self._randomness.of_call(seed)
        sampler = watermarked_sampler(self.scheme, randomness, self._warper)
        return self._writer.start(prompt, sampler, max_new_tokens, used)
