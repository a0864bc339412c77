"""The masks on an engine's logits are those of a Verifier, whatever the engine does."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed")

import torch

import ticore
import ticore_vllm._processor as of_vllm
from tests.support.tokenizers import HUGGING_FACE, SENTENCEPIECE
from tests.support.vllm_engines import Request, Row, SamplingParams, V1Engine, V2Engine, config_of
from ticore.consistency import Verifier
from ticore.errors import SettingsError
from ticore.interfaces import Tokenizer
from ticore_vllm import ConsistentTokens

SLOTS = 4
LONGEST_TEXT = 30


class Expected:
    """What each row should be, from a Verifier that reads the whole text again at each step."""

    def __init__(self, tokenizer: Tokenizer, ends: set[int]) -> None:
        self._tokenizer, self._ends = tokenizer, ends
        self._verifiers: dict[tuple[str, str], Verifier] = {}
        self.masked = 0

    def logits(self, row: Row, before: torch.Tensor) -> torch.Tensor:
        arguments = row.request.params.extra_args or {}
        if not arguments.get("ticore", True):
            return before
        mode, view = arguments.get("ticore_mode", "prefix"), arguments.get("ticore_view")
        key = mode, view or "continuation"
        if key not in self._verifiers:
            self._verifiers[key] = Verifier(self._tokenizer, mode=key[0], view=key[1])
        text = self._verifiers[key].start(row.request.prompt)
        if not text.consistent:
            return before
        for token in [*row.request.written, *row.drafts]:
            if not 0 <= token < self._tokenizer.vocab_size:
                return before
            text.push(token)
            if not text.admissible:  # nothing is masked from here on
                return before
        allowed = np.zeros(len(before), dtype=bool)
        allowed[: self._tokenizer.vocab_size] = text.mask()
        if text.consistent:
            allowed[sorted(self._ends)] = True
        self.masked += 1
        left = before.masked_fill(~torch.from_numpy(allowed), -torch.inf)
        return before if bool(torch.isneginf(left).all()) else left


def run_schedule(name: str, kind: str, seed: int, steps: int) -> int:
    """Requests come, leave, are preempted and resumed, and get forced tokens; all rows compared.

    Returns:
        How many rows were masked.
    """
    tokenizer = {**SENTENCEPIECE, **HUGGING_FACE}[name]()
    draw, width = random.Random(seed), tokenizer.vocab_size + 5
    generator = torch.Generator().manual_seed(seed)
    ends = {min(tokenizer.special_ids)} if tokenizer.special_ids else set()
    expected = Expected(tokenizer, ends)
    processor, engine = started(tokenizer, kind, draw, width)
    running: list[Request] = []
    waiting: list[Request] = []

    def logits(rows: int) -> torch.Tensor:
        found = torch.randn(rows, width, generator=generator)
        for row in found:
            if draw.random() < 0.05:  # a grammar leaves a few tokens
                start = draw.randrange(width)
                row[:start] = row[start + 5 :] = -torch.inf
        return found

    for _ in range(steps):
        leaving = [request for request in running if draw.random() < 0.1]
        leaving += [r for r in running if len(r.written) >= LONGEST_TEXT and r not in leaving]
        running = [request for request in running if request not in leaving]
        waiting += [r for r in leaving if len(r.written) < LONGEST_TEXT and draw.random() < 0.5]
        coming = []
        while len(running) + len(coming) < SLOTS and draw.random() < 0.7:
            again = waiting and draw.random() < 0.6
            coming.append(waiting.pop(0) if again else new_request(tokenizer, draw, ends))
        if not running + coming:
            coming.append(new_request(tokenizer, draw, ends))
        running += coming
        for request in running:
            request.prefilling = kind != "v1" and request in coming and draw.random() < 0.2
            drafts = draw.randint(0, 2) if kind == "v2-speculative" else 0
            request.drafts = [drafted(tokenizer, request, draw) for _ in range(drafts)]
        found = engine.step(leaving, coming, logits)
        for row, before, after in found:
            wanted = expected.logits(row, before)
            assert torch.equal(after, wanted), (row, kind, seed)
        for row, _, after in found:
            if row.drafts or row.request.prefilling:
                continue
            token = int(after.argmax())
            if draw.random() < 0.02:  # forced by the engine, or of its padded vocabulary
                token = draw.randrange(width)
            accepted = draw.randint(0, len(row.request.drafts))
            row.request.written += [*row.request.drafts[:accepted], token]
    assert isinstance(processor, ConsistentTokens)
    return expected.masked


def started(tokenizer: Tokenizer, kind: str, draw: random.Random, width: int) -> tuple[Any, Any]:
    """A processor and its engine."""
    with tokenizer_given(tokenizer):
        if kind == "v1":
            made = ConsistentTokens(config_of(width), torch.device("cpu"), False)
            return made, V1Engine(made, draw)
        engine = V2Engine(draw, SLOTS, width)
        config = config_of(width, speculative=kind == "v2-speculative")
        engine.processor = ConsistentTokens(config, engine.state)
        return engine.processor, engine


@contextmanager
def tokenizer_given(tokenizer: Tokenizer) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(of_vllm, "_tokenizer_of", lambda _: tokenizer)
        yield


def new_request(tokenizer: Tokenizer, draw: random.Random, ends: set[int]) -> Request:
    arguments: dict[str, Any] = {}
    if draw.random() < 0.2:
        arguments["ticore"] = False
    if draw.random() < 0.4:
        arguments["ticore_view"] = "whole"
    if draw.random() < 0.4:
        arguments["ticore_mode"] = draw.choice(["open", "viable"])
    if draw.random() < 0.3:
        arguments["ticore_report"] = "a name"
    prompt = tokenizer.encode(draw.choice(["she sells", "the quick brown", "It was", "  x"]))
    if draw.random() < 0.2:
        draw.shuffle(prompt)  # perhaps not consistent
    return Request(SamplingParams(arguments or None, [*ends, 5]), prompt)


def drafted(tokenizer: Tokenizer, request: Request, draw: random.Random) -> int:
    """Sometimes a token of the text so far, which may well follow, or any."""
    return draw.choice([draw.randrange(tokenizer.vocab_size), *request.prompt, *request.written])


@pytest.mark.parametrize("kind", ["v1", "v2", "v2-speculative"])
@pytest.mark.parametrize("name", ["hf-gpt2", "sp-bpe"])
def test_masks_equal_those_of_one_verifier_per_request(name: str, kind: str) -> None:
    assert run_schedule(name, kind, seed=1, steps=60) > 50


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["v1", "v2", "v2-speculative"])
def test_masks_equal_those_of_one_verifier_in_a_long_schedule(kind: str) -> None:
    assert run_schedule("sp-bpe", kind, seed=2, steps=120) > 100


def one_text(
    tokenizer: Tokenizer, arguments: dict[str, Any] | None
) -> tuple[Any, V1Engine, Request]:
    processor, engine = started(tokenizer, "v1", random.Random(0), tokenizer.vocab_size)
    return processor, engine, Request(SamplingParams(arguments, [0]), tokenizer.encode("It was"))


def test_an_id_that_the_tokenizer_lacks_leaves_the_other_rows_masked() -> None:
    """Engines pad their vocabularies, and may force any id."""
    tokenizer = HUGGING_FACE["hf-gpt2"]()
    _, engine, good = one_text(tokenizer, None)
    bad = Request(good.params, good.prompt, written=[tokenizer.vocab_size + 3])
    logits = torch.zeros(2, tokenizer.vocab_size)
    (_, before, after), (_, _, masked) = engine.step([], [bad, good], lambda _: logits)
    assert torch.equal(after, before)
    assert bool(torch.isneginf(masked).any())


def test_a_token_that_the_engine_does_not_know_yet_is_no_token() -> None:
    tokenizer = HUGGING_FACE["hf-gpt2"]()
    processor, engine, request = one_text(tokenizer, {"ticore_report": "a"})
    engine.step([], [request], lambda n: torch.zeros(n, tokenizer.vocab_size))
    request.written.append(-1)
    logits = torch.zeros(1, tokenizer.vocab_size)
    assert not bool(torch.isneginf(processor.apply(logits)).any())
    request.written[-1] = tokenizer.encode("the")[0]
    assert bool(torch.isneginf(processor.apply(logits)).any())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"ticore": "perhaps"}, "ticore: expected true or false, 1 or 0, on or off"),
        ({"ticore": 2}, "found 2"),
        ({"ticore_mode": ["open"]}, "ticore_mode: expected one of prefix, open, viable"),
        ({"ticore_view": None}, "ticore_view: expected one of whole, continuation"),
        ({"ticore_specials": 5}, "ticore_specials: expected one of end, any"),
        ({"ticore_report": "a\nb"}, "ticore_report: expected a name"),
        ({"ticore_modes": "open"}, "of ticore only ticore, ticore_mode"),
    ],
)
def test_wrong_arguments_are_refused_before_they_reach_the_engine(
    arguments: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        ConsistentTokens.validate_params(SamplingParams(arguments))


def test_arguments_of_others_and_of_http_are_accepted() -> None:
    for arguments in (
        None,
        {},
        {"other": 1},
        {"ticore": 0.0},
        {"ticore": "ON", "ticore_view": "whole"},
    ):
        ConsistentTokens.validate_params(SamplingParams(arguments))


def test_wrong_arguments_that_come_through_leave_the_request_unmasked(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tokenizer = HUGGING_FACE["hf-gpt2"]()
    _, engine, request = one_text(tokenizer, {"ticore_mode": "none"})
    ((_, before, after),) = engine.step(
        [], [request], lambda n: torch.zeros(n, tokenizer.vocab_size)
    )
    assert torch.equal(after, before)
    assert "ticore_mode: expected one of" in caplog.text


def test_a_report_counts_what_the_masks_removed(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    tokenizer = HUGGING_FACE["hf-gpt2"]()
    _, engine, request = one_text(tokenizer, {"ticore_report": "mine"})
    width, removed = tokenizer.vocab_size, []
    for step in range(3):
        (row,) = engine.step([], [request] * (not step), lambda n: torch.zeros(n, width))
        refused = torch.isneginf(row[2])
        removed.append(float(refused.double().mean()))
        request.written.append(int((~refused).nonzero()[-1]))
    request.written.append(width)  # forced
    engine.step([], [], lambda n: torch.zeros(n, width))
    engine.step([request], [], lambda n: torch.zeros(n, width))
    found = json.loads(caplog.messages[-1])
    assert found["report"] == "mine"
    assert (found["masked"], found["unmasked"], found["dead_ends"]) == (3, 1, 0)
    assert found["why"]
    assert found["removed_mean"] == pytest.approx(sum(removed) / 3, rel=1e-5)
    assert found["removed_most"] == pytest.approx(max(removed), rel=1e-5)


def test_a_mask_that_leaves_nothing_is_lifted_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    tokenizer = HUGGING_FACE["hf-gpt2"]()
    _, engine, request = one_text(tokenizer, {"ticore_report": "mine"})
    text = Verifier(tokenizer).start()
    text.push(tokenizer.encode("the")[0])
    request.written[:] = text.ids
    refused = int((~text.mask()).nonzero()[0][-1])
    logits = torch.full((1, tokenizer.vocab_size), -torch.inf)
    logits[0, refused] = 1
    ((_, before, after),) = engine.step([], [request], lambda _: logits)
    assert torch.equal(after, before)
    engine.step([request], [], lambda n: torch.zeros(n, tokenizer.vocab_size))
    found = json.loads(caplog.messages[-1])
    assert (found["dead_ends"], found["removed_most"]) == (1, 0)


def test_special_tokens_are_allowed_where_the_request_says_so() -> None:
    tokenizer = SENTENCEPIECE["sp-bpe"]()
    start, end = 1, 2  # <s> and </s>
    for arguments, expected in ((None, [True, False]), ({"ticore_specials": "any"}, [False] * 2)):
        _, engine, request = one_text(tokenizer, arguments)
        request.params.stop_token_ids = [end]
        ((_, _, after),) = engine.step(
            [], [request], lambda n: torch.zeros(n, tokenizer.vocab_size)
        )
        assert torch.isneginf(after[[start, end]]).tolist() == expected


@pytest.mark.parametrize("kind", ["v1", "v2"])
@pytest.mark.parametrize("ignored", [True, False])
def test_an_end_that_is_ignored_may_not_be_written(kind: str, ignored: bool) -> None:
    """vLLM would go on after it, and the text would be read back as other tokens."""
    tokenizer, end = HUGGING_FACE["hf-gpt2"](), 0
    params = SamplingParams(None, [], None if ignored else end, all_stop_token_ids={end})
    width = tokenizer.vocab_size
    _, engine = started(tokenizer, kind, random.Random(0), width)
    request = Request(params, tokenizer.encode("It was"))
    ((_, _, after),) = engine.step([], [request], lambda n: torch.zeros(n, width))
    assert bool(torch.isneginf(after[end])) is ignored


def test_the_tokenizer_is_the_one_that_the_server_names() -> None:
    more = {"ticore_tokenizer": "tiny-en"}
    width = ticore.load_tokenizer("tiny-en").vocab_size
    processor: Any = ConsistentTokens(config_of(width, more=more), torch.device("cpu"), False)
    assert processor.is_argmax_invariant() is False
    with pytest.raises(SettingsError, match="expected the tokenizer of the model"):
        ConsistentTokens(config_of(width // 2, more=more), torch.device("cpu"), False)


@pytest.mark.parametrize("kind", ["_v1", "_v2"])
def test_no_kind_lacks_an_abstract_method_of_either_base(kind: str) -> None:
    """Both are bases of each, so vLLM would fail to make an object that lacks one."""
    made = import_module(f"ticore_vllm.{kind}").Processor
    assert {"apply", "is_argmax_invariant", "update_state"} <= set(dir(made))


@pytest.mark.skipif(find_spec("vllm") is None, reason="vllm is not installed")
def test_both_engines_of_vllm_accept_the_class() -> None:
    for module in ("sample.logits_processor", "worker.gpu.sample.logits_processor"):
        base = import_module(f"vllm.v1.{module}.interface").LogitsProcessor
        assert issubclass(ConsistentTokens, base)
        kind = import_module(f"ticore_vllm.{'_v2' if 'worker' in module else '_v1'}").Processor
        assert not kind.__abstractmethods__
        assert {name for name in vars(base) if not name.startswith("_")} <= set(dir(kind))
