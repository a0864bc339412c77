"""The masks on SGLang's logits are those of a Verifier; no SGLang is needed.

`FakeRequest` has the fields of `Req` in `python/sglang/srt/managers/schedule_batch.py` of SGLang
0.5.23, and the processor is called as `apply_custom_logit_processor` of
`python/sglang/srt/layers/sampler.py` does.
"""

from __future__ import annotations

import gc
import json
import pickle
import random
import sys
import weakref
from array import array
from collections.abc import Iterator
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("torch", reason="torch is not installed")

import torch

from tests.support.tokenizers import HUGGING_FACE
from ticore.consistency import Verifier
from ticore_sglang import ConsistentTokens, _processor, _server

TOKENIZER = HUGGING_FACE["hf-gpt2"]()
END = 0  # the tokenizer's special id
WIDTH = TOKENIZER.vocab_size + 3


class FakeRequest:
    def __init__(self, prompt: str, arguments: dict[str, Any] | None = None) -> None:
        self.origin_input_ids = array("q", TOKENIZER.encode(prompt))
        self.output_ids = array("q")
        self.eos_token_ids = {END}
        self.sampling_params = SimpleNamespace(stop_token_ids=None, ignore_eos=False)
        self.tokenizer: Any = SimpleNamespace(eos_token_id=END, additional_stop_token_ids=None)
        self.to_finish: Any = None
        self.params = {**(arguments or {}), "__req__": weakref.proxy(self)}


def retired() -> None:
    """What SGLang 0.5.23 has made of `get_global_server_args`."""
    raise RuntimeError("get_global_server_args() is retired.")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """The settings of a server with SGLang 0.5.23."""
    settings = SimpleNamespace(
        disable_overlap_schedule=True,
        speculative_algorithm=None,
        tokenizer_path="",
        trust_remote_code=False,
    )
    spaces = ("get_schedule", "get_spec", "get_serving", "get_model")  # in the order of `settings`
    one_each = {
        space: lambda name=name: SimpleNamespace(**{name: getattr(settings, name)})
        for space, name in zip(spaces, vars(settings), strict=True)
    }
    modules = {
        "managers.schedule_batch": SimpleNamespace(FINISH_ABORT=lambda *said: said),
        "server_args": SimpleNamespace(get_global_server_args=retired),
        "runtime_context": SimpleNamespace(**one_each),
    }
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, f"sglang.srt.{name}", module)
    monkeypatch.setattr(_server, "import_module", sys.modules.__getitem__)
    monkeypatch.setattr(_server, "tokenizer", lambda: TOKENIZER)
    _processor._served.cache_clear()
    yield settings
    _processor._served.cache_clear()


def apply(*requests: FakeRequest) -> torch.Tensor:
    return ConsistentTokens()(torch.zeros(len(requests), WIDTH), [r.params for r in requests])


def test_masks_equal_those_of_one_verifier_per_request(server: SimpleNamespace) -> None:
    draw = random.Random(1)
    requests = [
        FakeRequest("It was", {"ticore_mode": "viable"}),
        FakeRequest("she sells", {"ticore_view": "whole"}),
        FakeRequest("x", {"ticore": False}),
    ]
    masked = 0
    for _ in range(25):
        some = draw.sample(requests, draw.randint(1, 3))  # batches change, and processors with them
        for request, found in zip(some, apply(*some), strict=True):
            params = request.params
            verifier = Verifier(
                TOKENIZER,
                mode=params.get("ticore_mode", "prefix"),
                view=params.get("ticore_view", "continuation"),
            )
            expected = torch.ones(WIDTH, dtype=torch.bool)
            if params.get("ticore", True):
                text = verifier.start(request.origin_input_ids)
                for token in request.output_ids:
                    text.push(token)
                expected[: TOKENIZER.vocab_size] = torch.from_numpy(text.mask().copy())
                expected[TOKENIZER.vocab_size :] = False
                expected[END] = text.consistent
                masked += 1
            assert torch.equal(found == 0, expected)
            allowed = set(expected[: TOKENIZER.vocab_size].nonzero().flatten().tolist())
            request.output_ids.append(draw.choice(sorted(allowed - {END})))
    assert masked > 20


