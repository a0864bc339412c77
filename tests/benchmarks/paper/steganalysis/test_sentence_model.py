"""A pretrained encoder as a detector: batches, and that it learns."""

import random
from importlib import import_module

import numpy as np
import pytest
import tokenizers
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit

from benchmarks.paper.steganalysis.detectors.detector import Seen

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
sentence_model = import_module("benchmarks.paper.steganalysis.detectors.sentence_model")

WORDS = [f"w{number}" for number in range(40)]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    """A directory with a BERT of one small layer, which knows nothing."""
    folder = tmp_path_factory.mktemp("encoder")
    vocabulary = {word: number for number, word in enumerate(["[PAD]", "[UNK]", *WORDS])}
    words = tokenizers.Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    words.pre_tokenizer = WhitespaceSplit()
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="[PAD]", unk_token="[UNK]"
    ).save_pretrained(folder)
    shape = {"hidden_size": 32, "intermediate_size": 64, "num_attention_heads": 2}
    torch.manual_seed(0)
    settings = transformers.BertConfig(vocab_size=42, num_hidden_layers=1, **shape)
    transformers.BertModel(settings).save_pretrained(folder)
    return folder


def texts(count, seed, marked):
    """Texts of 1 to 40 words. The marked ones have the word w0 in each second place."""
    draw = random.Random(seed)
    found = []
    for index in range(count):
        words = draw.choices(WORDS[1:], k=draw.randint(1, 40))
        words[::2] = ["w0"] * len(words[::2]) if marked else words[::2]
        found.append(Seen(index, " ".join(words), [], {}))
    return found


@pytest.mark.slow
def test_a_fine_tuned_encoder_finds_what_differs(encoder, monkeypatch):
    monkeypatch.setattr(sentence_model, "_RATE", 3e-3)  # it starts from nothing
    monkeypatch.setattr(sentence_model, "_EPOCHS", 12)
    detector = sentence_model.FineTuned(encoder)
    detector.fit(texts(100, 1, True) + texts(100, 2, False), np.arange(200) < 100, seed=0)
    unseen = texts(40, 3, True) + texts(40, 4, False)
    found = detector.scores(unseen)
    assert ((found > 0) == (np.arange(80) < 40)).mean() > 0.9
    # Scores do not depend on the texts beside them: padding counts for nothing.
    alone = [detector.scores([text])[0] for text in unseen[:10]]
    assert found[:10] == pytest.approx(alone, abs=1e-4)


@pytest.mark.parametrize("count", [1, 31, 32, 33, 1000])
def test_batches_hold_each_row_once_and_like_lengths_together(count):
    lengths = np.random.default_rng(0).integers(1, 129, count).tolist()
    torch.manual_seed(0)
    batches = sentence_model._batches_of_like_lengths(lengths)
    assert sorted(row for batch in batches for row in batch) == list(range(count))
    assert max(map(len, batches)) <= 32
    padded = sum(len(batch) * max(lengths[row] for row in batch) for batch in batches)
    assert padded < 1.2 * sum(lengths) + 128 * 32
