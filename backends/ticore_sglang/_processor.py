"""A custom logit processor, as a request of SGLang names it."""

from __future__ import annotations

import json
import logging
import pickle
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary, finalize

import torch

from ticore.consistency import Verification
from ticore.errors import SettingsError, TicoreError
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
        params = custom_param_list or ()
        if len(params) != len(logits):
            LOG.error("a batch is not held consistent: its rows are not one for each request")
            return logits
        rows = [_row(of_one, logits.shape[1]) for of_one in params]
        texts = [None if row is None else row.text for row in rows]
        try:
            return mask_texts(logits, [row and row.verification for row in rows], texts)
        except Exception as error:  # a defect of ours: these requests end, the server goes on
            for row in rows:
                if row is not None:
                    _end(row.request, error)
            return logits


class _Row(NamedTuple):
    request: _server.Request
    text: ServedText
    verification: Verification | None


def _row(params: dict[str, Any] | None, width: int) -> _Row | None:
    """What masks the row of a request; None if it is left alone, or ends with an error."""
    proxy = (params or {}).get(_REQUEST)
    if params is None or proxy is None:
        LOG.error(
            "a request is not held consistent: it has no custom_params, which beams never have; "
            "give some"
        )
        return None
    request = _server.itself(proxy)
    try:
        text = _TEXTS.get(request) or _new_text(request, RequestSettings.of(params), width)
        return None if text is None else _Row(request, text, text.follow(request.output_ids))
    except Exception as error:
        _end(request, error)
        return None


def _end(request: _server.Request, error: Exception) -> None:
    """End a request with an error. A defect of ours is no reason to end the server."""
    if isinstance(error, TicoreError):
        _server.abort(request, str(error))
        return
    LOG.error("a request ends because of a defect in ticore", exc_info=error)
    _server.abort(
        request, f"expected a mask for this request, found a defect in ticore: {error!r}; report it"
    )


@cache
def _served(width: int) -> ServedTexts:
    return ServedTexts(_server.tokenizer(), width, LOG)


def _new_text(request: _server.Request, settings: RequestSettings, width: int) -> ServedText | None:
    """The text of a request that was not seen before; None if it is left alone.

    Raises:
        SettingsError: this server cannot be served.
    """
    if why := _server.why_not():
        raise SettingsError(why)
    if not settings.on:
        return None
    served = _served(width)
    prompt, ends = list(request.origin_input_ids), _server.ends_of(request)
    text = _TEXTS[request] = served.start(settings, prompt, ends)
    finalize(request, served.close, text)
    return text
