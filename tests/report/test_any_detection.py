"""What is shown of many configurations: each that was found, and where, in words and as a strip."""

import io
import re

import pytest
from rich.console import Console

import ticore
from tests.report.test_inspection_page import Page
from tests.watermarking.test_any import KEYS, SIZE, TOKENIZER, marked_ids, some_ids
from ticore.report import any_detection_page, any_detection_table, detection_page
from ticore.schemes import SCHEMES, make_scheme


@pytest.fixture(scope="module")
def detector():
    return ticore.WatermarkDetector.any(
        TOKENIZER, [{"scheme": "gumbel", "key": KEYS, "name": "<mine>"}, {"key": KEYS[0]}]
    )


@pytest.fixture(scope="module")
def ids():
    marked = [marked_ids(SCHEMES["gumbel"](KEYS[at], SIZE), at, 60).tolist() for at in (3, 4)]
    plain = [some_ids(at, 200, SIZE).tolist() for at in (1, 2)]
    return [*marked[0], *plain[0], *marked[1], *plain[1]]


def printed(renderable):
    console = Console(file=io.StringIO(), width=120)
    console.print(renderable)
    return console.file.getvalue()


def test_any_detection_table_names_each_configuration_and_stretch(detector, ids):
    found = detector.detect_ids(ids)
    lines = printed(any_detection_table([("a", found)])).splitlines()
    names = [line.split("  ")[0] for line in lines]
    assert names[:5] == ["verdict", "p-value", "found", "found", "scored"]
    assert names[5:] == ["stretch 1", "stretch 2", "tokenizer", "threshold"]
    assert "corrected for 10 configurations" in lines[1]
    for line, at in zip(lines[5:7], (3, 4), strict=True):
        assert f"<mine>, gumbel, key {ticore.schemes.key_fingerprint(KEYS[at])}" in line
    nothing = detector.detect_ids(some_ids(9, 100, SIZE))
    assert "best" in printed(any_detection_table([("b", nothing)]))
    rows = printed(any_detection_table([("a", found), ("b", nothing)])).splitlines()
    assert rows[1].split()[:2] == ["a", "watermarked"]
    assert "no watermark found" in rows[-1]


def test_any_detection_table_says_that_a_text_is_too_short():
    detector = ticore.WatermarkDetector.any(TOKENIZER, [{"scheme": "left_hash", "key": KEYS}])
    shown = printed(any_detection_table([("a", detector.detect_ids(some_ids(1, 20, SIZE)))]))
    assert "to tell: the strongest watermark would have p-value 3.4e-05, corrected" in shown
    both = [{"scheme": ["left_hash", "gumbel"], "key": KEYS}]
    rows = [("a", detector.detect_ids(some_ids(n, 20, SIZE))) for n in (1, 2)]
    assert printed(any_detection_table(rows)).count("too short to tell") == 2
    mixed = ticore.WatermarkDetector.any(TOKENIZER, both).detect_ids(some_ids(1, 20, SIZE))
    assert re.search(r"too short +for 9 of them", printed(any_detection_table([("a", mixed)])))


def test_any_detection_table_shows_the_payload_of_a_marked_text_alone():
    entry = {"scheme": "gumbel_payload", "key": KEYS[0], "payload_bits": 8}
    detector = ticore.WatermarkDetector.any(TOKENIZER, [entry])
    scheme = make_scheme("gumbel_payload", KEYS[0], SIZE, payload="a7", payload_bits=8)
    marked = detector.detect_ids(marked_ids(scheme, 1, 200))
    assert re.search("payload +a7 ", printed(any_detection_table([("a", marked)])))
    plain = detector.detect_ids(some_ids(1, 200, SIZE))
    assert "payload  " not in printed(any_detection_table([("a", plain)]))


def test_any_detection_page_draws_each_stretch(detector, ids):
    found = detector.detect_ids(ids)
    document = any_detection_page([("<a>", found)], TOKENIZER, "A page")
    parsed = Page(document)
    assert [given["class"] for tag, given in parsed.elements if tag == "rect"].count("band") == 2
    assert "&lt;mine&gt;" in document
    assert "<mine>" not in document
    assert "<script" not in document
    alone = ticore.WatermarkDetector(TOKENIZER, "gumbel", key=KEYS[3]).detect_ids(ids)
    assert detection_page([("a", alone)], TOKENIZER, "A page").count('class="band"') == 1
    plain = detector.detect_ids(some_ids(9, 100, SIZE))
    document = any_detection_page([("b", plain), ("c", found)], TOKENIZER, "A page")
    assert 'class="band"' not in document[: document.index('id="text-2"')]
    assert document.count('<ul class="legend"') == 1
