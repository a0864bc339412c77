"""What is read of a running SGLang server.

SGLang itself is needed only where it runs. This follows `python/sglang/srt/server_args.py`,
`managers/schedule_batch.py` and `sampling/custom_logit_processor.py` of 2026.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from http import HTTPStatus
from importlib import import_module
from typing import Any, Protocol

import ticore
from ticore.errors import SettingsError
from ticore.interfaces import Tokenizer


class Request(Protocol):
    """SGLang's `Req`.

    Attributes:
        origin_input_ids: the prompt.
        output_ids: the tokens after it. With the overlap scheduler the last one is missing.
        to_finish: why it ends after this step; None to go on.
    """

    origin_input_ids: Sequence[int]
    output_ids: Sequence[int]
    eos_token_ids: set[int] | None
    sampling_params: Any
    to_finish: Any


def why_not() -> str:
    """Why this server cannot be served; empty if it can be.

    The overlap scheduler samples a token while the one before is not in `output_ids` yet. It delays
    this for grammars alone, so masks would be those of a text without its last token.
    """
    arguments = _arguments()
    if not arguments.disable_overlap_schedule:
        return (
            "expected a server without the overlap scheduler, with which the last token of a text "
            "is not known in time; start it with --disable-overlap-schedule"
        )
    if arguments.speculative_algorithm is not None:
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
    arguments = _arguments()
    transformers: Any = import_module("transformers")
    return ticore.wrap(
        transformers.AutoTokenizer.from_pretrained(
            arguments.tokenizer_path, trust_remote_code=arguments.trust_remote_code
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


def _arguments() -> Any:
    found: Any = import_module("sglang.srt.server_args")
    return found.get_global_server_args()
