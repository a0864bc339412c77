"""The page is well-formed, fetches nothing, escapes all text, and says each score in words."""

import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ticore
from tests.report.test_inspection_page import MARKUP, ODD, Page
from tests.support.toy_models import ToyTokenizer
from ticore._support.visible import visible
from ticore.errors import UnscorableTextError
from ticore.report import detection_page
from ticore.report._scored_text import scored_text
from ticore.watermarking import Detection, DetectionTarget, Segment

TOY = ToyTokenizer(["", "ab", "a", "b", "c", "d", *MARKUP, *ODD])
KEY = bytes(range(32))
TAGS = {
    *("html", "head", "meta", "title", "style", "body", "section", "h1", "h2", "p", "div", "ul"),
    *("li", "span", "table", "tr", "th", "td", "strong", "details", "summary"),
    *("figure", "figcaption", "svg", "rect"),
}
ATTRIBUTES = {
    *("lang", "charset", "name", "content", "http-equiv", "class", "title", "dir", "scope"),
    *("tabindex", "role", "aria-label", "x", "y", "width", "height"),
}


def detection(
    ids, scores, counted, green=None, segment=(0, 0), verdict="no watermark found", **more
):
    return Detection(
        verdict=verdict,
        p_value=0.25,
        strength=0.5,
        scored=sum(counted),
        green=green,
        token_count=len(ids),
        segment=Segment(*segment, 0.125),
        ids=np.array(ids, dtype=np.int64),
        scores=np.array(scores, dtype=np.float64),
        counted=np.array(counted, dtype=bool),
        **more,
    )


def tokens(parsed):
    return [a for _, a in parsed.elements if a.get("title")]


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["left_hash", "gumbel"])
@given(ids=st.lists(st.integers(1, TOY.vocab_size - 1), min_size=6, max_size=20), name=st.text())
def test_detection_page_escapes_texts_and_titles(scheme, ids, name):
    detector = ticore.WatermarkDetector(TOY, scheme, key=KEY)
    found = detector.detect_ids(ids)
    document = detection_page([(name, found)], TOY, name)
    document.encode()
    parsed = Page(document)
    assert parsed.texts["title"] == parsed.texts["h1"] == parsed.texts["h2"] == [visible(name)]
    assert {tag for tag, _ in parsed.elements} <= TAGS
    assert {key for _, given in parsed.elements for key in given} <= ATTRIBUTES
    assert len(tokens(parsed)) == len(ids)
    assert not set(document) & set("\0\r\u2028\u202e")


def test_detection_page_fetches_nothing_and_has_no_script():
    document = detection_page([("a", detection([1], [1], [True], green=1))], TOY, "A page")
    assert document.startswith("<!DOCTYPE html>\n")
    assert not re.search(r"url\(|@import|https?:|<script", document)
    assert "prefers-color-scheme: dark" in document


def test_detection_page_shows_green_tokens_in_words_and_colours():
    found = detection([1, 2, 3, 4], [np.nan, 1, 0, 1], [False, True, True, False], green=1)
    parsed = Page(detection_page([("a", found)], TOY, "A page"))
    assert [(a["class"], a["title"]) for a in tokens(parsed)] == [
        ("grey", "token 0, id 1; no score: too few tokens before it"),
        ("green", "token 1, id 2; green"),
        ("red", "token 2, id 3; not green"),
        ("grey", "token 3, id 4; green; not counted: it repeats a random number"),
    ]
    assert "50.0%" in "".join(parsed.texts["td"])
    rows = "".join(parsed.texts["td"])
    assert "no score: too few tokens before it" in rows  # for the keyboard, which has no pointer
    assert "green; not counted: it repeats a random number" in rows


def test_detection_page_fills_higher_scores_darker():
    scores = [np.nan, 0.25, 0.5, 1.5, 3.0, 17.0]
    found = detection([1, 2, 3, 4, 5, 5], scores, [False, *[True] * 4, False])
    parsed = Page(detection_page([("a", found)], TOY, "A page"))
    kinds = [a["class"] for a in tokens(parsed)]
    assert kinds == ["grey", "s0", "s1", "s2", "s3", "grey"]
    assert tokens(parsed)[3]["title"] == "token 3, id 4; score 1.50"


