"""One detection as a list of its numbers, several as rows."""

import dataclasses

from rich.console import Console

from tests.report.test_detection_page import detection
from ticore.report import Search, detection_table
from ticore.report.detection_facts import probability

SEARCH = Search("gumbel", "tiny-en", 1e-5)
LOOKED_FOR = [
    "scheme     gumbel",
    "tokenizer  tiny-en",
    "threshold  1e-05 of texts without a watermark may be called watermarked",
]


def lines(*found, width=100, search=None):
    console = Console(width=width)
    with console.capture() as capture:
        console.print(
            detection_table([(f"text {n}", each) for n, each in enumerate(found)], search)
        )
    return [line.rstrip() for line in capture.get().splitlines()]


def in_part(**more):
    more = {"segment": (1, 3), "verdict": "watermarked in part"} | more
    return detection([1, 2, 3], [1, 0, 1], [True] * 3, **more)


def test_what_was_looked_for_stands_below():
    one = detection([1, 2], [2, 3], [True, True])
    assert lines(one, search=SEARCH)[-3:] == LOOKED_FOR
    assert lines(one, one, search=SEARCH)[-4:] == ["", *LOOKED_FOR]


def test_a_text_without_a_watermark_has_no_best_segment():
    unmarked = in_part(verdict="no watermark found")
    assert not any("segment" in line for line in lines(unmarked, search=SEARCH))


def test_one():
    assert lines(detection([1, 2, 3], [1, 0, 1], [True, True, False], green=1)) == [
        "verdict   no watermark found",
        "p-value   0.25",
        "strength  0.50 standard deviations",
        "scored    2 of 3 tokens",
        "green     1, which is 50.0%",
    ]


def test_what_was_looked_for_is_named():
    named = detection([1, 2], [2, 3], [True, True])
    named = dataclasses.replace(named, scheme="gumbel", version=1)
    other = dataclasses.replace(named, scheme="VLLMGumbel", version=None)
    assert lines(named)[-1] == "scheme    gumbel, version 1"
    assert lines(other)[-1] == "scheme    VLLMGumbel"


def test_one_in_part_has_its_segment():
    assert lines(in_part())[-1] == "best segment  tokens 1 to 2, p-value 0.12"


def test_several():
    assert lines(detection([1, 2], [2, 3], [True, True]), in_part()) == [
        "text    verdict              p-value  strength  scored  tokens  segment",
        "text 0  no watermark found      0.25      0.50       2       2",
        "text 1  watermarked in part     0.25      0.50       3       3      1-2",
    ]


def test_probabilities_that_are_no_longer_told_apart():
    assert probability(0.0) == probability(5e-324) == "below 1e-300"
