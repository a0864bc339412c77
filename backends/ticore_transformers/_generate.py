"""One call for consistent texts: rollback or masks, streamers, stop strings, beams.

ids = generate(model, tokenizer, **inputs, do_sample=True, max_new_tokens=50)
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import Any

import torch
from transformers import LogitsProcessorList, PreTrainedModel, StoppingCriteriaList

from ticore.backend_kit import require_one_of
from ticore.consistency import Verifier, View
from ticore.errors import CapacityError, SettingsError
from ticore.interfaces import Tokenizer
from ticore_masks import FollowedText, verification_of
from ticore_torch import ids_of

from ._caller import require_called
from ._choosing import Consistency
from ._consistent import consistent, require_no_encoder
from ._ends import spelled_ends
from ._logits_processor import ConsistentLogitsProcessor
from ._prompts import require_network, require_prompts
from ._stop_strings import StopStrings, checked_strings, named_specials


def generate(
    model: PreTrainedModel,
    tokenizer: Tokenizer | object,
    inputs: torch.Tensor | None = None,
    *,
    consistency: Consistency = "rollback",
    observation: int = 2,
    view: View = "continuation",
    streamer: Any | None = None,
    stop_strings: str | Iterable[str] | None = None,
    **settings: Any,
) -> Any:
    """transformers' `model.generate`, whose texts are read back as the tokens that were written.

    Args:
        model: of transformers, with a causal language model's head.
        tokenizer, consistency, observation, view: see `consistent`. With several beams
            `consistency` must be `masks`: a beam cannot take tokens back. The mask then comes
            before temperature, top-k and the like.
        inputs: the prompts int64[rows, n], padded at the left; or `input_ids` among the settings.
        streamer: gets tokens when they are settled; None of them is taken back. It is ended when
            this returns, and also when this fails.
        stop_strings: a text ends where it has one of these. A string that ends in the last few
            tokens may be followed by up to `observation` tokens, those that keep it consistent.
        settings: what else `model.generate` takes, such as an attention mask, a generation config,
            `do_sample`, `max_new_tokens` or `return_dict_in_generate`.

    Returns:
        As `model.generate`: int64[rows, m], or its own output classes; see `consistent`.

    Raises:
        SettingsError: as `consistent`; there are beams and `consistency` is `rollback`;
            `settings` have a `custom_generate`, or a paged cache; the model's own config has stop
            strings; or `inputs` have another shape, or ids that the model lacks.
        PromptError, CapacityError, ModelError: as `consistent`; with beams also where there are
            fewer consistent candidates than beams.
        WrongTypeError: `model` is no model of transformers, or `inputs` no tensor of integers.
    """
    ended = None if streamer is None else _EndedOnce(streamer)
    try:
        require_one_of("consistency", consistency, ("rollback", "masks"))
        require_network(model)
        require_no_encoder(model)
        require_called(settings)
        require_prompts(model, settings.get("input_ids") if inputs is None else inputs)
        stop_strings, settings = _with_strings_of_config(model, stop_strings, settings)
        strings = None if stop_strings is None else checked_strings(stop_strings)
        if "custom_generate" in settings:
            raise SettingsError(
                "expected settings without custom_generate, found one; this function is what makes "
                "it: call model.generate with yours, and with ConsistentLogitsProcessor"
            )
        if consistency == "masks" and _of_config(model, settings, "num_beams", 1) > 1:
            return _beams(model, tokenizer, inputs, view, ended, strings, settings)
        if strings is not None:
            settings["stop_strings"] = strings
        custom = consistent(
            tokenizer,
            consistency=consistency,
            observation=observation,
            view=view,
            streamer=ended,
        )
        write: Any = model.generate
        return write(inputs, custom_generate=custom, **settings)
    finally:
        if ended is not None:
            ended.end()


def _beams(
    model: PreTrainedModel,
    tokenizer: Tokenizer | object,
    inputs: torch.Tensor | None,
    view: View,
    streamer: Any | None,
    stop_strings: list[str] | None,
    settings: dict[str, Any],
) -> Any:
    """Beam search of transformers, with masks."""
    prompts = settings.get("input_ids") if inputs is None else inputs
    if prompts is None:
        raise SettingsError("inputs: expected prompts int64[rows, n], found none; give input_ids")
    length = prompts.shape[1]
    # -1 stands for none in some configs.
    end_ids = [one for one in ids_of(_of_config(model, settings, "eos_token_id", None)) if one >= 0]
    verifier = Verifier(tokenizer, mode="prefix", view=view)
    if stop_strings is not None:
        named = named_specials(stop_strings, verifier.tokenizer).difference(end_ids)
        if named:
            end_ids += sorted(named)
            settings["eos_token_id"] = end_ids
    processor = ConsistentLogitsProcessor(
        tokenizer, prompt_length=length, eos_ids=end_ids, view=view
    )
    processors = LogitsProcessorList([*(settings.pop("logits_processor", None) or ()), processor])
    criteria = StoppingCriteriaList(settings.pop("stopping_criteria", None) or ())
    if stop_strings is not None:
        criteria.append(StopStrings(stop_strings, verifier.tokenizer, length))
    write: Any = model.generate
    found = write(
        inputs,
        logits_processor=processors,
        stopping_criteria=criteria,
        streamer=streamer,
        **settings,
    )
    spelled = spelled_ends(verifier.tokenizer, end_ids)
    pads = ids_of(_of_config(model, settings, "pad_token_id", None))
    for row in getattr(found, "sequences", found).tolist():
        prompt, written = row[:length], row[length:]
        end = next((at for at, token in enumerate(written) if token in end_ids), len(written))
        end += end < len(written) and written[end] in spelled
        # Where a stop string has ended the text: -1 is transformers' filling without an end token.
        while end and (written[end - 1] in pads or written[end - 1] < 0):
            end -= 1
        text = FollowedText(verification_of(verifier, prompt))
        if not text.follow(written[:end]).consistent:
            raise CapacityError(
                "expected a consistent candidate for each beam, found fewer; use fewer beams "
                "(num_beams), or raise top_k or top_p"
            )
    return found


def _with_strings_of_config(
    model: PreTrainedModel, strings: str | Iterable[str] | None, settings: dict[str, Any]
) -> tuple[str | Iterable[str] | None, dict[str, Any]]:
    """The stop strings, those of a config where none are given; and settings without them.

    transformers makes a criterion of those in a config, for which it needs its own tokenizer.

    Raises:
        SettingsError: the model's own config has some, which no setting can take away.
    """
    if model.generation_config.stop_strings is not None:
        raise SettingsError(
            "stop_strings: expected them as an argument, found some in model.generation_config; "
            "give them here, and set model.generation_config.stop_strings = None"
        )
    config = settings.get("generation_config")
    if config is None or config.stop_strings is None:
        return strings, settings
    plain = copy(config)
    plain.stop_strings = None
    return strings or config.stop_strings, {**settings, "generation_config": plain}


def _of_config(model: PreTrainedModel, settings: dict[str, Any], name: str, default: Any) -> Any:
    """A setting as `model.generate` finds it: given by itself, in a config, or in the model's."""
    for config in (settings.get("generation_config"), model.generation_config):
        if settings.get(name) is not None:
            return settings[name]
        found = getattr(config, name, None)
        if found is not None:
            return found
    return default


class _EndedOnce:
    """A streamer that may be told several times that the text has ended."""

    def __init__(self, streamer: Any) -> None:
        self._streamer = streamer
        self._ended = False

    def put(self, value: torch.Tensor) -> None:
        self._streamer.put(value)

    def end(self) -> None:
        if not self._ended:
            self._ended = True
            self._streamer.end()
