"""Settings of the process while a network computes: one pass at a time, and given back."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")

import torch
from transformers import LlamaForCausalLM, PreTrainedModel

from tests.support.torch_checkpoints import CONFIGS, write
from ticore.backend_kit.checkpoint import find_model_files
from ticore_torch._options import parse_options
from ticore_torch._precision import reproducible
from ticore_torch._weights import asking, log, read_config, read_network


def test_reproducible_waits_while_another_thread_is_inside() -> None:
    """Else the second pass would run in the first one's default dtype, and restore it wrongly."""
    inside, leave, seen = threading.Event(), threading.Event(), list[torch.dtype]()

    def wide() -> None:
        with reproducible(torch.float64):
            inside.set()
            leave.wait(120)

    def narrow() -> None:
        with reproducible(torch.float32):
            seen.append(torch.get_default_dtype())

    threads = [threading.Thread(target=wide), threading.Thread(target=narrow)]
    threads[0].start()
    assert inside.wait(120)
    threads[1].start()
    threads[1].join(0.05)
    assert not seen
    leave.set()
    for thread in threads:
        thread.join(120)
    assert seen == [torch.float32]
    assert torch.get_default_dtype() is torch.float32


def test_a_model_opens_as_if_no_other_one_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else it would take the default dtype of a pass, and be another model without an error."""
    options = parse_options({"dtype": "float32"})
    files = find_model_files(str(write(tmp_path, CONFIGS["llama"])), None)
    config = read_config(files, options)
    building, inside, opened = (threading.Event() for _ in range(3))
    found, make = list[PreTrainedModel](), LlamaForCausalLM.__init__

    def make_slowly(network: LlamaForCausalLM, *settings: Any, **more: Any) -> None:
        building.set()
        inside.wait(0.3)  # for a pass that begins now, if it can
        make(network, *settings, **more)

    def wide() -> None:
        assert building.wait(120)
        with reproducible(torch.float64):
            inside.set()
            assert opened.wait(120)

    def opening() -> None:
        found.append(read_network(files, config, options))
        opened.set()

    monkeypatch.setattr(LlamaForCausalLM, "__init__", make_slowly)
    threads = [threading.Thread(target=each) for each in (wide, opening)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    (network,) = found
    numbers = [*network.parameters(), *network.buffers()]
    assert {each.dtype for each in numbers} == {torch.float32}
    assert torch.get_default_dtype() is torch.float32


def test_what_transformers_says_is_given_back_when_two_models_are_opened_at_once() -> None:
    begun, other_begun, ended = (threading.Event() for _ in range(3))
    before = log.get_verbosity()

    def first() -> None:
        with asking("first"):
            begun.set()
            other_begun.wait(0.2)
        ended.set()

    def second() -> None:
        assert begun.wait(120)
        with asking("second"):
            other_begun.set()
            assert ended.wait(120)

    threads = [threading.Thread(target=each) for each in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert log.get_verbosity() == before


def test_reproducible_gives_the_settings_back_when_the_pass_fails() -> None:
    before = torch.are_deterministic_algorithms_enabled(), torch.get_default_dtype()
    try:
        with reproducible(torch.float64):
            raise RuntimeError("as a network may")
    except RuntimeError:
        pass
    assert (torch.are_deterministic_algorithms_enabled(), torch.get_default_dtype()) == before


def test_reproducible_may_be_opened_inside_itself() -> None:
    with reproducible(torch.float64), reproducible(torch.float64):
        assert torch.ones(1).dtype is torch.float64
