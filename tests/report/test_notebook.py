"""What a notebook shows is escaped, well-formed, and drawn by the parts that the pages have."""

import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ticore
from tests.report.test_inspection_page import ATTRIBUTES, TAGS, TOY, Page
from ticore.consistency import compare
from ticore.errors import TextPlace
from ticore.report._detection_page import verdict_and_facts
from ticore.report._inspection_page import inspection_body
from ticore.report._notebook import MOST_TOKENS, notebook_html
from ticore.watermarking import Detection, DetectionTarget, Generated, Segment

EVIL = "</style></div><script>alert('1')</script>\n&amp;\u202e\0"
SHOWN_TAGS = TAGS | {"mark", "section", "table", "tr", "th", "td"}


def detection(**more):
    none = np.zeros(0, dtype=np.int64)
    numbers = {"p_value": 0.5, "strength": 0.0, "scored": 9, "green": 4, "token_count": 9}
    target = DetectionTarget(EVIL, EVIL, 0.01)
    return Detection(
        verdict="watermarked",
        segment=Segment(0, 0, 1.0),
        ids=none,
        scores=none.astype(float),
        counted=none.astype(bool),
        target=target,
        **numbers | more,
    )


RESULTS = {
    "comparison": compare(TOY, [2, 3, 4, 5, 6, 7, 8]),
    "detection": detection(),
    "embedding": ticore.Embedding(EVIL, (1, 2), bits=16, token_count=2, kl_filter=0.0),
    "generated": Generated(EVIL, (1,), EVIL, "length", 1, 2, 0, 3, True, 0.5),
    "place": TextPlace(f"It was{EVIL}late", 6, 6 + len(EVIL), (EVIL, "cold")),
}


@pytest.mark.parametrize("name", RESULTS)
def test_notebook_shows_one_escaped_element_that_fetches_nothing(name):
    html = RESULTS[name]._repr_html_()
    parsed = Page(html)
    assert parsed.elements[0] == ("div", {"class": "ticore"})
    assert {tag for tag, _ in parsed.elements} <= SHOWN_TAGS
    assert {name for _, given in parsed.elements for name in given} <= ATTRIBUTES | {"scope"}
    assert not set(html) & set("\0\u202e")
    assert not re.search(r"url\(|@import|https?:|<script|</body", html)
    (style,) = parsed.texts["style"]
    assert style.count("{") == style.count("}")
    shown = " ".join(
        text for tag, texts in parsed.texts.items() for text in texts if tag != "style"
    )
    assert len(shown.split()) > 5
    assert "alert" in shown or name == "comparison"


@given(ids=st.lists(st.integers(0, TOY.vocab_size - 1), max_size=8))
def test_comparison_is_drawn_as_its_page_is(ids):
    found = compare(TOY, ids)
    expected = inspection_body(found, lambda token: TOY.token_bytes(token.id), heading="p")
    assert "".join(expected) in found._repr_html_()  # the toy's tokens are the bytes of their spans


def test_detection_is_drawn_as_its_page_is():
    found = detection()
    assert "".join(verdict_and_facts(found)) in found._repr_html_()


def test_rules_of_a_notebook_change_nothing_outside():
    """Each rule is nested in the element's own, or names it."""
    (style,) = Page(RESULTS["detection"]._repr_html_()).texts["style"]
    outer, inner = style, True
    while inner:
        outer, inner = re.subn(r"\{[^{}]*\}", ";", outer)
    selectors = [each.strip() for each in re.split("[;,]", outer) if each.strip()]
    assert len(selectors) > 5
    assert all(each.endswith(".ticore") or each.startswith("@media") for each in selectors)
    assert "prefers-color-scheme: dark" in style
    assert "color: var(--ink); background: var(--paper)" in style


def test_many_tokens_are_not_shown():
    found = compare(TOY, [2] * (MOST_TOKENS + 1))
    html = found._repr_html_()
    assert len(html) < 20_000
    assert "2,001 tokens are too many" in html


def test_place_shows_what_is_around_it():
    text = "a" * 1000 + "here" + "b" * 1000
    html = TextPlace(text, 1000, 1004, (), 7)._repr_html_()
    assert f"…{'a' * 400}<mark>here</mark>{'b' * 400}…" in html
    assert "character 7<" in html
    assert "□" not in html
    assert "<mark>▫</mark>" in TextPlace("ab", 2, 2)._repr_html_()


def test_other_things_are_not_drawn():
    with pytest.raises(TypeError, match="found str"):
        notebook_html("<b>")


def test_result_imports_no_report_before_it_is_shown():
    code = (
        "import sys; from ticore.steganography import Embedding; "
        "before = 'ticore.report' in sys.modules; "
        "html = Embedding('a', (), 1, 1, 0.0)._repr_html_(); "
        "print(before, len(html) > 9, {'starlette', 'typer', 'uvicorn'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False True set()\n"
