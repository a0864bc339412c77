"""The config of a model, read by the torch backend."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="torch is not installed")

from ticore_torch import BACKEND

from .models import parser_of_config

PARSERS = [parser_of_config("torch", BACKEND)]
