"""The modes of a Verifier, and which of them a run measures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from ticore.consistency import Mode

MODES: tuple[Mode, ...] = get_args(Mode)


def modes_to_time(named: Sequence[Mode] | None) -> Sequence[Mode]:
    """The modes that the command line names, or `prefix`."""
    return named or ("prefix",)


def modes_to_check(named: Sequence[Mode] | None) -> Sequence[Mode]:
    """The modes that the command line names, or all."""
    return named or MODES
