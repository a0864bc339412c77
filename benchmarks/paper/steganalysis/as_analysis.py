"""Steganalysis as an analysis of the experiments."""

from __future__ import annotations

from benchmarks.paper.analysis import Analysis

from .detecting import run
from .section import section

ANALYSIS = Analysis("steganalysis", ("messages", "covers"), run, section, takes_encoder=True)
