"""One name for both kinds of engine: what vLLM constructs it with decides."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import ticore
from ticore.errors import SettingsError
from ticore.interfaces import Tokenizer
from ticore_masks import RequestSettings, ServedTexts

from ._interfaces import BatchUpdate, SamplingParams, V1Base, V2Base, VllmConfig

# A child of vLLM's logger, so that reports are shown as its own lines are.
LOG = logging.getLogger("vllm.ticore")

_TOKENIZER = "ticore_tokenizer"


class ConsistentTokens(V2Base, V1Base):
    """Masks each candidate that would make a text one that is read back as other tokens.

    Give vLLM its name, `--logits-processors ticore_vllm:ConsistentTokens`; it makes the object. A
    request changes its own settings in `vllm_xargs` over HTTP, or in
    `SamplingParams(extra_args=...)`:

    - `ticore`: true by default; false leaves the request alone.
    - `ticore_mode`: `prefix` (default), `open` or `viable`, see `ticore.Verifier`.
    - `ticore_view`: `continuation` (default) or `whole`.
    - `ticore_specials`: `end` (default), only special tokens that end the text may be written;
      `any`, all special tokens that the receiver keeps.
    - `ticore_report`: a name under which the log reports what the masks of the request did.

    Args:
        vllm_config: vLLM's. Its `additional_config` may name another tokenizer of the same ids, as
            `ticore.load_tokenizer` opens it, under `ticore_tokenizer`.
        state: for Model Runner V2 its request state, for V1 the device.
        is_pin_memory: given by Model Runner V1 alone.

    Raises:
        SettingsError: the model's tokenizer cannot be verified; vLLM was started without one.
        ModelFilesError: the tokenizer cannot be adapted exactly.
    """

    def __new__(
        cls, vllm_config: VllmConfig, state: object, is_pin_memory: bool | None = None
    ) -> ConsistentTokens:
        kind = "_v2" if is_pin_memory is None else "_v1"
        module = import_module(f".{kind}", __package__)  # each one is based on this class
        made: ConsistentTokens = object.__new__(module.Processor)
        return made

    @classmethod
    def validate_params(cls, sampling_params: SamplingParams) -> None:
        """Refuse a request whose arguments are wrong, before it reaches the engine.

        Raises:
            SettingsError: an argument that begins with `ticore` is unknown, or its value is.
        """
        RequestSettings.of(sampling_params.extra_args)

    def is_argmax_invariant(self) -> bool:
        """False: the most probable token may be masked."""
        return False

    def update_state(self, batch_update: BatchUpdate | None) -> None:
        """For Model Runner V1, which alone calls it and whose class overrides it.

        Here it makes the class complete: it is based on both of vLLM's.
        """
        raise NotImplementedError


def served_texts(vllm_config: VllmConfig) -> ServedTexts:
    """The texts of vLLM's model. Raises as `ConsistentTokens`."""
    model = vllm_config.model_config
    return ServedTexts(_tokenizer_of(vllm_config), model.get_vocab_size(), LOG)


def ends_of(params: SamplingParams) -> frozenset[int]:
    """The ids that end the text of a request."""
    end = params.eos_token_id
    return frozenset(params.stop_token_ids or ()) | (frozenset() if end is None else {end})


def _tokenizer_of(vllm_config: VllmConfig) -> Tokenizer:
    more = vllm_config.additional_config
    named = more.get(_TOKENIZER) if isinstance(more, Mapping) else None
    if named is not None:
        return ticore.load_tokenizer(named)
    registry: Any = import_module("vllm.tokenizers")
    found = registry.cached_tokenizer_from_config(vllm_config.model_config)
    if found is None:
        raise SettingsError(
            f"expected a tokenizer, found vLLM started with skip_tokenizer_init; name one with "
            f'--additional-config \'{{"{_TOKENIZER}": "tokenizers:DIRECTORY"}}\''
        )
    return ticore.wrap(found)
