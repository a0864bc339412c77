"""The config of a model, as the torch backend reads it."""

from __future__ import annotations

from ticore_torch import BACKEND

from .models import parser_of_config

PARSERS = [parser_of_config("torch", BACKEND)]
