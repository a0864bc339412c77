"""The benchmark of verification: what it counts, and that it sees an engine which is wrong."""

import json
import random
import unicodedata
from dataclasses import asdict, replace
from itertools import groupby

import pytest

from benchmarks.spread import duration, ratio, spread
from benchmarks.verification.inside import what_is_new
from benchmarks.verification.openings import OPENINGS
from benchmarks.verification.places import Place
from benchmarks.verification.plan import Plan
from benchmarks.verification.plot import plot
from benchmarks.verification.rejections import Count
from benchmarks.verification.soak import Cases, Soak, missing
from benchmarks.verification.speed import measure
from benchmarks.verification.tables import mismatch_text, soak_tables, times_tables
from benchmarks.verification.texts import passage, texts
from tests.models import ToyTokenizer
from tests.tokenizers import FRAGMENTS, TRAINED
from ticore.consistency import Verifier


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 µs"),
        (4.2e-7, "0.42 µs"),
        (3.14e-6, "3.1 µs"),
        (99.4e-6, "99 µs"),
        (0.99999, "1 s"),
        (0.1234, "123 ms"),
        (12.3, "12 s"),
        (1234.0, "1,234 s"),
    ],
)
def test_durations_are_short(seconds, text):
    assert duration(seconds) == text


def test_ratios_have_two_digits():
    assert [ratio(value) for value in (0.123, 1.26, 12345, 10_000_000)] == [
        "0.12",
        "1.3",
        "12,000",
        "10,000,000",
    ]


def test_spread():
    found = spread([float(n) for n in range(101)])
    assert found == {"count": 101, "low": 0, "median": 50, "mean": 50, "p95": 95, "high": 100}


def test_passages_begin_with_a_line_and_are_long_enough():
    draw = random.Random(1)
    for text in ("one\ntwo\nthree\n" * 30, "short\n"):
        for _ in range(50):
            found = passage(text, 40, draw)
            assert len(found) == 40
            assert found.startswith(tuple(text.split()))


def test_texts_come_from_files_of_several_kinds(tmp_path):
    lines = tmp_path / "a.jsonl"
    lines.write_text('{"id": "7", "prefix": "be", "rest": "gin"}\n{"text": "end"}\n')
    plain = tmp_path / "b.txt"
    plain.write_text("naïve\n", encoding="utf-8")
    assert texts([lines, plain], None) == {"a.jsonl": "begin\nend", "b.txt": "naïve\n"}
    assert list(texts([], tmp_path, ("Chinese", "code"))) == ["Chinese", "code"]


@pytest.mark.parametrize(
    ("data", "count"),
    [(b"", 0), (b"a", 0), ("é".encode(), 0), (b"\xc3", 1), (b"x\xe3\x81", 1), (b"\xf0", 3)],
)
def test_missing_bytes(data, count):
    assert missing(data) == count


def test_rejections_are_counted_by_place():
    """`aab` is read as one piece: after `a`, `a` the list is what no text is read as."""
    tokenizer = ToyTokenizer(["", "a", "b", "ab", "aab"])
    count = Count()
    count.add(Verifier(tokenizer), [1, 1, 2, 2])
    # a | a a | (a a b is read as aab) | and so on: no list of these is ever right again.
    assert (count.places, count.rejected) == (4, 2)
    assert (count.asked, count.turned_away) == (3, 1)
    count.add(Verifier(tokenizer), [4, 4])
    assert (count.passages, count.clean) == (2, 1)


def track(items, description, total):
    return items


@pytest.mark.parametrize("name", ["hf-gpt2", "sp-bpe-nfkc", "sp-unigram"])
def test_times_of_everything(name, tmp_path):
    """Each way has its times and its place in the tables; the figure is drawn from the same."""
    place = Place(name, "here", TRAINED[name])
    plan = Plan(
        modes=("prefix", "viable"), lengths=(5, 20), passages=1, steps=5, sample=64, loads=1
    )
    plan = replace(plan, full_length=20, walked=60)
    about = {"machine": {"processor": "any"}, "settings": asdict(plan)}
    found = about | {"tokenizers": [{}]}
    measure(place, plan, {"fragments": "\n".join(FRAGMENTS)}, track, found["tokenizers"][0])
    assert (
        json.loads(json.dumps(found))["tokenizers"][0]["vocab_size"] == TRAINED[name]().vocab_size
    )
    for rows in found["tokenizers"][0]["modes"].values():
        assert rows["load"]["built"]["whole"]["median"] > 0
        assert rows["memory"]["walked"] >= rows["memory"]["loaded"] > 0
        for length, here in rows["lengths"].items():
            assert here["mask"]["mask_again"]["all"]["count"] <= 5
            assert here["paper"]["mask"]["median"] > 0
            assert len(here["paper"]["full"]) == (length == "20")
    tables = list(times_tables(found))
    assert all(table.row_count for table in tables)
    pytest.importorskip("matplotlib")
    plot(found, tmp_path / "figure.svg")
    assert "viable" in (tmp_path / "figure.svg").read_text(encoding="utf-8")


