"""The config of a model, as the torch backend reads it."""

from __future__ import annotations

from functools import partial

from tests.fuzz.mutations import damaged_json
from ticore_torch import BACKEND

from .base import Parser
from .models import CONFIG, open_model, written

PARSERS = [
    Parser(
        "config.json on torch",
        written(CONFIG),
        damaged_json,
        partial(open_model, BACKEND, "config.json"),
        thorough=300,
    )
]
