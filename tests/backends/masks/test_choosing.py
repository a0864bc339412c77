"""What is verified after it was sampled is distributed as what is masked before."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

pytest.importorskip("torch", reason="torch is not installed")

import torch

from tests.support.choice_trees import outcomes
from tests.support.tokenizers import HUGGING_FACE
from tests.support.toy_models import ToyTokenizer
from ticore.consistency import Verifier
from ticore_masks import NONE_LEFT, choose, choose_consistent, mask_inconsistent
from ticore_masks._choosing import draw_by_one_number

PIECES = ["a", "b", "ab", "ba", "bab", "aab", "abb", "</s>"]
END = 7


@pytest.fixture(scope="module")
def verifier() -> Verifier:
    return Verifier(ToyTokenizer(PIECES, special=(END,)), mode="prefix")


@pytest.mark.parametrize("history", [[], [0], [1], [2], [4, 3], [6, 0]])
def test_resampling_has_the_distribution_of_masking(
    history: list[int], verifier: Verifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On every path of draws, with histories that refuse up to five of seven tokens."""
    text = verifier.start(history)
    generator = torch.Generator().manual_seed(len(history))
    scores = torch.randn(1, len(PIECES) + 1, generator=generator, dtype=torch.float64)
    scores[0, len(PIECES) :] = -torch.inf
    masked = scores.clone()
    mask_inconsistent(masked, [0], [text], {END})
    expected = torch.softmax(masked[0], dim=0)
    assert (expected > 0).sum() < len(PIECES) or not history

    def program(pick: Any) -> int:
        def drawn(shares: torch.Tensor, _: int) -> torch.Tensor:
            return torch.tensor([[pick(shares[0].tolist())]])

        monkeypatch.setattr(torch, "multinomial", drawn)
        again = "ticore_masks._choosing.draw_by_one_number"
        monkeypatch.setattr(again, lambda shares: drawn(shares, 1)[:, 0])
        return int(choose_consistent(scores.clone(), [text], end_ids={END}))

    found: Counter[int] = Counter()
    for token, probability in outcomes(program):
        found[token] += probability  # type: ignore[assignment]  # Counters add up floats too
    law = torch.tensor([found[token] for token in range(len(PIECES) + 1)], dtype=torch.float64)
    assert torch.allclose(law, expected, atol=1e-12)


def test_one_number_draws_each_id_as_often_as_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """Over a grid of numbers, and at both ends of them; ids without a share are never drawn."""
    shares = torch.tensor([0, 3, 0, 1, 4, 0], dtype=torch.float32)
    grid = [(number + 0.5) / 80 for number in range(80)]
    numbers = torch.tensor([*grid, 0.0, 1 - 2**-53], dtype=torch.float64)
    monkeypatch.setattr(torch, "rand", lambda *_, **__: numbers[:, None])
    found = draw_by_one_number(shares.expand(len(numbers), -1)).tolist()
    assert Counter(found[:80]) == {1: 30, 3: 10, 4: 40}
    assert found[80:] == [1, 4]


def test_likeliest_token_is_that_of_the_masked_scores(verifier: Verifier) -> None:
    texts = [verifier.start([1]), verifier.start(), None]
    torch.manual_seed(0)
    for _ in range(20):
        scores = torch.randn(3, len(PIECES))
        masked = scores.clone()
        mask_inconsistent(masked, range(3), texts, {END})
        found = choose_consistent(scores, texts, sample=False, end_ids={END})
        assert torch.equal(found, masked.argmax(dim=1))


@pytest.mark.parametrize("sample", [True, False])
def test_a_row_without_candidates_is_named(sample: bool, verifier: Verifier) -> None:
    """Its neighbour is chosen for all the same."""
    scores = torch.full((2, len(PIECES)), -torch.inf)
    scores[1, 3] = 0.0
    assert choose(scores, sample=sample).tolist() == [NONE_LEFT, 3]
    after = verifier.start([0])
    refused = [token for token in range(END) if not after.admits([token])[0]]
    scores = torch.full((2, len(PIECES)), -torch.inf)
    scores[0, refused] = 0.0
    scores[1] = 0.0
    found = choose_consistent(scores, [after, None], sample=sample)
    assert found[0] == NONE_LEFT
    assert found[1] != NONE_LEFT


def test_rows_whose_draws_were_all_refused_get_masks_of_their_own_texts(
    verifier: Verifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After one draw for each row: of the first, whatever it is, none is refused."""
    monkeypatch.setattr("ticore_masks._choosing._DRAWS", 1)
    texts = [verifier.start(ids) for ids in ([], [0], [1], [4, 3], [6, 0])]
    torch.manual_seed(1)
    for _ in range(20):
        scores = torch.randn(len(texts), len(PIECES)) / 10
        for row, text in enumerate(texts[1:], 1):  # what is refused is likely
            scores[row, :END] += 20 * torch.from_numpy(~text.mask()[:END].copy())
        found = choose_consistent(scores, texts, end_ids={END}).tolist()
        for text, token in zip(texts, found, strict=True):
            assert text.consistent if token == END else text.admits([token])[0]


def test_an_id_beyond_the_vocabulary_is_never_chosen(verifier: Verifier) -> None:
    """Models may have more logits than the tokenizer has ids, and one of those may be likely."""
    scores = torch.zeros(1, len(PIECES) + 3)
    scores[0, len(PIECES) :] = 9.0
    scores[0, 5] = 1.0
    found = choose_consistent(scores, [verifier.start([5])], sample=False)
    assert found.tolist() == [5]


@pytest.mark.slow
def test_a_text_does_not_end_inside_a_character() -> None:
    """In mode `viable` a text may be such that no text may end there."""
    tokenizer = HUGGING_FACE["hf-gpt2"]()
    verifier, end = Verifier(tokenizer, mode="viable"), tokenizer.vocab_size
    letter, first = tokenizer.encode("a")[0], tokenizer.encode("\u1000")[0]
    texts = [verifier.start([letter]), verifier.start([first])]
    assert [text.consistent for text in texts] == [True, False]
    scores = torch.zeros(2, tokenizer.vocab_size + 1)
    scores[:, end] = 1.0
    masked = scores.clone()
    mask_inconsistent(masked, range(2), texts, {end})
    assert (masked[:, end] > -torch.inf).tolist() == [True, False]
    found = choose_consistent(scores, texts, sample=False, end_ids={end})
    assert (found == end).tolist() == [True, False]


def test_a_mask_leaves_other_rows_as_they_are(verifier: Verifier) -> None:
    after = verifier.start([0])
    scores = torch.zeros(3, len(PIECES))
    mask_inconsistent(scores, [1], [after])
    assert torch.equal(scores[1] == 0, torch.from_numpy(after.mask().copy()))
    assert not scores[[0, 2]].any()


def test_a_mask_fits_fewer_logits_than_the_tokenizer_has_ids() -> None:
    text = Verifier(HUGGING_FACE["hf-gpt2"]()).start()
    scores = torch.zeros(1, 40)
    mask_inconsistent(scores, [0], [text])
    assert (scores[0] == 0).tolist() == text.mask()[:40].tolist()
