"""Messages from the command to the page, with texts that are the same as those written alone."""

import json

import pytest

import ticore
from benchmarks._harness.prompts import load_prompts
from benchmarks._harness.sampling import sample_key, sample_random
from benchmarks.paper.__main__ import main
from benchmarks.paper.messages import plan
from ticore.evaluation import perplexity


@pytest.mark.slow
def test_the_command_measures_the_texts_that_are_written_alone(tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("pyarrow")
    methods = ["none", "stepwise", "stepwise, viable", "lookahead", "search"]
    how = ["--samples", "2", "--batch", "2", "--candidates", "4", "--methods", *methods]
    where = ["--out", str(tmp_path), "--processes", "1"]
    assert main(["--parts", "messages", "--models", "tiny-en", *how, *where]) == 0
    store = tmp_path / "samples" / "messages-tiny-en.jsonl"
    groups = [json.loads(line) for line in store.read_text(encoding="utf-8").splitlines()]
    (found,) = (one["texts"][1] for one in groups if one["method"] == "stepwise")

    model = ticore.load_model("tiny-en")
    draw = sample_random(0, 1)
    bits = [draw.getrandbits(1) for _ in range(plan.BITS)]
    alone = ticore.Steganographer(
        model,
        key=sample_key(0, 1),
        prompt=load_prompts(None, "en")[1],
        top_k=4,
        numerics="portable",
    ).embed_bits(bits, stop="paper")
    assert found["text"] == alone.text
    assert found["recovered"]
    assert found["kl"]["filter"] == pytest.approx(alone.kl_filter, abs=1e-3)
    ids = model.tokenizer.encode(alone.text)
    assert found["ppl"] == pytest.approx(perplexity(model, [], ids))

    report = json.loads((tmp_path / "results" / "messages.json").read_text(encoding="utf-8"))
    cells = report["models"][0]["results"]["cells"]
    assert [(cell["method"], cell["text_count"]) for cell in cells] == [
        (method, 2) for method in methods
    ]
    assert all(cell["misread"]["value"] == 0.0 for cell in cells[1:])
    assert cells[-1]["kl"]["filter"]["value"] == 0.0
    assert "messages-divergence.svg" in (tmp_path / "index.md").read_text(encoding="utf-8")
