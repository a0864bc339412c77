"""A report adds up what the masks of one request did."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("torch", reason="torch is not installed")

import torch

from ticore_masks import Report


def test_a_report_has_the_mean_and_the_most_of_what_masks_removed() -> None:
    """One step with drafts has several masks."""
    report = Report("one", masked=1)
    for mass, dead_end in ((0.25, False), (0.5, False), (0.0, True)):
        report.add(torch.tensor(mass), torch.tensor(dead_end))
    report.refuse("the first reason")
    report.refuse("another one")
    assert json.loads(report.line()) == {
        "report": "one",
        "masked": 1,
        "unmasked": 2,
        "why": "the first reason",
        "removed_mean": 0.25,
        "removed_most": 0.5,
        "dead_ends": 1,
    }


def test_a_report_without_masks_has_removed_nothing() -> None:
    found = json.loads(Report("none").line())
    assert (found["removed_mean"], found["removed_most"], found["dead_ends"]) == (0.0, 0.0, 0)
