"""Candidates masked at each step, for batches and beams."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="torch or transformers is not installed")
pytest.importorskip("transformers", reason="torch or transformers is not installed")

import torch

import ticore_embedded
from tests.support.torch_checkpoints import CONFIGS, load, write
from ticore.consistency import Verifier
from ticore.errors import CapacityError, SettingsError
from ticore_torch import TorchModel
from ticore_transformers import ConsistentLogitsProcessor, _logits_processor

TINY_EN = Path(ticore_embedded.__file__).parent / "models" / "tiny-en"


@pytest.fixture(scope="module")
def english() -> TorchModel:
    return load(TINY_EN)


@pytest.fixture(scope="module")
def babble(tmp_path_factory: pytest.TempPathFactory) -> TorchModel:
    return load(write(tmp_path_factory.mktemp("babble"), CONFIGS["llama"]))


SETTINGS: dict[str, dict[str, Any]] = {
    "greedy": {},
    "sampled": {"do_sample": True, "top_k": 40},
    "beams": {"num_beams": 3, "num_return_sequences": 2},
    "sampled-beams": {"num_beams": 3, "do_sample": True},
}


@pytest.mark.parametrize("name", SETTINGS)
def test_processor_keeps_every_row_consistent(name: str, babble: TorchModel) -> None:
    tokenizer = babble.tokenizer
    texts = ["the quick brown fox", "she sells"]
    rows = [[1, *tokenizer.encode(text)] for text in texts]
    longest = max(map(len, rows))
    torch.manual_seed(0)
    found = babble.network.module.generate(
        torch.tensor([[0] * (longest - len(row)) + row for row in rows]),
        attention_mask=torch.tensor([[0] * (longest - len(r)) + [1] * len(r) for r in rows]),
        logits_processor=[ConsistentLogitsProcessor(tokenizer, prompt_length=longest, eos_ids=[2])],
        max_new_tokens=20,
        pad_token_id=0,
        **SETTINGS[name],
    )
    for row in found[:, longest:].tolist():
        written = row[: row.index(2)] if 2 in row else row
        assert tokenizer.encode(tokenizer.decode(written)) == written


def test_processor_mask_equals_that_of_a_verifier(english: TorchModel) -> None:
    """Earlier calls change nothing: rows grow, shrink, change places and begin again."""
    tokenizer, width = english.tokenizer, english.logit_width + 8
    given = tokenizer.encode("It was late;")
    ids = tokenizer.encode("nobody had yet put out the lights.")
    for view in ("whole", "continuation"):
        processor = ConsistentLogitsProcessor(
            tokenizer, prompt_length=2 + len(given), eos_ids=[2], view=view
        )
        for length in (0, 1, 4, 5, 2, 0, 6):
            # In turn the rows hold the text and what begins like it.
            rows = [[*ids[:length]], [*ids[: length // 2], *ids[: length - length // 2]]]
            batch = torch.tensor([[0, 1, *given, *row] for row in rows[:: (-1) ** length]])
            scores = processor(batch, torch.zeros(2, width))
            for found, row in zip(scores, rows[:: (-1) ** length], strict=True):
                verification = Verifier(tokenizer, mode="prefix", view=view).start(given)
                for token in row:
                    verification.push(token)
                expected = torch.zeros(width, dtype=torch.bool)
                expected[: tokenizer.vocab_size] = torch.from_numpy(verification.mask().copy())
                expected[2] = True
                assert torch.equal(found == 0, expected)


def test_processor_leaves_finished_rows_alone(english: TorchModel) -> None:
    processor = ConsistentLogitsProcessor(english.tokenizer, prompt_length=1, eos_ids=[2])
    scores = torch.randn(2, english.logit_width)
    ids = english.tokenizer.encode("It was late")
    batch = torch.tensor([[1, *ids, 2, 0], [1, *ids, *english.tokenizer.encode(" in")[-2:]]])
    assert torch.equal(processor(batch, scores)[0], scores[0])


@pytest.mark.parametrize("after", [[4033, 4033], [4033, 5000]])
def test_row_that_no_text_begins_with_is_left_alone(english: TorchModel, after: list[int]) -> None:
    """After an end that is unknown here a row is padded, perhaps with an ordinary id: a period.

    An assistant with another tokenizer has ids that this one lacks.
    """
    tokenizer, width = english.tokenizer, english.logit_width
    processor = ConsistentLogitsProcessor(tokenizer, prompt_length=1, eos_ids=[2])
    alone = ConsistentLogitsProcessor(tokenizer, prompt_length=1, eos_ids=[2])
    ids = tokenizer.encode("It was late when we came")
    ended, scores = tokenizer.encode("It was late"), torch.randn(2, width)
    for length in (3, 4, 5, 4):  # an assistant's drafts are taken back
        row = [*ended, *after][:length]
        found = processor(torch.tensor([[1, *row], [1, *ids[:length]]]), scores)
        expected = alone(torch.tensor([[1, *ids[:length]]]), scores[1:])
        assert torch.equal(found[1], expected[0])
        text = Verifier(tokenizer).start()
        admissible = max(row) < tokenizer.vocab_size
        for token in row if admissible else ():
            text.push(token)
        left_alone = torch.equal(found[0], scores[0])
        assert left_alone is not (admissible and text.admissible)


def test_processor_fails_when_no_candidate_is_left(english: TorchModel) -> None:
    processor = ConsistentLogitsProcessor(english.tokenizer, prompt_length=1)
    with pytest.raises(CapacityError, match="name eos_ids"):
        processor(torch.tensor([[1]]), torch.full((1, english.logit_width), -torch.inf))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("at", [0, 1, -1])
def test_processor_finds_the_only_candidate_wherever_it_is(
    english: TorchModel, monkeypatch: pytest.MonkeyPatch, dtype: torch.dtype, at: int
) -> None:
    monkeypatch.setattr(_logits_processor, "_FEW", 500)
    processor = ConsistentLogitsProcessor(english.tokenizer, prompt_length=1)
    allowed = Verifier(english.tokenizer).start().mask().nonzero()[0]
    among_few, others = allowed[allowed < 500], allowed[allowed >= 500]
    token = [among_few[-1], others[0], others[-1]][at]
    scores = torch.full((1, english.logit_width), -torch.inf, dtype=dtype)
    scores[0, token] = 1.5
    masked = processor(torch.tensor([[1]]), scores)
    assert torch.equal(masked, scores)
    assert masked.dtype == dtype


def test_processor_refuses_a_negative_prompt_length(english: TorchModel) -> None:
    with pytest.raises(
        SettingsError, match="prompt_length: expected an integer of at least 0, found -1"
    ):
        ConsistentLogitsProcessor(english.tokenizer, prompt_length=-1)


def test_ids_that_end_a_text_are_checked(english: TorchModel) -> None:
    """A negative id would count from the end, and one without a logit is never chosen."""
    tokenizer, width = english.tokenizer, english.logit_width
    with pytest.raises(SettingsError, match="eos_ids: expected an integer of at least 0, found -1"):
        ConsistentLogitsProcessor(tokenizer, prompt_length=1, eos_ids=[-1])
    expected = ConsistentLogitsProcessor(tokenizer, prompt_length=1, eos_ids=[2])
    for eos_ids in (2, [2, width + 5]):
        processor = ConsistentLogitsProcessor(tokenizer, prompt_length=1, eos_ids=eos_ids)
        scores = torch.zeros(1, width)
        assert torch.equal(
            processor(torch.tensor([[1]]), scores), expected(torch.tensor([[1]]), scores)
        )
