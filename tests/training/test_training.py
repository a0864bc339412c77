"""Training: what it makes of a corpus, and that a run can be resumed and exported."""

import dataclasses
import gzip
import json
from pathlib import Path

import pytest

pytest.importorskip("tokenizers", reason="tokenizers is not installed")
pytest.importorskip("torch", reason="torch is not installed")

import numpy as np
import torch

import ticore
from tests.support.tokenizers import sample_text
from training import __main__ as script
from training import loop
from training.corpora import chinese, documents, english, japanese
from training.recipes import RECIPES
from training.tokenizers import ByteLevelBpe, SentencePieceBpe
from training.windows import windows

TINY = dataclasses.replace(
    RECIPES["tiny-en"].sizes,
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
        file.write(documents.DOCUMENT_MARK.join(novels))
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
    loaded = english.load(folder)
    assert len(loaded.held_out) == 1
    assert loaded.held_out[0] not in loaded.train
    web = [text for text in loaded.train if text.startswith("Web page")]
    assert len(web) == english.WEB_REPEATS
    assert all(f"Web page {n}" in web[0] for n in (0, 1, 3))
    assert "Web page 2" not in web[0]


def test_corpus_is_found_by_a_relative_path(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    assert english.load(Path(folder.name)) == english.load(folder)


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
    assert english.unwrap(text) == expected


def test_articles_that_hold_a_prompt_are_left_out_of_japanese(tmp_path):
    texts = language_folder(tmp_path, "ja", prompt="東京は日本の首都である。")
    write_gzip(
        texts / "aozora_modern_kana.txt.gz", "\n\n<|doc|>\n\n".join(["　夜が来た。\n\n　朝。"] * 10)
    )
    paragraphs = [f"{n}番目。\n次の文。" for n in range(40)] + [
        "東京は日本の首都である。\n終わり。"
    ]
    write_gzip(texts / "jaquad_contexts.txt.gz", "\n\n".join(paragraphs))
    loaded = japanese.load(texts)
    assert loaded.held_out == ["夜が来た。\n朝。"]
    assert loaded.train.count("夜が来た。\n朝。") == 9
    articles = [text for text in loaded.train if "番目" in text]
    assert len(articles) == 2 * japanese.ARTICLE_REPEATS
    assert articles[0].startswith("0番目。次の文。\n1番目。")
    assert not any("東京" in text for text in loaded.train)


def test_texts_that_hold_a_prompt_are_left_out_of_chinese(tmp_path):
    texts = language_folder(tmp_path, "zh", prompt="北京是首都。")
    (texts / "luxun.txt").write_text("<|doc|>".join(f"第{n}篇。" for n in range(12)))
    write_gzip(
        texts / "lctt_opensource_fedora.txt.gz", "<|doc|>".join(["开源。", "北京是首都。很大。"])
    )
    (texts / "cmrc2018_contexts.txt").write_text("\n\n".join(f"{n}号。" for n in range(25)))
    loaded = chinese.load(texts)
    assert loaded.held_out == ["第9篇。"]
    assert len(loaded.train) == 11 + 1 + 3
    assert not any("北京" in text for text in loaded.train)


@pytest.mark.parametrize("kind", [SentencePieceBpe(400, 1.0), ByteLevelBpe(400)])
def test_windows_begin_sentences(kind, folder, tmp_path):
    texts = english.load(folder).train
    kind.train(texts, tmp_path / kind.file)
    tokenizer = kind.open(tmp_path / kind.file)
    source = windows(texts, english.SENTENCE_START, tokenizer, 16, seed=1)
    for _ in range(50):
        window = next(source)
        assert window.shape == (17,)
        assert window[0] == tokenizer.start
        # The eighth token may end inside a character.
        begins = tokenizer.decode(window[1:8].tolist()).rstrip("\ufffd")
        assert any(begins in text for text in texts)


@pytest.mark.parametrize("kind", [SentencePieceBpe(TINY.vocab_size, 1.0), ByteLevelBpe(400)])
def test_a_run_resumes_exports_and_loads(kind, folder, tmp_path):
    """Stopped half way, resumed, exported: the model opens, with the logits training had."""
    texts, out = english.load(folder).train, tmp_path / "out"
    out.mkdir()
    kind.train(texts, out / kind.file)
    tokenizer = kind.open(out / kind.file)
    checkpoint = out / "checkpoint.pt"
    sizes = dataclasses.replace(TINY, bos_token_id=tokenizer.start)

    def train(run):
        return loop.train(sizes, run, texts, english.SENTENCE_START, tokenizer, checkpoint)

    train(dataclasses.replace(RUN, steps=2))
    assert torch.load(checkpoint, weights_only=True)["step"] == 2
    network = train(RUN)
    assert torch.load(checkpoint, weights_only=True)["step"] == 4

    with pytest.raises(ValueError, match="found other values of muon_rate; give the former ones"):
        train(dataclasses.replace(RUN, muon_rate=0.5))

    script.export(network, out)
    model = ticore.load_model(f"embedded:{out}", dtype="float32")
    ids = tokenizer.encode("the quick brown fox")
    with torch.inference_mode():
        theirs = network.half().float()(torch.tensor([[tokenizer.start, *ids[:-1]]]))[0]
    assert np.abs(model.score(ids) - theirs.numpy()).max() < 1e-4


@pytest.mark.parametrize("name", sorted(RECIPES))
def test_sizes_and_tokenizer_of_a_recipe_agree(name):
    recipe = RECIPES[name]
    tokens = getattr(recipe.tokenizer, "pieces", None) or recipe.tokenizer.tokens
    assert tokens == recipe.sizes.vocab_size


def language_folder(tmp_path, language, prompt):
    """An empty folder of texts, beside the prompts of its language."""
    texts = tmp_path / "corpora" / language
    texts.mkdir(parents=True)
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / f"{language}.jsonl").write_text(json.dumps({"text": prompt}) + "\n")
    return texts


def write_gzip(path, text):
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write(text)
