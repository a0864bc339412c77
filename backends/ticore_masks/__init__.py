"""What the integrations share: texts that an engine writes, and their masks on its logits.

An engine samples, preempts, forces tokens and reports them late; the classes here keep up with it.
Nothing here knows an engine.

_settings.py   what a request may ask for, read from the arguments that an engine passes on
_following.py  a text that is verified as far as the engine has written it
_served.py     the same for a server, where a text that cannot be verified must not stop the others
_choosing.py   tokens sampled among the candidates that keep a text consistent, without masks
_tensors.py    packed masks as tensors of PyTorch, applied to logits
_report.py     what the masks of one request did
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._following import FollowedText, verification_of
from ._settings import RequestSettings

if TYPE_CHECKING:
    from ._choosing import NONE_LEFT, choose, choose_consistent, mask_inconsistent
    from ._report import Report
    from ._served import ServedText, ServedTexts
    from ._tensors import mask_texts, refused_tokens

__all__ = [
    "NONE_LEFT",
    "FollowedText",
    "Report",
    "RequestSettings",
    "ServedText",
    "ServedTexts",
    "choose",
    "choose_consistent",
    "mask_inconsistent",
    "mask_texts",
    "refused_tokens",
    "verification_of",
]

# These need PyTorch, which not every engine has.
_MODULES = {
    "NONE_LEFT": "_choosing",
    "Report": "_report",
    "ServedText": "_served",
    "ServedTexts": "_served",
    "choose": "_choosing",
    "choose_consistent": "_choosing",
    "mask_inconsistent": "_choosing",
    "mask_texts": "_tensors",
    "refused_tokens": "_tensors",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f".{_MODULES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