def levels(document):
    """What the legend says of the fills, by their class."""
    return re.findall(r'<span class="(s\d)"> ([^<]*) </span>', document)


EXPONENTIAL = ["below 0.5", "from 0.5", "from 1", "from 2", "from 4"]


def test_legend_says_from_which_score_on_a_fill_is_darker():
    document = detection_page([("a", detection([1], [1.0], [True]))], TOY, "A page")
    assert levels(document) == [(f"s{at}", said) for at, said in enumerate(EXPONENTIAL)]
    assert '<li>score: <span class="s0">' in document


def test_scores_that_have_a_highest_one_are_filled_in_as_many_tokens_as_others():
    """Of a hundred tokens of text without a watermark, one at each hundredth of the scores."""
    chances = np.convolve(np.ones(500), np.ones(500)) / 500**2
    places = np.searchsorted(np.cumsum(chances), (np.arange(100) + 0.5) / 100)
    found = detection([1] * 100, places / 998, [True] * 100, chances=chances)
    document = detection_page([("a", found)], TOY, "A page")
    kinds = Counter(a["class"] for a in tokens(Page(document)))
    assert kinds == {"s0": 39, "s1": 24, "s2": 23, "s3": 12, "s4": 2}
    said = ["below 0.44", "from 0.44", "from 0.57", "from 0.74", "from 0.91"]
    assert levels(document) == [(f"s{at}", one) for at, one in enumerate(said)]


def test_fills_of_synthid_are_as_frequent_as_those_of_other_schemes():
    tokenizer = ToyTokenizer(["a"] * 300)
    config = {"keys": list(range(100, 130)), "ngram_len": 5}
    detector = ticore.WatermarkDetector.for_synthid(tokenizer, config)
    found = detector.detect_ids(np.random.default_rng(1).integers(300, size=4000))
    shown, _ = scored_text(found, tokenizer)
    kinds = Counter(re.findall('class="(s[0-4])"', shown))
    shares = [kinds[f"s{level}"] / found.scored for level in range(5)]
    assert shares == pytest.approx([0.39, 0.24, 0.23, 0.12, 0.02], abs=0.02)


@pytest.mark.parametrize("chances", [[0.5, 0.5], [0.5, 0.0, 0.5], [0.9, 0.1]])
def test_legend_has_no_score_that_cannot_occur(chances):
    found = detection([1, 2], [0.0, 1.0], [True] * 2, chances=np.array(chances))
    document = detection_page([("a", found)], TOY, "A page")
    assert [a["class"] for a in tokens(Page(document))] == ["s0", "s4"]
    assert levels(document) == [("s0", "below 1"), ("s4", "from 1")]


def test_legend_has_the_fills_of_each_kind_of_scores():
    """The best configurations of several texts may be of several schemes."""
    target = DetectionTarget("synth<id>", "toy", 1e-5)
    some = detection([1], [1.0], [True], chances=np.array([0.5, 0.5]), target=target)
    several = [("a", some), ("b", detection([1], [1.0], [True])), ("c", some)]
    document = detection_page(several, TOY, "A page")
    assert [said for _, said in levels(document)] == ["below 1", "from 1", *EXPONENTIAL]
    assert "<li>score of synth&lt;id&gt;: <span" in document


def test_detection_page_underlines_the_best_segment():
    found = detection(
        [2, 3, 4, 5], [1] * 4, [True] * 4, segment=(1, 3), verdict="watermarked in part"
    )
    document = detection_page([("a", found)], TOY, "A page")
    inside = re.search(r'<span class="segment"><span(.*)</span></span><span', document)
    assert re.findall(r"id (\d)", inside[1]) == ["3", "4"]
    assert "tokens 1 to 2, p-value 0.12" in document


@pytest.mark.parametrize(
    ("verdict", "fpr", "shown"),
    [
        ("no watermark found", 0.5, False),  # every text has a best segment
        ("watermarked", 0.1, False),  # the segment alone has p-value 0.125
        ("watermarked", 0.2, True),
        ("watermarked in part", 0.1, True),
    ],
)
def test_detection_page_shows_the_segment_only_when_it_stands_out(verdict, fpr, shown):
    target = DetectionTarget("gumbel", "tiny-en", fpr)
    found = detection(
        [2, 3, 4, 5], [1] * 4, [True] * 4, segment=(1, 3), verdict=verdict, target=target
    )
    document = detection_page([("a", found)], TOY, "A page")
    assert ('class="segment"' in document) == shown
    assert ("best segment" in document) == shown


