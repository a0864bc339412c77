"""One detection as a list of its numbers, several as rows."""

import dataclasses

from rich.console import Console

from tests.report.test_detection_page import detection
from ticore.report import detection_table
from ticore.report._detection_facts import probability
from ticore.schemes import FoundPayload
from ticore.watermarking import DetectionTarget

TARGET = DetectionTarget("gumbel", "tiny-en", 1e-5)
LOOKED_FOR = [
    "scheme     gumbel",
    "tokenizer  tiny-en",
    "threshold  1e-05 of texts without a watermark may be called watermarked",
]


def lines(*found, width=100):
    console = Console(width=width)
    with console.capture() as capture:
        console.print(detection_table([(f"text {n}", each) for n, each in enumerate(found)]))
    return [line.rstrip() for line in capture.get().splitlines()]


def in_part(**more):
    more = {"segment": (1, 3), "verdict": "watermarked in part"} | more
    return detection([1, 2, 3], [1, 0, 1], [True] * 3, **more)


def test_detection_table_says_what_was_looked_for_below_several_texts():
    one = detection([1, 2], [2, 3], [True, True], target=TARGET)
    assert lines(one)[-3:] == LOOKED_FOR
    assert lines(one, one)[-4:] == ["", *LOOKED_FOR]


def test_detection_table_shows_no_segment_without_a_watermark():
    unmarked = in_part(verdict="no watermark found", target=TARGET)
    assert not any("segment" in line for line in lines(unmarked))


def test_detection_table_lists_all_numbers_of_one_text():
    assert lines(detection([1, 2, 3], [1, 0, 1], [True, True, False], green=1)) == [
        "verdict   no watermark found",
        "p-value   0.25",
        "strength  0.50 standard deviations",
        "scored    2 of 3 tokens",
        "green     1, which is 50.0%",
    ]


def test_detection_table_names_scheme_version_key_and_tokenizer():
    target = dataclasses.replace(TARGET, version=1, key="48e7-e603")
    named = detection([1, 2], [2, 3], [True, True], target=target)
    assert lines(named)[-4:] == [
        "scheme     gumbel, version 1",
        "key        48e7-e603",
        *LOOKED_FOR[1:],
    ]


def test_detection_table_shows_the_segment_of_a_text_in_part():
    assert lines(in_part())[-1] == "best segment  tokens 1 to 2, p-value 0.12"


def test_detection_table_shows_the_payload_of_a_marked_text_alone():
    payload = FoundPayload(b"\xa7", 0.5, (0.9,) * 8)
    plain = detection([1, 2], [2, 3], [True, True], payload=payload)
    marked = dataclasses.replace(plain, verdict="watermarked")
    assert not any(
        "payload" in line or "a7" in line for line in [*lines(plain), *lines(plain, plain)]
    )
    header, first, second = lines(plain, marked)
    assert "payload" in header
    assert ("a7" in first, "a7" in second) == (False, True)


def test_detection_table_says_that_texts_are_too_short():
    few = detection([1, 2], [2, 3], [True, True], target=TARGET, strongest_p_value=0.75e-5)
    assert (
        "too short  to tell: the strongest watermark would have p-value 1.5e-05, corrected"
        in lines(few)
    )
    assert [line.split("  ")[1] for line in lines(few, few)[1:3]] == ["too short to tell"] * 2


def test_detection_table_has_a_row_for_each_of_several_texts():
    assert lines(detection([1, 2], [2, 3], [True, True]), in_part()) == [
        "text    verdict              p-value  strength  scored  tokens  segment",
        "text 0  no watermark found      0.25      0.50       2       2",
        "text 1  watermarked in part     0.25      0.50       3       3      1-2",
    ]


def test_probability_is_below_a_bound_when_a_double_cannot_hold_it():
    assert probability(0.0) == probability(5e-324) == "below 1e-300"
