"""Writes watermarked texts that keep their watermark on the way through text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..consistency import Specials, View
from ..interfaces import LanguageModel
from ..registry import require_model
from ..schemes import Scheme, scheme_named
from .generating import Generator
from .rollback import Sampler
from .sampling import Warp, marked, own_draws, random_numbers
from .writing import Generated, Writing


class Watermarker:
    """Writes texts with one model, one scheme and one key.

    It can be copied and pickled where its model and scheme can. A pickle holds the key, which is a
    secret: keep it like the key. Without a seed a copy draws random numbers of its own.

    Args:
        model: any model.
        scheme: its name, or a scheme.
        key: the secret that a detector needs too; needed with a name. See `ticore.new_key`.
        observation, view, specials, end_of_text: see `ticore.watermarking.Generator`.
        temperature, top_k, top_p: see `ticore.watermarking.Warp`; before the scheme's own bias.
        seed: of the random numbers that are not the scheme's; None: another text each time, also in
            processes that were forked after this was made. (Version 1 of `gumbel` has none but the
            scheme's: after a prompt of five tokens or more its text is always the same.)
        settings: of the scheme, such as gamma.

    Raises:
        SettingsError: a setting is out of range or unknown.
        KeyFormatError: there is no key, or it is too short or too long.

    >>> import ticore
    >>> model = ticore.load_model("tiny-en")
    >>> mark = Watermarker(model, "gumbel", key=bytes(32), seed=1)
    >>> text = mark.generate("The weather in spring", tokens=60).text
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
        view: View = "continuation",
        specials: Specials = "refused",
        end_of_text: bool = True,
        temperature: float = 1.0,
        top_k: int | None = None,
        top_p: float = 1.0,
        seed: int | None = None,
        **settings: Any,
    ) -> None:
        require_model(model)
        self.scheme = scheme_named(scheme, key, model.tokenizer.vocab_size, **settings)
        self._arguments = {
            "observation": observation,
            "view": view,
            "specials": specials,
            "end_of_text": end_of_text,
            "temperature": temperature,
            "top_k": top_k,
            "top_p": top_p,
            "seed": seed,
        }
        self._model = model
        self._warp = Warp(temperature, top_k, top_p)
        self._draw = random_numbers(seed)
        self._generator = Generator(
            model,
            marked(self.scheme, self._draw, self._warp),
            observation=observation,
            view=view,
            specials=specials,
            end_of_text=end_of_text,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        state = None if self._arguments["seed"] is None else self._draw.getstate()
        return _restored, (self._model, self.scheme, self._arguments, state)

    def generate(self, prompt: str | Sequence[int], tokens: int = 200) -> Generated:
        """A watermarked text of at most `tokens` tokens. Raises as `Generator.generate`."""
        return self._generator.generate(prompt, tokens)

    def generate_batch(
        self, prompts: Sequence[str | Sequence[int]], tokens: int = 200
    ) -> list[Generated]:
        """For each prompt a watermarked text of at most `tokens` tokens, written side by side.

        Where the scheme itself is random, each number of a prompt has random numbers of its own,
        from `seed`, and others in each call. A text hence does not depend on what is beside it:
        see `Generator.generate_batch`. Raises as that does.
        """
        draws = own_draws(self._draw)

        def sampler(row: int) -> Sampler:
            return marked(self.scheme, draws(row), self._warp)

        return self._generator.generate_batch(prompts, tokens, sampler)

    def stream(self, prompt: str | Sequence[int], tokens: int = 200) -> Writing:
        """The same piece by piece, as it is written: see `Writing`. Raises as `generate`."""
        return self._generator.start(prompt, tokens)


def _restored(
    model: LanguageModel, scheme: Scheme, arguments: dict[str, Any], state: Any
) -> Watermarker:
    """A Watermarker as it was; `state` is that of its random numbers, if they have a seed."""
    mark = Watermarker(model, scheme, **arguments)
    if state is not None:
        mark._draw.setstate(state)
    return mark
