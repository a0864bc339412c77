"""What is read of a running SGLang server.

SGLang itself is needed only where it runs. This follows `python/sglang/srt/server_args.py`,
`runtime_context.py`, `managers/schedule_batch.py` and `sampling/custom_logit_processor.py` of 2026.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from importlib import import_module
from typing import Any, Protocol

import ticore
from ticore.errors import SettingsError
from ticore.interfaces import Tokenizer


@dataclass(frozen=True)
class Settings:
    """Those of the server that are read here, by SGLang's names."""

    disable_overlap_schedule: bool
    speculative_algorithm: str | None
    tokenizer_path: str
    trust_remote_code: bool


class Request(Protocol):
    """SGLang's `Req`.

    Attributes:
        origin_input_ids: the prompt.
        output_ids: the tokens after it. With the overlap scheduler the last one is missing.
        tokenizer: the server's own, which may name more ends; None if the server has none.
        to_finish: why it ends after this step; None to go on.
    """

    origin_input_ids: Sequence[int]
    output_ids: Sequence[int]
    eos_token_ids: set[int] | None
    sampling_params: Any
    tokenizer: Any
    to_finish: Any


def itself(request: Any) -> Request:
    """The request. SGLang 0.5.23 gives a weak proxy, which cannot be a key of a dictionary."""
    found: Request = request.__init__.__self__  # a bound method holds the object and no proxy
    return found


def ends_of(request: Request) -> set[int]:
    """The tokens that end its text, as SGLang's `Req` decides it."""
    params = request.sampling_params
    if params.ignore_eos:
        return set()  # not even those that the request names
    ends = {*(request.eos_token_ids or ()), *(params.stop_token_ids or ())}
    if (tokenizer := request.tokenizer) is not None:
        ends |= {tokenizer.eos_token_id, *(tokenizer.additional_stop_token_ids or ())}
    return ends - {None}


def why_not() -> str:
    """Why this server cannot be served; empty if it can be.

    The overlap scheduler samples a token while the one before is not in `output_ids` yet. It delays
    this for grammars alone, so masks would be those of a text without its last token.
    """
    settings = _settings()
    if not settings.disable_overlap_schedule:
        return (
            "expected a server without the overlap scheduler, with which the last token of a text "
            "is not known in time; start it with --disable-overlap-schedule"
        )
    if settings.speculative_algorithm is not None:
        return (
            "expected a server without speculative decoding, whose tokens a custom logit processor "
            "is not told; start it without --speculative-algorithm"
        )
    return ""


@cache
def tokenizer() -> Tokenizer:
    """The tokenizer of the server's model.

    Raises:
        SettingsError: it cannot be adapted.
        ModelFilesError: it cannot be adapted exactly.
    """
    settings = _settings()
    transformers: Any = import_module("transformers")
    return ticore.wrap(
        transformers.AutoTokenizer.from_pretrained(
            settings.tokenizer_path, trust_remote_code=settings.trust_remote_code
        )
    )


def abort(request: Request, why: str) -> None:
    """End a request after this step, with an error; the server goes on.

    Raises:
        SettingsError: this SGLang has no way to do so.
    """
    if not hasattr(request, "to_finish"):
        raise SettingsError(why)
    reasons: Any = import_module("sglang.srt.managers.schedule_batch")
    request.to_finish = reasons.FINISH_ABORT(why, HTTPStatus.BAD_REQUEST, "BadRequestError")


def _settings() -> Settings:
    """The settings of the server, from where this version of SGLang keeps them."""
    arguments: Any = import_module("sglang.srt.server_args")
    try:
        found = arguments.get_global_server_args()
    except RuntimeError:  # retired, in 0.5.23 at the latest
        context: Any = import_module("sglang.srt.runtime_context")
        return Settings(
            context.get_schedule().disable_overlap_schedule,
            context.get_spec().speculative_algorithm,
            context.get_serving().tokenizer_path,
            context.get_model().trust_remote_code,
        )
    return Settings(
        found.disable_overlap_schedule,
        found.speculative_algorithm,
        found.tokenizer_path,
        found.trust_remote_code,
    )
