"""The rates of the investigation, from texts whose inconsistencies are known."""

import pytest

from benchmarks.paper.investigation.plan import LENGTHS
from benchmarks.paper.investigation.summary import healing_times, summarize


def text(index, consistent, example=None):
    """A text with one SIT and one CIT among 10 tokens on each side wherever it is inconsistent."""
    wrong = "0" in consistent
    difference = {"consistent": not wrong, "sits": wrong, "cits": wrong, "written": 10, "read": 10}
    return {
        "index": index,
        "consistent": consistent,
        "lengths": {str(length): difference for length in LENGTHS},
        "steps": 4,
        "candidate_number": 0.5,
        "candidate_probability": 0.25,
        "example": example,
    }


def example(sits, cits, tokens=("a", "b")):
    likeliest = [{"token": token, "probability": 0.5} for token in tokens]
    prediction = {"total_variation": 0.5, "kl": 1.0, "likeliest": likeliest}
    return {"length": 2, "sits": sits, "cits": cits, "prediction": prediction}


@pytest.mark.parametrize(
    ("consistent", "times"),
    [
        ("", []),
        ("111", []),
        ("0", [None]),
        ("01", [1]),
        ("1001", [2]),
        ("0101", [1, 1]),
        ("101100", [1, None]),
    ],
)
def test_healing_times_counts_the_tokens_until_a_text_is_consistent_again(consistent, times):
    assert list(healing_times(consistent)) == times


def test_summarize_gives_the_shares_of_texts_tokens_and_candidates():
    found = summarize([text(0, "1101"), text(1, "1100"), text(2, "1111"), text(3, "1111")])
    assert found["text_count"] == 4
    assert found["text"]["25"]["value"] == 0.5
    assert found["token"]["25"]["value"] == pytest.approx(4 / 80)
    assert found["candidate_number"]["value"] == pytest.approx(0.5 / 4)
    assert found["candidate_probability"]["value"] == pytest.approx(0.25 / 4)
    assert found["followed_count"] == 2
    assert found["temporary"]["value"] == 0.5
    shares = {time: share["value"] for time, share in found["healed"].items()}
    assert shares == {"1": 0.5, "2": 0.0, "3": 0.0, "4": 0.0, "never": 0.5}


def test_summarize_keeps_a_few_examples_of_each_kind():
    texts = [text(n, "10", example(1, 1)) for n in range(5)]
    texts += [text(5, "10", example(0, 1)), text(6, "10", example(1, 0, ("a", "a")))]
    found = summarize(texts)
    kept = {kind: [each["index"] for each in some] for kind, some in found["examples"].items()}
    assert kept == {"both": [0, 1, 2], "no SIT": [5], "no CIT": [6], "neither": []}
    assert found["prediction"]["total_variation"]["value"] == 0.5
    assert found["prediction"]["other_likeliest"]["value"] == pytest.approx(6 / 7)


def test_summarize_says_nothing_about_what_did_not_happen():
    found = summarize([text(0, "11")])
    assert found["temporary"] is None
    assert set(found["healed"].values()) == {None}
    assert found["prediction"]["kl"] is None
