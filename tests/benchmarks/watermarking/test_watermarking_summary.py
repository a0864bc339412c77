"""The summary of samples of watermarking, and its tables."""

import json

import numpy as np
import pytest

from benchmarks.watermarking.plan import FULL_LENGTH, NO_ROLLBACK, ROLLBACK
from benchmarks.watermarking.summary import rollback_overhead, summarize
from benchmarks.watermarking.tables import tables
from tests.benchmarks.watermarking.toy import PLAN


@pytest.mark.slow
def test_summarize_fills_every_cell(samples):
    found = json.loads(json.dumps(summarize(samples, PLAN.schemes)))
    cells = {(row["scheme"], row["arm"]): row for row in found["written"]}
    assert len(cells) == 9
    strengths = [
        sample["arms"][ROLLBACK]["detections"]["gumbel"]["strength"]
        for sample in samples
        if sample["scheme"] == "gumbel"
    ]
    cell = cells["gumbel", ROLLBACK]
    assert cell["strength"] == pytest.approx(np.mean(strengths))
    assert cell["strength_sd"] == pytest.approx(np.std(strengths, ddof=1))
    assert (cell["text_count"], cell["inconsistent"]) == (6, 0)
    assert cell["perplexity"] == cell["perplexity_read"]
    plain = cells["none", FULL_LENGTH]
    assert plain["inconsistent"] > 0.5
    assert plain["perplexity"] != plain["perplexity_read"]
    assert 0.5 < cells["unigram", ROLLBACK]["auroc"] <= 1
    assert "auroc" not in cells["none", ROLLBACK]
    assert len(found["unmarked"]) == 6
    assert len(found["attacked"]) == 2 * 3 * 2
    assert [row["scheme"] for row in found["overhead"]] == ["unigram", "gumbel", "none"]
    assert all(row["ratio"] > 0 for row in found["overhead"])
    ratios = [row["ratio"] for row in found["overhead"][:2]]
    assert min(ratios) <= found["overhead_of_all"]["ratio"] <= max(ratios)
    assert [table.row_count for table in tables(found)] == [9, 9, 6, 12]


def test_rollback_overhead_compares_times_per_token():
    """A text with rollback may end elsewhere, and one interruption must not count."""

    def text(seconds, tokens, forwards):
        return {"seconds": seconds, "token_count": tokens, "forwards": forwards}

    samples = [
        {
            ROLLBACK: text(slow * 0.1 * 10, 10, 9 + discarded),
            NO_ROLLBACK: text(2.2, 20, 19),
            FULL_LENGTH: text(2.7, 30, 29),
        }
        for slow, discarded in ((1.01, 0), (1.03, 1), (1.02, 0), (9.0, 0), (1.00, 2))
    ]
    found = rollback_overhead(samples)
    assert found["ratio"] == pytest.approx(1.02)
    assert found["mean"] == pytest.approx((1.01 + 1.03 + 1.02 + 9.0 + 1.00) / 5)
    assert found["mean_interval"][0] < found["mean"] < found["mean_interval"][1]
    assert found["discarded_passes"] == pytest.approx(0.6)
    low, high = found["interval"]
    assert low == pytest.approx(1.00)
    assert high > 8
    assert rollback_overhead(samples[:1])["interval"] == [pytest.approx(1.01)] * 2
    assert rollback_overhead([{ROLLBACK: samples[0][ROLLBACK]}]) == {"ratio": None}


@pytest.mark.slow
def test_summarize_works_when_a_run_was_interrupted(samples):
    for count in range(4):
        found = summarize(samples[:count], PLAN.schemes)
        assert len(found["written"]) == 3 * count
        list(tables(found))
