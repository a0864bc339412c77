"""Arguments of `generate` that it does not pass on, read from the frame of the caller.

transformers keeps `streamer` and `assistant_model` from a function that is given as
`custom_generate`. A streamer then gets the prompt and nothing else, and its reader waits for ever.
No argument shows this, so the caller's variables are read. With a version of transformers that
calls in another way nothing is found and nothing is refused; a test fails then.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import FrameType

from transformers import GenerationMixin

from ticore.errors import SettingsError

_DEEPEST = 4  # frames between the function that asks and `generate`


def given_to_generate(name: str) -> object:
    """The argument of this name of the running `generate`; None if it does not run or has none."""
    frame: FrameType | None = sys._getframe(1)
    for _ in range(_DEEPEST):
        frame = None if frame is None else frame.f_back
        if frame is None:
            break
        of_generate = frame.f_code.co_name == "generate"
        if of_generate and isinstance(frame.f_locals.get("self"), GenerationMixin):
            return frame.f_locals.get(name)
    return None


def require_called(settings: Mapping[str, object]) -> None:
    """Refuse settings with which `generate` calls no function given as `custom_generate`.

    Raises:
        SettingsError: its paged cache, with which it turns to continuous batching at once.
    """
    if settings.get("cache_implementation") == "paged":
        raise SettingsError(
            "expected a cache that generate() fills itself, found cache_implementation='paged', "
            "with which transformers batches texts without asking for consistency; leave it out"
        )
