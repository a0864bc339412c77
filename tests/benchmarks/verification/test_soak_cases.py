"""Cases of the soak: they agree where all is right, and find what is wrong."""

import pytest

from benchmarks._harness.sample_store import SampleStore
from benchmarks.verification.cache_probe import mask_work
from benchmarks.verification.soak import mismatch_text, play_cases, soak_tables
from benchmarks.verification.soak_cases import CasePlayer
from tests.support.tokenizers import FRAGMENTS, TRAINED
from ticore.consistency import Verifier

TEXTS = ["\n".join(FRAGMENTS)]


def test_mask_work_is_none_after_a_mask_was_asked_for():
    tokenizer = TRAINED["hf-gpt2"]()
    verification = Verifier(tokenizer, method="table").start()
    for token in tokenizer.encode("the quick brown fox"):
        verification.push(token)
    assert mask_work(verification) in ("new_token", "new_tail")
    verification.mask()
    assert mask_work(verification) == "cached"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hf-gpt2", "sp-bpe", "sp-unigram"])
@pytest.mark.parametrize("mode", ["prefix", "open", "viable"])
def test_case_player_finds_no_mismatch_when_all_is_right(name, mode):
    player = CasePlayer(Verifier(TRAINED[name](), mode=mode, method="table"), TEXTS)
    tally = player.play("a case")
    assert tally.checks > tally.admitted > 0
    assert tally.mismatches == 0
    again = player.play("a case")
    assert (again.checks, again.admitted) == (tally.checks, tally.admitted)


def test_case_player_finds_what_is_wrong(monkeypatch):
    tokenizer = TRAINED["sp-bpe"]()
    verifier = Verifier(tokenizer, method="table")
    engine = type(verifier.start()._engine)
    right = engine.admits
    wrong_token = tokenizer.encode("e.")[-1]

    def wrong(self, state, candidates):
        return right(self, state, candidates) ^ (candidates == wrong_token)

    player = CasePlayer(verifier, TEXTS)
    monkeypatch.setattr(engine, "admits", wrong)
    tallies = [player.play(f"{n}") for n in range(10)]
    assert sum(tally.mismatches for tally in tallies) > 0
    examples = [example for tally in tallies for example in tally.examples]
    candidates = {one["candidate"] for one in examples if one["what"] == "admits"}
    assert candidates == {wrong_token}
    assert min(len(example["shortened"]) for example in examples) < 5
    case = {"tokenizer": "small", "mode": "prefix", "place": "a place", "case": 1}
    assert f"[{wrong_token}]" in mismatch_text(case, examples[0])
    for example in examples:
        for what in ("admits", "mask", "push", "admissible", "consistent", "unrecoverable"):
            assert what in mismatch_text(case, example | {"what": what})


def test_play_cases_plays_none_twice(tmp_path, monkeypatch):
    file = tmp_path / "cases.jsonl"
    player = CasePlayer(Verifier(TRAINED["sp-bpe"](), method="table"), TEXTS)

    def play(checks):
        return list(play_cases(SampleStore(file), "digest", player, "0", checks))

    first = play(2500)
    assert sum(case["checks"] for case in first) >= 2500
    assert sum(case["checks"] for case in first[:-1]) < 2500
    with monkeypatch.context() as patch:
        patch.setattr(player, "play", None)
        assert play(2500) == first
    more = play(5000)
    assert more[: len(first)] == first
    assert len(more) > len(first)


def test_soak_tables_sum_by_tokenizer_and_mode_and_by_opening():
    sums = {"checks": 5, "admitted": 2, "lists": 1, "unchecked": 0, "mismatches": 0, "seconds": 1}
    cases = [
        {"tokenizer": "small", "mode": mode, "opening": opening} | sums
        for mode in ("open", "prefix")
        for opening in ("run", "chat", "text")
    ]
    by_mode, by_opening = soak_tables(cases)
    assert (by_mode.row_count, by_opening.row_count) == (2, 3)
    assert list(by_opening.columns[1].cells) == ["10", "10", "10"]