def test_detection_page_says_what_was_looked_for():
    target = DetectionTarget("gumbel", "tiny<en>", 1e-5, key="48e7-e603")
    found = [(name, detection([1], [1], [True], target=target)) for name in "ab"]
    parsed = Page(detection_page(found, TOY, "A page"))
    said = "".join(parsed.texts["td"])
    assert said.count("48e7-e603") == 2
    assert said.count("gumbel") == said.count("tiny<en>") == 2
    assert "1e-05 of texts without a watermark may be called watermarked" in said


def test_detection_page_shows_a_character_with_the_last_of_its_tokens():
    tokenizer = ticore.load_tokenizer("tiny-en")
    text = "日本 and the rest of it"
    found = ticore.WatermarkDetector(tokenizer, key=KEY).detect(text)
    document = detection_page([("a", found)], tokenizer, "A page")
    parsed = Page(document)
    assert "ends within a character" in document
    assert len(tokens(parsed)) == found.token_count
    assert "日" in document
    assert "本" in document


def test_detection_page_has_a_section_for_each_text():
    found = [(name, detection([1], [1], [True], green=1)) for name in "abc"]
    assert Page(detection_page(found, TOY, "A page")).texts["h2"] == ["a", "b", "c"]


def test_detector_refuses_a_text_with_nothing_to_score():
    with pytest.raises(UnscorableTextError):
        ticore.WatermarkDetector(TOY, key=KEY).detect_ids([])


def test_table_of_all_texts_stands_before_them():
    plain = detection([1, 2], [0.0, 1.0], [True, True])
    part = detection([1, 2], [0.0, 1.0], [True, True], verdict="watermarked in part")
    several = detection_page([("one", plain), ("two", part)], TOY, "t")
    before = Page(several[: several.index("<section")] + "</body></html>")
    assert before.texts["td"] == [
        *("", "no watermark found", "0.25", "", "watermarked in part", "0.12")
    ]
    assert [given["href"] for tag, given in before.elements if tag == "a"] == ["#text-1", "#text-2"]
    assert 'id="text-2"' in several
    assert several.count('<ul class="legend"') == 1
    assert several.index('<ul class="legend"') < several.index("<section")
    alone = detection_page([("one", plain)], TOY, "t")
    assert 'class="overview"' not in alone
    assert alone.count('<ul class="legend"') == 1


def test_unmarked_text_has_no_stretch_and_no_payload_on_the_page():
    """Every text has a best segment and a likeliest payload; both would accuse somebody."""
    reader = ticore.WatermarkDetector(TOY, "gumbel_payload", key=KEY, payload_bits=16)
    found = reader.detect_ids(np.random.default_rng(1).integers(1, 6, 400))
    assert found.verdict == "no watermark found"
    document = detection_page([("a", found)], TOY, "t")
    shown = document[document.index("<body") :]
    assert not re.search(r'class="(segment|band)"|payload<|confidence|best segment', shown)
    assert "<svg" in shown


def test_text_that_is_too_short_is_said_to_be_before_all_numbers():
    target = DetectionTarget("left_hash", "toy", 1e-5)
    found = detection([1, 2, 3], [0, 1, 1], [True] * 3, 2, target=target, strongest_p_value=0.0625)
    document = detection_page([("a", found)], TOY, "t")
    assert document.index("This text is too short to tell.") < document.index("<table")
    assert "about once in 8 times; the limit that was set is once in 100,000" in document


def test_detection_page_shows_the_id_of_a_token_that_the_tokenizer_lacks():
    """Engines put -1 before a text; a model may have more ids."""
    ids = [-1, 2, 3, TOY.vocab_size, 4]
    found = detection(ids, [np.nan, 1, 1, 1, 1], [False, *[True] * 4])
    document = detection_page([("a", found)], TOY, "A page")
    shown = re.findall('<span[^>]*title="token[^>]*>([^<]*)</span>', document)
    assert shown == ["[-1]", "a", "b", f"[{TOY.vocab_size}]", "c"]