@pytest.mark.parametrize(
    ("setting", "value", "said"),
    [
        ("disable_overlap_schedule", False, "start it with --disable-overlap-schedule"),
        ("speculative_algorithm", "EAGLE", "start it without --speculative-algorithm"),
    ],
)
def test_a_server_whose_tokens_come_late_is_refused(
    server: SimpleNamespace, setting: str, value: object, said: str
) -> None:
    setattr(server, setting, value)
    request = FakeRequest("It was")
    assert bool((apply(request) == 0).all())
    assert said in request.to_finish[0]


def test_a_server_of_earlier_versions_is_served(
    server: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = SimpleNamespace(get_global_server_args=lambda: server)
    monkeypatch.setitem(sys.modules, "sglang.srt.server_args", before)
    monkeypatch.delitem(sys.modules, "sglang.srt.runtime_context")
    request = FakeRequest("It was")
    request.params["__req__"] = request  # no proxy
    assert bool(torch.isneginf(apply(request)).any())
    assert request.to_finish is None


@pytest.mark.parametrize("place", ["_new_text", "mask_texts"])
def test_a_defect_ends_its_requests_and_not_the_server(
    server: SimpleNamespace,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    place: str,
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(_processor, place, fail)
    request = FakeRequest("It was")
    assert bool((apply(request) == 0).all())
    assert "found a defect in ticore: ZeroDivisionError('by zero')" in request.to_finish[0]
    assert "Traceback" in caplog.text


def test_wrong_arguments_end_their_request_alone(server: SimpleNamespace) -> None:
    wrong, right = FakeRequest("It was", {"ticore_mode": "none"}), FakeRequest("It was")
    found = apply(wrong, right)
    assert "ticore_mode: expected one of" in wrong.to_finish[0]
    assert right.to_finish is None
    assert torch.isneginf(found).any(dim=1).tolist() == [False, True]


@pytest.mark.parametrize("ignored", [True, False])
def test_an_end_that_is_ignored_may_not_be_written(server: SimpleNamespace, ignored: bool) -> None:
    """SGLang would go on after it, and the text would be read back as other tokens."""
    request = FakeRequest("It was")
    request.sampling_params.ignore_eos = ignored
    assert bool(torch.isneginf(apply(request)[0, END])) is ignored


@pytest.mark.parametrize(
    ("eos_token_id", "more", "ends"),
    [(END, None, True), (None, {END}, True), (None, None, False)],
)
def test_ends_of_the_servers_tokenizer_may_be_written(
    server: SimpleNamespace, eos_token_id: int | None, more: set[int] | None, ends: bool
) -> None:
    """They may differ from those of the model's configuration."""
    request = FakeRequest("It was")
    request.eos_token_ids = set()
    request.tokenizer.eos_token_id = eos_token_id
    request.tokenizer.additional_stop_token_ids = more
    assert bool(apply(request)[0, END] == 0) is ends


def test_a_request_without_parameters_is_left_alone(
    server: SimpleNamespace, caplog: pytest.LogCaptureFixture
) -> None:
    logits = torch.zeros(1, WIDTH)
    assert bool((ConsistentTokens()(logits, [None]) == 0).all())
    assert "it has no custom_params" in caplog.text


def test_a_report_comes_when_the_server_drops_the_request(
    server: SimpleNamespace, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    request = FakeRequest("It was", {"ticore_report": "mine"})
    apply(request)
    request.params.clear()
    del request
    gc.collect()
    assert json.loads(caplog.messages[-1])["report"] == "mine"


def test_the_class_travels_by_name() -> None:
    found = pickle.loads(bytes.fromhex(json.loads(ConsistentTokens.to_str())["callable"]))
    assert found is ConsistentTokens


@pytest.mark.skipif(find_spec("sglang") is None, reason="sglang is not installed")
def test_sglang_reads_the_class_back() -> None:
    found = ConsistentTokens.from_str(ConsistentTokens.to_str())
    assert type(found) is ConsistentTokens
