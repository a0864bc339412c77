"""The config of a model, read by the JAX backend."""

from __future__ import annotations

from ticore_jax import BACKEND

from .models import parser_of_config

PARSERS = [parser_of_config("JAX", BACKEND)]
