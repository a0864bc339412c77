"""What an observer without the key makes of the place where a text ends."""

import pytest

from benchmarks.paper import endings
from benchmarks.paper.endings import plan, samples
from benchmarks.paper.endings.guessing import guess
from benchmarks.paper.endings.plan import AT_ONCE, FREE, PAPER, SENTENCE, USUAL
from benchmarks.paper.page import write_pages
from benchmarks.paper.setting import Setting
from benchmarks.paper.stand_ins import STAND_INS

SETTING = Setting(STAND_INS["tiny-en"], ("It was late when", "She opened the door, and"), 2)


@pytest.fixture(scope="module")
def taken():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(samples, "LONGEST", 12)
        worker = endings.PART.make_worker(SETTING)
        kinds = [(ending, size) for ending in (PAPER, AT_ONCE) for size in (4, 8)]
        return [worker(*kind, 0) for kind in (*kinds, (SENTENCE, 4), (USUAL, 4), (FREE, 0))]


def texts(taken, ending):
    return [text for each in taken if each["ending"] == ending for text in each["texts"]]


@pytest.mark.slow
def test_surprisals_add_up_to_the_bits_that_are_hidden(taken):
    for text in texts(taken, AT_ONCE):
        assert text["bits"] == 8 * (text["size"] + 21)
        assert text["bits"] <= sum(text["surprisals"]) < text["bits"] + 16
    for text in texts(taken, PAPER):
        assert abs(sum(text["surprisals"]) - 8 * text["size"]) < 16
    for text in texts(taken, USUAL):
        assert text["bits"] == 8 * (16 + 1 + 12)
    for text in texts(taken, SENTENCE):
        assert text["sentence_ends"][-1] == len(text["surprisals"]) - 1
        assert sum(text["surprisals"][:-1]) > text["bits"]


@pytest.mark.slow
def test_free_texts_are_cut_and_hold_nothing(taken):
    found = texts(taken, FREE)
    assert all(len(text["surprisals"]) == 12 and not text["ended"] for text in found)
    assert found[0]["text"] != found[1]["text"]


def test_more_samples_are_more_tasks():
    few, more = (endings.PART.tasks(SETTING, count) for count in (1, 3))
    assert more[: len(few)] == few
    assert len(set(more)) == len(more) == 2 * len(few) == 2 * len(plan.KINDS)


@pytest.mark.parametrize(
    ("ending", "sentence_ends", "expected"),
    [
        (AT_ONCE, [], (4, 3, 4)),  # 35 bits, of which 4 bytes are the most
        (PAPER, [], (4, 3, 5)),
        (SENTENCE, [6], (1, 1, 3)),  # any token but the last may be the message's last
        (SENTENCE, [4, 6], (3, 2, 3)),  # 15 bits or more before the end of the first sentence
        (SENTENCE, [6, 7], (4, 3, 4)),
    ],
)
def test_guess(ending, sentence_ends, expected):
    surprisals = [5.0] * 7 if 7 not in sentence_ends else [5.0] * 8
    assert guess(ending, surprisals, sentence_ends)[:3] == expected


def test_guess_of_the_size_of_a_padded_frame():
    # 17 bytes of a frame and 4, 6, 8 or 12 of its plaintext end at 168, 184, 200 and 232 bits.
    assert guess(USUAL, [10.0] * 20, [3, 19]) == (21, 21, 23, 2)
    assert guess(USUAL, [10.0] * 24, [3, 20, 23]) == (25, 21, 25, 3)
    assert guess(USUAL, [1.0] * 9, [8]) == (0, 0, 0, 1)


def text(ending, size, surprisals, sentence_ends=(), **more):
    fields = {"bits": 8 * size, "index": 0, "text": "x", "ended": True}
    ends = {"sentence_ends": list(sentence_ends)}
    return {"ending": ending, "size": size, "surprisals": surprisals, **fields, **ends, **more}


def test_summarize_measures_the_guesses():
    messages = [
        text(AT_ONCE, size, [4.0] * (2 * size + extra))
        for size in (2, 4, 8, 16)
        for extra in (0, 1, 2)
    ]
    free = [text(FREE, 0, [1.0] * n, [3, n - 1]) for n in (5, 9, 40)]
    failed = text(PAPER, 4, []) | {"text": None}
    found = endings.PART.summarize([*messages, *free, failed])
    assert found["failures"] == 1
    assert found["free"]["ended"]["value"] == 1
    (together,) = found["endings"]
    assert together["exact"]["value"] == pytest.approx(2 / 3)  # 8 bits too many are a byte
    assert together["error"]["value"] == pytest.approx(1 / 3)
    assert together["correlation"]["value"] > 0.99
    kinds = {(kind["ending"], kind["size"]): kind for kind in found["kinds"]}
    assert kinds[AT_ONCE, 4]["excess"] == pytest.approx({"low": 0.4, "middle": 4, "high": 7.6})
    assert kinds[AT_ONCE, 4]["differs"]["statistic"] == pytest.approx(1 / 3)
    assert kinds[FREE, 0]["last_sentence"]["value"] == pytest.approx((1 + 5 + 36) / 3)


@pytest.mark.slow
def test_section_says_whether_the_length_is_given_away(taken, tmp_path):
    found = endings.PART.summarize(endings.PART.rows(taken, 2))
    write_pages(tmp_path, [], [endings.PART.section({SETTING.model: found})])
    page = (tmp_path / "index.md").read_text(encoding="utf-8")
    assert "with none, the end gives the length away: 75.0" in page
    assert page.count("| sentence | 4 |") == 2
    assert "| free |  |" in page
    blind = [text(AT_ONCE, 4, [4.0] * 30)]
    found = endings.PART.summarize(blind)
    write_pages(tmp_path, [], [endings.PART.section({SETTING.model: found})])
    page = (tmp_path / "index.md").read_text(encoding="utf-8")
    assert "there are too few texts to tell" in page
