"""Watermarked text on the page: its steps lead to it, and what was taken back is told."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest

import ticore
from tests.support.toy_models import ToyBrackets, ToyModel
from ticore._serve import marking
from ticore._serve.marking import LENGTHS, Story
from ticore.watermarking import Generator, Watermarker

from .conftest import Client

KEY = "5a" * 32
# Nothing may follow a "z"; what follows a "<" is mended by a ">".
HARD = [["a", "z", "za", "zz"], ["a", "b", "ab", "<", ">", "?"]]


class Seeded(Watermarker):
    """Draws the first tokens of a text, which have no context yet, in the same way each time."""

    def stream(self, *arguments, **settings):
        return super().stream(*arguments, seed=1, **settings)


def shown(steps: list[list]) -> tuple[str, int, Counter[str]]:
    """What is seen in the end: the text, how many pieces wait, and how often each kind came."""
    kept, waiting, counts = list[str](), list[str](), Counter[str]()
    for kind, *values in steps:
        counts[kind] += 1
        if kind in ("mended", "dropped"):
            assert 0 < values[0] == len(waiting)
            waiting.clear()
        if kind in ("kept", "mended"):
            kept.append(values[-1])
        elif kind == "pending":
            waiting.append(values[0])
        elif kind == "backtracked":
            kept.pop()
    return "".join(kept), len(waiting), counts


def test_steps_lead_to_the_text_whatever_is_taken_back() -> None:
    total = Counter[str]()
    for pieces, seed in itertools.product(HARD, range(10)):
        model = ToyModel(ToyBrackets(pieces), seed=seed)
        writer = Generator(model, view="whole", observation=3, seed=seed)
        stream, story = writer.stream(pieces[0], max_new_tokens=20), Story(model, pieces[0])
        steps = [["kept", story.text]]
        for change in stream.changes():
            steps += story.steps(change)
        text, waiting, counts = shown(steps)
        written = stream.result()
        assert (text, waiting) == (written.whole, 0)
        found = [counts[kind] for kind in ("mended", "dropped", "backtracked")]
        assert found == [written.temporary, written.rollbacks, written.backtracks]
        total += counts
    assert len(total) == 5


@pytest.fixture(scope="module")
def marked(client: Client) -> list[dict]:
    """With a seed: else one text in some hundreds ends after a few tokens, without a mark."""
    fields = {"key": KEY, "scheme": "gumbel", "model": "tiny-zh", "length": "short"}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(marking, "Watermarker", Seeded)
        return client.do("mark", **fields, words="bold", prompt="那天早上很冷，").events


def test_text_is_told_step_by_step_and_has_the_watermark(marked: list[dict]) -> None:
    steps = [step for event in marked[:-1] for step in event["progress"].get("steps", [])]
    result = marked[-1]["result"]
    text, waiting, counts = shown(steps)
    assert (text, waiting) == (result["text"], 0)
    assert text.startswith("那天早上很冷，")
    assert result["tokens"] == LENGTHS["short"]
    assert counts["mended"] == result["temporary"]
    assert counts["dropped"] == result["rollbacks"]
    assert result["verdict"] == "watermarked"
    assert "p-value" in result["html"]


def test_agreement_is_that_of_the_command_line(client: Client, marked: list[dict]) -> None:
    shared = {"key": KEY, "scheme": "gumbel", "model": "tiny-zh"}
    made = client.do("make-mark-agreement", **shared).result["agreement"]
    agreement = ticore.WatermarkAgreement.loads(made)
    text = marked[-1]["result"]["text"]
    assert ticore.WatermarkDetector.from_agreement(agreement).detect(text).verdict == "watermarked"
    opened = client.do("open-mark-agreement", agreement=made)
    assert opened.result == {"model": "tiny-zh", "scheme": "gumbel"}
    assert KEY.encode() not in opened.body


def test_payload_is_written_and_read(client: Client) -> None:
    fields = {"key": KEY, "scheme": "gumbel_payload", "model": "tiny-en", "length": "medium"}
    found = client.do("mark", **fields, payload="0000002a", prompt="It was").result
    assert "Its payload is 0000002a" in found["sentence"]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"scheme": "gumbel_payload"}, "payload: expected 4 bytes to write, found none"),
        ({"scheme": "gumbel_payload", "payload": "x"}, "payload: expected 4 bytes"),
        ({"payload": "2a"}, "it has"),
        ({"key": ""}, "found none"),
        ({"model": "torch:/etc"}, "expected one of the models that are installed"),
        ({"length": "endless"}, "expected one of short, medium, long"),
        ({"words": "2"}, "expected one of usual, bold"),
        ({"agreement": KEY}, "open the file that the writer"),
    ],
)
def test_error_says_what_was_expected_and_no_key(
    client: Client, fields: dict[str, str], said: str
) -> None:
    usual = {"key": KEY, "model": "tiny-en", "scheme": "unigram"}
    found = client.do("mark", **usual | fields)
    assert said in found.error
    assert KEY[:16] not in found.error
