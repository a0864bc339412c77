"""The measures of watermarks, from texts whose numbers are known."""

import math

import numpy as np
import pytest

from benchmarks.paper.watermarks.arms import (
    SAMPLING,
    SCHEMES,
    UNMARKED,
    WHOLE_TEXT,
    may_end,
    rollback,
)
from benchmarks.paper.watermarks.summary import summarize, threshold


def detection(strength, p_value=0.5):
    return {"strength": strength, "p_value": p_value, "scored": 9}


def text(scheme, arm, index, strength=0.0, **more):
    """A text of 10 tokens, each with probability 1/2, in a group of two texts."""
    names = SCHEMES if scheme == UNMARKED else (scheme,)
    found = detection(strength, math.exp(-strength)) | {"strength_of_written": strength + 1}
    written = {"token_count": 10, "read_token_count": 10, "end": "length", "consistent": True}
    counts = {"rollbacks": 1, "temporary": 0, "forwards": 9, "group_size": 2, "cpu_seconds": 2.0}
    return {
        "scheme": scheme,
        "arm": arm.name,
        "observation": arm.observation,
        "end_of_text": arm.end_of_text,
        "index": index,
        "first": index // 2 * 2,
        **written,
        **counts,
        **{"nll": 10 * math.log(2), "nll_read": 10 * math.log(2)},
        "detections": dict.fromkeys(names, found),
        "attacks": {},
        **more,
    }


def cell(found, scheme, arm, attack=None):
    (one,) = (
        each
        for each in found["cells"]
        if (each["scheme"], each["arm"], each["attack"]) == (scheme, arm.name, attack)
    )
    return one


def test_summarize_tells_watermarked_texts_from_the_unmarked_ones():
    unmarked = [text(UNMARKED, SAMPLING, n, n / 10) for n in range(4)]
    after = {"replacement 0.2": detection(0.2) | {"changed": 0.25, "nll_read": 7, **LENGTHS}}
    marked = [
        text("gumbel", rollback(2), n, 5.0 * n, attacks=after, cpu_seconds=3.0 + n // 2)
        for n in range(4)
    ]
    plain = [text("gumbel", SAMPLING, n, 2.0, nll_read=20, read_token_count=20) for n in range(4)]
    found = summarize([*unmarked, *marked, *plain])

    one = cell(found, "gumbel", rollback(2))
    assert one["strength"]["value"] == 7.5
    assert one["strength_of_written"]["value"] == 8.5
    assert one["auroc"]["value"] == (0.5 + 12) / 16  # the first marked text ties with the least
    assert one["true_positives"]["0.001"]["value"] == 0.75
    assert one["detected"]["0.01"]["value"] == 0.75  # exp(-5) < 0.01
    assert one["detected"]["0.001"]["value"] == 0.5
    assert one["perplexity"]["value"] == one["perplexity_written"]["value"] == pytest.approx(2)
    assert one["cpu_seconds"]["value"] == 7 / 4
    assert one["time"]["value"] == 1.75  # the median of 3 / 2 and 4 / 2
    assert one["rollbacks"]["value"] == 1
    assert one["forwards"]["value"] == pytest.approx(0.9)

    attacked = cell(found, "gumbel", rollback(2), "replacement 0.2")
    assert attacked["auroc"]["value"] == (2 + 0.5) / 4
    assert attacked["changed"]["value"] == 0.25
    assert attacked["perplexity"]["value"] == pytest.approx(math.exp(0.7))

    free = cell(found, "gumbel", SAMPLING)
    assert free["time"]["value"] == 1
    assert free["perplexity"]["value"] == pytest.approx(math.e)
    assert free["perplexity_written"]["value"] == pytest.approx(2)

    assert "strength" not in cell(found, UNMARKED, SAMPLING)
    assert found["unmarked"]["unigram"]["above"] == {"0.01": 0.3, "0.001": 0.3}
    assert found["unmarked"]["unigram"]["false_positives"]["0.01"]["value"] == 0


LENGTHS = {"read_token_count": 10}


def test_texts_that_were_given_up_count_in_the_cost_alone():
    kept = [text("left_hash", WHOLE_TEXT, n, 4.0, forwards=20) for n in range(3)]
    empty = {"token_count": 0, "read_token_count": 0, "end": "end of text", "nll": 0, "nll_read": 0}
    given_up = text("left_hash", WHOLE_TEXT, 3, 0.0, forwards=90, **empty)
    one = cell(summarize([*kept, given_up]), "left_hash", WHOLE_TEXT)
    assert (one["text_count"], one["given_up"]["value"]) == (3, 0.25)
    assert one["strength"]["value"] == 4
    assert one["ended"]["value"] == 0
    assert one["forwards"]["value"] == pytest.approx(150 / 30)
    none = cell(summarize([given_up]), "left_hash", WHOLE_TEXT)
    assert (none["text_count"], none["given_up"]["value"], none["forwards"]) == (0, 1, None)
    ended = text("left_hash", may_end(SAMPLING), 0, 0.0, **empty)
    assert cell(summarize([ended]), "left_hash", may_end(SAMPLING))["given_up"]["value"] == 0


def test_summarize_says_nothing_about_what_is_not_there():
    found = summarize([text("unigram", rollback(2), 0, 1.0, nll_read=None)])
    one = cell(found, "unigram", rollback(2))
    assert one["perplexity"] is one["time"] is None
    assert "auroc" not in one
    assert found["unmarked"] == {}


@pytest.mark.parametrize("count", [1, 99, 100, 300, 500, 1000])
@pytest.mark.parametrize("share", [0.01, 0.001])
def test_threshold_is_the_least_strength_that_few_enough_texts_exceed(count, share):
    null = np.random.default_rng(count).normal(size=count)
    found = threshold(null, share)
    assert (null > found).sum() == int(round(share * count, 6))
    assert found in null
