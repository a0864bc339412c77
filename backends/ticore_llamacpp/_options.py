"""What a caller may choose about a model, checked before anything is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ticore.backend_kit import require_integer
from ticore.backend_kit.checkpoint import require_known_options, text_option

_MOST_THREADS = 512  # as many as llama.cpp takes


@dataclass(frozen=True)
class Options:
    """How to load a model. Sender and receiver need the same `context` and `threads`.

    Attributes:
        context: how many positions a text may take, the start token among them; None for as many
            as the model was trained for, but at most 4,096. Each text that is read takes memory for
            all of them.
        threads: that compute one text. Not by default as many as this machine has, so that the
            same call opens the same model everywhere.
        tokenizer: `BACKEND:LOCATION`; None takes the one in the file.
    """

    context: int | None = None
    threads: int = 1
    tokenizer: str | None = None


def parse_options(options: Mapping[str, object]) -> Options:
    """The options, with defaults for those not given.

    Raises:
        SettingsError: an unknown option, or a value it does not take.
    """
    require_known_options(options, ("context", "threads", "tokenizer"), "a llama.cpp model")
    context = options.get("context")
    if context is not None:
        context = require_integer("context", context, 2)
    threads = require_integer("threads", options.get("threads", 1), 1, _MOST_THREADS)
    return Options(context, threads, text_option(options, "tokenizer"))
