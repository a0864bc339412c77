"""The models that are shipped, for tests that do not depend on their last bits."""

from __future__ import annotations

import ticore
from ticore.interfaces import LanguageModel


def tiny_model(name: str = "tiny-en") -> LanguageModel:
    """A shipped model in float32: it takes half the time of float64, its usual dtype."""
    return ticore.load_model(name, dtype="float32")
