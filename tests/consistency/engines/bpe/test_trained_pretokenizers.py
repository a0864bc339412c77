"""Tokenizers trained by the library `tokenizers`, with pretokenizers like published ones."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import pytest
from tokenizers import Tokenizer, decoders, models, trainers

from tests.support.random_steps import PUBLISHED, Json, byte_level_step, split_by
from tests.support.verifier_answers import check_answers
from ticore.backend_kit import byte_alphabet
from ticore_tokenizers import HuggingFaceTokenizer

TEXT = (
    " The β-blocker cost 12345½ € (in 1999), it's x² + y³ = 10²; ΑΒΓαβγ άλφα βήτα γάμμα!\n"
    " Дом №7, ½ + ¼ = ¾; 日本語のテキスト、２０２４年12月。 don't we'll\n\n"
    "  def f(x): return x1 + 22\n"
)
PRETOKENIZERS: dict[str, tuple[Json, ...]] = {
    "falcon": PUBLISHED["falcon"],
    "roberta": PUBLISHED["roberta"],
    "words": (split_by(r"\b\w+|^\s+|[^\w\s]+$"), byte_level_step(use_regex=False)),
    "no split": (byte_level_step(use_regex=False),),
}


@dataclass(frozen=True)
class Trained:
    """A trained tokenizer with these pretokenizers."""

    steps: tuple[Json, ...]
    texts: Sequence[str] = tuple(TEXT)

    @cached_property
    def _opened(self) -> HuggingFaceTokenizer:
        library = Tokenizer(models.BPE())
        library.decoder = decoders.ByteLevel()
        state = json.loads(library.to_str())
        state["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": self.steps}
        library = Tokenizer.from_str(json.dumps(state))
        alphabet = sorted(byte_alphabet())
        trainer = trainers.BpeTrainer(
            vocab_size=380, initial_alphabet=alphabet, show_progress=False
        )
        library.train_from_iterator([TEXT] * 4, trainer)
        return HuggingFaceTokenizer(library)

    def open(self) -> HuggingFaceTokenizer:
        return self._opened


@pytest.mark.parametrize("mode", ["prefix", "open", "viable"])
@pytest.mark.parametrize("name", PRETOKENIZERS)
def test_verifier_reads_tables_and_equals_the_oracle(name, mode):
    model = Trained(PRETOKENIZERS[name])
    method = check_answers(model, mode, TEXT[20:60], [1, 2, 91, 3, 95, 4])
    assert method == "table"
