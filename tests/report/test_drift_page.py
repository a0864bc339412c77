"""The page about drift escapes what it shows, and names causes with what to do."""

from tests.report.test_inspection_page import ATTRIBUTES, TAGS, Page
from ticore.consistency._causes import ADVICE
from ticore.report import ShownDrift, drift_page


def test_the_page_shows_rates_causes_and_examples():
    spelled = [b"", b"<b>", b"&", b"\xff"]
    example = ShownDrift(1234, "'<b>' at <i>", "bpe", [1, 2], [3, 0])
    shown = drift_page(
        "Drift in <x>", {"rows": "2 <3>"}, {"bpe": 1, "strip": 0}, [example], spelled.__getitem__
    )
    page = Page(shown)
    assert {tag for tag, _ in page.elements} <= TAGS | {"h2", "table", "tr", "th", "td"}
    assert {name for _, found in page.elements for name in found} <= ATTRIBUTES | {"scope"}
    assert page.texts["h1"] == ["Drift in <x>"]
    assert page.texts["td"] == ["2 <3>", ADVICE["bpe"]]
    assert page.texts["strong"] == ["row 1,234: bpe"]
    assert "<b>" in page.texts["bdi"]


def test_the_page_without_drift_has_no_examples():
    page = Page(drift_page("none", {"rows": "1"}, {"bpe": 0}, [], bytes))
    assert page.texts["th"] == ["rows"]
    assert "h2" not in page.texts
