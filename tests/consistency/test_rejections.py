"""What each mode refuses of a text, against the definition of the modes."""

from __future__ import annotations

from itertools import pairwise
from typing import get_args

import numpy as np
import pytest

import ticore
from tests.support.tokenizers import TRAINED, sample_text
from tests.support.toy_models import ToyTokenizer
from ticore.consistency import Mode, Rejections, Verifier, audit
from ticore.consistency import _rejections as module
from ticore.consistency._rejections import TextReader, _passages
from ticore.errors import SettingsError

# Characters of several tokens, and a blank line, whose first token alone is read differently.
TEXT = "naïve \U0001f600 東京\n\n  x 12\n" * 3


def refused_by_definition(name: str, mode: Mode, text: str) -> int:
    tokenizer = TRAINED[name]()
    ids = tokenizer.encode(text)
    verifier = Verifier(tokenizer, mode=mode, method="retokenize")
    may_begin = [verifier.start(ids[:n]).admissible for n in range(len(ids) + 1)]
    return sum(before and not after for before, after in pairwise(may_begin))


@pytest.mark.parametrize("name", ["sp-bpe", "hf-gpt2"])
def test_refused_tokens_are_those_of_the_definition(name: str) -> None:
    text = TEXT + sample_text(1)[0][:200]
    found = TextReader(TRAINED[name](), text).read(lambda tokens: None)
    assert found.refused == {m: refused_by_definition(name, m, text) for m in get_args(Mode)}
    assert name != "hf-gpt2" or found.refused["prefix"] > found.refused["viable"]
    assert (found.tokens, found.changed) == (len(TRAINED[name]().encode(text)), 0)
    assert (found.bits, found.refused_bits) == (None, None)


def test_a_passage_that_is_not_read_back_is_counted() -> None:
    """An id for unknown text loses it."""
    tokenizer = TRAINED["sp-bpe-no-bytes"]()
    found = TextReader(tokenizer, "a \N{SNOWMAN} b").read(lambda tokens: None)
    assert (found.changed, set(found.refused.values())) == (1, {1})
    assert TextReader(tokenizer, "a b").read(lambda tokens: None).changed == 0


def test_bits_are_those_of_the_model() -> None:
    model = ticore.load_model("tiny-en")
    found = TextReader(model.tokenizer, TEXT, model).read(lambda tokens: None)
    ids = model.tokenizer.encode(TEXT)
    logits = np.asarray(model.score(ids), dtype=np.float64)
    chances = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    bits = -np.log2(chances[np.arange(len(ids)), ids])
    assert found.bits == pytest.approx(bits.sum())
    assert found.refused_bits is not None
    assert 0 < found.refused_bits["prefix"] <= found.bits
    assert found.refused_bits["viable"] <= found.refused_bits["prefix"]


def test_a_text_longer_than_the_context_is_scored_in_parts() -> None:
    model = ticore.load_model("tiny-en")
    found = audit(model.tokenizer, text="The morning was cold. " * 80, model=model).rejections
    assert found is not None
    assert found.bits is not None
    assert 0 < found.bits < 20 * found.tokens


def test_a_model_with_another_tokenizer_is_refused() -> None:
    with pytest.raises(SettingsError, match="found one with another"):
        TextReader(TRAINED["hf-gpt2"](), TEXT, ticore.load_model("tiny-en"))


def test_passages_end_before_a_line_and_are_the_text() -> None:
    text = "word " * 300 + "\n" + "x" * 5000 + "\n\nend"
    parts = list(_passages(text))
    assert "".join(parts) == text
    assert max(map(len, parts)) <= module._PASSAGE
    assert parts[1].startswith("\n")
    assert list(_passages("")) == []


def test_a_method_that_retokenizes_reads_the_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_RETOKENIZED", 10)
    toy = ToyTokenizer(["", "a", "b", "ab"], special=[0])
    found = TextReader(toy, "abba" * 10).read(lambda tokens: None)
    assert found == Rejections(10, found.tokens, 0, {"prefix": 0, "open": 0, "viable": 0})


def test_audit_reads_a_text_and_reports_progress_up_to_the_total() -> None:
    seen: list[tuple[int, int]] = []
    tokenizer = TRAINED["sp-bpe"]()
    found = audit(tokenizer, text=TEXT, progress=lambda *step: seen.append(step))
    assert found.rejections == TextReader(tokenizer, TEXT).read(lambda tokens: None)
    assert seen[-1][0] == seen[-1][1]
    assert audit(tokenizer).rejections is None