def test_what_an_engine_keeps():
    verification = Verifier(TRAINED["hf-gpt2"](), rung="mask").start()
    for token in TRAINED["hf-gpt2"]().encode("the quick brown fox"):
        verification.push(token)
    assert what_is_new(verification) in ("new_token", "new_tail")
    verification.mask()
    assert what_is_new(verification) == "kept"


@pytest.mark.parametrize("name", ["hf-gpt2", "sp-bpe", "sp-unigram"])
@pytest.mark.parametrize("mode", ["prefix", "open", "viable"])
def test_soaking_finds_nothing_where_all_is_right(name, mode):
    soak = Soak(Verifier(TRAINED[name](), mode, rung="mask"), ["\n".join(FRAGMENTS)])
    tally = soak.play("a case")
    assert tally.checks > tally.admitted > 0
    assert tally.mismatches == 0
    again = soak.play("a case")
    assert (again.checks, again.admitted) == (tally.checks, tally.admitted)


def test_no_case_is_played_twice(tmp_path, monkeypatch):
    soak = Soak(Verifier(TRAINED["sp-bpe"](), rung="mask"), ["\n".join(FRAGMENTS)])
    kind = {"seed": 0, "mode": "prefix"}
    first = list(Cases(tmp_path / "cases.jsonl").play(soak, kind, 500))
    assert sum(row["checks"] for row in first) >= 500 > sum(row["checks"] for row in first[:-1])
    with monkeypatch.context() as patch:
        patch.setattr(soak, "play", None)
        assert list(Cases(tmp_path / "cases.jsonl").play(soak, kind, 500)) == first
    more = list(Cases(tmp_path / "cases.jsonl").play(soak, kind, 1000))
    assert more[: len(first)] == first
    assert len(more) > len(first)


def test_soaking_finds_what_is_wrong(monkeypatch):
    tokenizer = TRAINED["sp-bpe"]()
    verifier = Verifier(tokenizer, rung="mask")
    engine = type(verifier.start()._engine)
    right = engine.admits

    def wrong(self, state, candidates):
        return right(self, state, candidates) ^ (candidates == wrong_about)

    soak = Soak(verifier, ["\n".join(FRAGMENTS)])
    (wrong_about, *_) = tokenizer.encode("e.")[-1:]
    monkeypatch.setattr(engine, "admits", wrong)
    tallies = [soak.play(f"{n}") for n in range(10)]
    assert sum(tally.mismatches for tally in tallies) > 0
    examples = [example for tally in tallies for example in tally.examples]
    assert {example["candidate"] for example in examples if example["what"] == "admits"} == {
        wrong_about
    }
    least = min(len(example["shortened"]) for example in examples)
    assert least < 5
    row = {"tokenizer": "small", "mode": "prefix", "place": "a place", "case": 1}
    assert f"[{wrong_about}]" in mismatch_text(row, examples[0])
    for example in examples:
        for what in ("admits", "mask", "push", "admissible", "finished_ok", "lost"):
            assert what in mismatch_text(row, example | {"what": what})


@pytest.mark.parametrize("opening", OPENINGS)
def test_openings_are_what_their_names_say(opening):
    """Each gives other ids than ordinary text does, within what the definition can check."""
    tokenizer, draw = TRAINED["hf-gpt2"](), random.Random(opening)
    found = [OPENINGS[opening](draw, tokenizer, FRAGMENTS) for _ in range(100)]
    lists = {tuple(ids) for ids in found}
    assert len(lists) > 20
    if opening != "snippets":  # one of which is the text of a special token
        has_special = [not tokenizer.special_ids.isdisjoint(ids) for ids in found]
        assert any(has_special) == (opening == "chat")
    decoded = [tokenizer.decode(ids) for ids in found]
    longest = max(len(list(same)) for text in decoded for _, same in groupby(text))
    assert (longest >= 255) == (opening == "run")
    marked = [sum(map(bool, map(unicodedata.combining, text))) for text in decoded]
    assert (max(marked) >= 100) == (opening in ("marks", "run"))


def test_cases_are_summed_by_tokenizer_and_mode_and_by_opening():
    sums = {"checks": 5, "admitted": 2, "lists": 1, "passed_over": 0, "mismatches": 0, "seconds": 1}
    rows = [
        {"tokenizer": "small", "mode": mode, "opening": opening} | sums
        for mode in ("open", "prefix")
        for opening in ("run", "chat", "text")
    ]
    by_mode, by_opening = soak_tables(rows)
    assert (by_mode.row_count, by_opening.row_count) == (2, 3)
    assert list(by_opening.columns[1].cells) == ["10", "10", "10"]
