"""The benchmark of backends: noise is what it says it is, and misread texts are counted as such."""

import json

import numpy as np
import pytest

import ticore
from benchmarks.backends.__main__ import main
from benchmarks.backends.figures import exchange, robustness
from benchmarks.backends.noise import noise
from benchmarks.backends.noisy import Noisy, rows_of
from benchmarks.backends.plan import EXCHANGE, PORTABLE, SAME_STACK, Plan
from benchmarks.backends.plot import plot
from benchmarks.backends.samples import Samples
from benchmarks.backends.speed import overhead, parallel
from benchmarks.backends.tables import tables
from ticore.errors import SettingsError

PLAN = Plan(places=("tiny-en",), bits=16, noises=(1e-12, 1e-9, 1.0))
PROMPTS = ["Once", "The old"]


def test_every_kind_comes_once():
    tasks = list(Plan().robustness(2))
    assert len(tasks) == len(set(tasks)) == 2 * 5 * (3 + 1)
    assert [task[1] for task in Plan().exchange(1)] == ["tiny-en", "torch:tiny-en", "jax:tiny-en"]


def test_another_machine_is_off_by_no_more_than_it_says():
    model = ticore.load_model("tiny-en")
    prompt_ids, ids = [5, 6], [7, 8, 9]
    rows = rows_of(model, prompt_ids, ids)
    other = Noisy(model, prompt_ids, rows, 0.5, (1,))
    decoder, original = other.start(prompt_ids), model.start(prompt_ids)
    for token in ids:
        apart = np.abs(decoder.logits() - original.logits())
        assert 0.4 < apart.max() <= 0.5
        decoder.push(token)
        original.push(token)
    assert np.array_equal(other.score([*prompt_ids, *ids])[2:], other._rows)
    decoder.rewind(3)
    assert list(decoder.ids) == prompt_ids
    assert other.portable_digest() == model.portable_digest()


@pytest.mark.parametrize("codec", ["arithmetic", "discop"])
def test_who_misreads_a_text(codec):
    samples = Samples(PLAN, PROMPTS)
    same, portable = (samples.write(part, codec, 10, 3) for part in (SAME_STACK, PORTABLE))
    assert same["misread"] == portable["misread"] == [1.0]
    assert samples.write(EXCHANGE, "tiny-en", 10, 3)["misread"] == []


def test_counts():
    def row(part, what, index, misread):
        return {"part": part, "what": what, "grid_bits": 10, "index": index, "misread": misread}

    rows = [
        row(SAME_STACK, "meteor", 0, [0.1]),
        row(SAME_STACK, "meteor", 1, []),
        row(SAME_STACK, "meteor", 2, None),  # nothing was written
        row(PORTABLE, "meteor", 0, []),
        row(EXCHANGE, "a", 0, ["b"]),
        row(EXCHANGE, "a", 1, []),
        row(EXCHANGE, "b", 0, []),
        row(EXCHANGE, "b", 1, None),
    ]
    portable, same = robustness(rows, [0.01, 0.1])
    assert [rate["value"] for rate in same["misread"]] == [0.0, 0.5]
    assert (same["texts"], portable["texts"], portable["numerics"]) == (2, 1, PORTABLE)
    pairs = [tuple(one.values()) for one in exchange(rows, ["a", "b"])]
    assert pairs == [("a", "a", 2, 0), ("a", "b", 2, 1), ("b", "a", 1, 0), ("b", "b", 1, 0)]


def test_noise_of_number_formats_and_ways_to_read():
    pairs = noise(["tiny-en"], "The morning was cold and the river high.", 12)
    names = [
        (dtype, path)
        for dtype in ("float64", "float32")
        for path in ("cached", "uncached", "parallel", "batched")
    ]
    found = {
        frozenset((side["dtype"], side["path"]) for side in (pair["one"], pair["other"])): pair
        for pair in pairs
    }
    assert len(found) == len(pairs) == len(names) * (len(names) - 1) // 2
    for sides, pair in found.items():
        exact = {dtype for dtype, _ in sides} == {"float64"}
        assert pair["difference"] < (1e-9 if exact else 1e-3)
        if len({dtype for dtype, _ in sides}) == 2:
            assert pair["difference"] > 1e-9


def test_what_a_token_costs():
    found = overhead("tiny-en", "float32", "Once", 6, 16)
    parts = [found[name] for name in ("pool", "verifier", "codec")]
    assert min(*parts, found["model"]) > 0
    assert found["beside"] == pytest.approx(sum(parts))
    assert found["share"] == pytest.approx(found["beside"] / (found["beside"] + found["model"]))


def test_rates_of_reading():
    found = parallel("tiny-en", "Once", 1)
    assert min(found["stepwise"], found["parallel"]) > 0


def test_the_command(tmp_path, capsys):
    pytest.importorskip("torch", reason="transformers' generate is what the Decoder is held to")
    arguments = [
        *("--places", "torch:tiny-en", "--codecs", "arithmetic", "--samples", "1"),
        *("--exchanged", "1", "--tokens", "12", "--texts", "1", "--top-k", "16", "--rows", "2"),
        *("--processes", "1", "--out", str(tmp_path / "out"), "--json", str(tmp_path / "found")),
    ]
    assert main(arguments) == 0
    found = json.loads((tmp_path / "found").read_text())
    assert found["complete"]
    assert {row["dtype"] for row in found["speed"]["generating"]} == {"float32", "float64"}
    assert [cell["misread"] for cell in found["exchange"]] == [0]
    assert len(found["robustness"]) == 4
    shown = capsys.readouterr().out
    for title in ("Largest difference", "Messages misread", "Tokens a second, watermarking"):
        assert title in shown
    written = (tmp_path / "out").read_text()
    assert main([*arguments, "--parts", "exchange"]) == 0
    assert (tmp_path / "out").read_text() == written


def test_nothing_measured_is_nothing_shown(tmp_path):
    nothing = {name: [] for name in ("generating", "overhead", "parallel", "batches")}
    settings = {"noises": [0.1]}
    found = {"noise": [], "robustness": [], "exchange": [], "speed": nothing, "settings": settings}
    assert [table.row_count for table in tables(found)] == [0] * 7
    with pytest.raises(SettingsError, match="nothing to draw"):
        plot(found, tmp_path / "picture.svg")
