"""The look at improbable tokens as an analysis of the experiments."""

from __future__ import annotations

from benchmarks.paper.analysis import Analysis

from .looking import run
from .section import section

ANALYSIS = Analysis("low-probability", ("messages", "covers"), run, section)
