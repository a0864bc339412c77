"""What `generate` was given and does not hand on: seen in the frame that calls.

transformers keeps `streamer` and `assistant_model` from a function that is given as
`custom_generate`. A streamer then gets the prompt and nothing else, and whoever reads from it waits
for ever. No argument tells, so this looks at the caller's variables. A version of transformers that
calls otherwise shows nothing; then nothing is refused, and a test fails.
"""

from __future__ import annotations

import sys
from types import FrameType

from transformers import GenerationMixin

_DEEPEST = 4  # frames between whoever asks and `generate`


def given_to_generate(name: str) -> object:
    """The argument of that name of the `generate` that is running; None where there is none."""
    frame: FrameType | None = sys._getframe(1)
    for _ in range(_DEEPEST):
        frame = None if frame is None else frame.f_back
        if frame is None:
            break
        of_generate = frame.f_code.co_name == "generate"
        if of_generate and isinstance(frame.f_locals.get("self"), GenerationMixin):
            return frame.f_locals.get(name)
    return None
