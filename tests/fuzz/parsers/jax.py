"""The config of a model, read by the JAX backend."""

from __future__ import annotations

import pytest

pytest.importorskip("jax", reason="jax is not installed")

from ticore_jax import BACKEND

from .models import parser_of_config

PARSERS = [parser_of_config("JAX", BACKEND)]
