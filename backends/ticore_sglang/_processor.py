"""A custom logit processor, as a request of SGLang names it."""

from __future__ import annotations

import json
import logging
import pickle
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, finalize

import torch

from ticore.errors import TicoreError
from ticore_masks import RequestSettings, ServedText, ServedTexts, mask_texts

from . import _server

# A child of SGLang's logger, so that reports are shown as its own lines are.
LOG = logging.getLogger("sglang.ticore")

_REQUEST = "__req__"  # under which SGLang gives the request itself

# SGLang makes a processor for each new batch, so what is known of a request is kept with it.
_TEXTS: WeakKeyDictionary[Any, ServedText] = WeakKeyDictionary()

if TYPE_CHECKING:

    class Base: ...

else:
    try:
        Base = import_module("sglang.srt.sampling.custom_logit_processor").CustomLogitProcessor
    except ModuleNotFoundError as error:
        if not str(error.name).startswith("sglang"):
            raise  # SGLang is there, and lacks something of its own
        Base = object


class ConsistentTokens(Base):
    """Masks each candidate that would make a text one that is read back as other tokens.

    A request names it, `"custom_logit_processor": ConsistentTokens.to_str()`, and must have
    `custom_params` in its sampling parameters, `{"ticore": True}` or more, see
    `ticore_masks.RequestSettings`. The server needs ticore, `--enable-custom-logit-processor` and
    `--disable-overlap-schedule`. A request that cannot be held consistent ends with an error.
    """

    @classmethod
    def to_str(cls) -> str:
        """What a request gives as `custom_logit_processor`. Needs no SGLang."""
        return json.dumps({"callable": pickle.dumps(cls).hex()})

    def __call__(
        self,
        logits: torch.Tensor,
        custom_param_list: Sequence[dict[str, Any] | None] | None = None,
    ) -> torch.Tensor:
        """Mask float[requests, width] in place, and give it back.

        Args:
            logits: of the requests that named this processor.
            custom_param_list: the `custom_params` of each of them, with the request itself.
        """
        texts = [self._text(params, logits.shape[1]) for params in custom_param_list or ()]
        if len(texts) != len(logits):
            LOG.error("a batch is not held consistent: its rows are not one for each request")
            return logits
        rows = [
            None if found is None else found[1].follow(list(found[0].output_ids)) for found in texts
        ]
        return mask_texts(logits, rows, [found and found[1] for found in texts])

    def _text(
        self, params: dict[str, Any] | None, width: int
    ) -> tuple[_server.Request, ServedText] | None:
        """A request and its text; None if it is left alone, or ends with an error."""
        request = (params or {}).get(_REQUEST)
        if params is None or request is None:
            LOG.error("a request is not held consistent: it has no custom_params; give some")
            return None
        if (known := _TEXTS.get(request)) is not None:
            return request, known
        try:
            settings = RequestSettings.of(params)
            if why := _server.why_not():
                _server.abort(request, why)
            elif settings.on:
                return request, _new_text(request, settings, width)
        except TicoreError as error:
            _server.abort(request, str(error))
        return None


@cache
def _served(width: int) -> ServedTexts:
    return ServedTexts(_server.tokenizer(), width, LOG)


def _new_text(request: _server.Request, settings: RequestSettings, width: int) -> ServedText:
    served = _served(width)
    ends = {*(request.eos_token_ids or ()), *(request.sampling_params.stop_token_ids or ())}
    text = _TEXTS[request] = served.start(settings, list(request.origin_input_ids), ends)
    finalize(request, served.close, text)
    return text
