"""The training script: what it makes of a corpus, and that a run can be resumed and exported."""

import dataclasses
import gzip
import json
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch is not installed")

import numpy as np
import sentencepiece
import torch

import ticore
from tests.support.tokenizers import sample_text
from training.tiny_en import __main__ as script
from training.tiny_en import corpus, loop

TINY = dataclasses.replace(
    script.TINY_EN,
    vocab_size=400,
    hidden_size=32,
    intermediate_size=48,
    num_hidden_layers=2,
    num_attention_heads=2,
    num_key_value_heads=1,
    max_position_embeddings=64,
)
RUN = loop.Run(steps=4, batch=64, window=16, long_window=32, warmup=1, save_every=2, device="cpu")


@pytest.fixture
def folder(tmp_path):
    """A corpus laid out as the script expects it, in small."""
    texts = tmp_path / "corpora" / "en"
    texts.mkdir(parents=True)
    novels = [". ".join(sample_text(60, seed)) for seed in range(20)]
    with gzip.open(texts / "100_english_novels.txt.gz", "wt") as file:
        file.write(corpus.DOCUMENT_MARK.join(novels))
    web = [{"prefix": f"Web page {n}. ", "gold_completion": "Buy now. " * 9} for n in range(4)]
    (texts / "c4_pf_decoding.jsonl").write_text("\n".join(map(json.dumps, web)) + "\n")
    (tmp_path / "prompts").mkdir()
    prompt = {
        "id": "1",
        "text": "Web page 2. Buy now. Buy now. Buy now. Buy now. Buy now. Buy now.",
    }
    (tmp_path / "prompts" / "en.jsonl").write_text(json.dumps(prompt) + "\n")
    return texts


def test_corpus_keeps_novels_and_prompts_apart(folder):
    loaded = corpus.load(folder)
    assert len(loaded.held_out) == 1
    assert loaded.held_out[0] not in loaded.train
    web = [text for text in loaded.train if text.startswith("Web page")]
    assert len(web) == corpus.WEB_REPEATS
    assert all(f"Web page {n}" in web[0] for n in (0, 1, 3))
    assert "Web page 2" not in web[0]


def test_corpus_is_found_by_a_relative_path(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    assert corpus.load(Path(folder.name)) == corpus.load(folder)


@pytest.mark.parametrize("settings", [{"warmup": 0}, {"decay_share": 0.0}])
def test_schedule_leaves_out_a_part_of_no_length(settings):
    run = dataclasses.replace(RUN, **settings)
    rates = [loop._schedule(step, run) for step in range(run.steps)]
    assert max(rates) == 1.0
    assert min(rates) > 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("wrapped at\na width\n\nnext", "wrapped at a width\nnext"),
        # Without empty lines, a short line ends a paragraph.
        ("full line\nfull line\nend.\nfull line\n", "full line full line end.\nfull line"),
        ("x" * 200 + "\n" + "y  y" * 50, "x" * 200 + "\n" + "y y" * 50),
        ("", ""),
    ],
)
def test_unwrap(text, expected):
    assert corpus.unwrap(text) == expected


def test_windows_begin_sentences(folder, tmp_path):
    texts = corpus.load(folder).train
    corpus.train_tokenizer(texts, 400, tmp_path / "t")
    tokenizer = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "t.model"))
    source = corpus.windows(texts, tokenizer, 16, seed=1)
    for _ in range(50):
        window = next(source)
        assert window.shape == (17,)
        assert window[0] == tokenizer.bos_id()
        assert any(tokenizer.decode(window[1:8].tolist()) in text for text in texts)


def test_a_run_resumes_exports_and_loads(folder, tmp_path):
    """Stopped half way, resumed, exported: the model opens, with the logits training had."""
    texts, out = corpus.load(folder), tmp_path / "out"
    out.mkdir()
    corpus.train_tokenizer(texts.train, TINY.vocab_size, out / "tokenizer")
    tokenizer = sentencepiece.SentencePieceProcessor(model_file=str(out / "tokenizer.model"))
    checkpoint = out / "checkpoint.pt"

    half = dataclasses.replace(RUN, steps=2)
    loop.train(TINY, half, texts, tokenizer, checkpoint)
    assert torch.load(checkpoint, weights_only=True)["step"] == 2
    network = loop.train(TINY, RUN, texts, tokenizer, checkpoint)
    assert torch.load(checkpoint, weights_only=True)["step"] == 4

    script.export(network, out)
    model = ticore.load_model(f"embedded:{out}", dtype="float32")
    ids = tokenizer.encode("the quick brown fox")
    with torch.inference_mode():
        theirs = network.half().float()(torch.tensor([[tokenizer.bos_id(), *ids[:-1]]]))[0]
    assert np.abs(model.score(ids) - theirs.numpy()).max() < 1e-4
