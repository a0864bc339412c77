"""Processes that share the parameters of a model make their forward passes together.

Two threads stand for two processes. `all_reduce` makes them wait for each other, as it does. Each
pass gathers parameters first, for which they wait, too.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

pytest.importorskip("torch", reason="torch or transformers is not installed")
pytest.importorskip("transformers", reason="torch or transformers is not installed")

import torch
from torch import distributed
from transformers import PreTrainedModel

from tests.support.tokenizers import SENTENCEPIECE
from tests.support.torch_checkpoints import CONFIGS, network
from ticore.errors import CapacityError
from ticore_transformers import generate

TOKENIZER = SENTENCEPIECE["sp-bpe"]()
PROMPTS = [[1, *TOKENIZER.encode("the quick")], [1, *TOKENIZER.encode("she sells sea")]]
LENGTHS = [2, 12]


class Processes:
    """Two of them.

    Attributes:
        gather: passed by both at once.
        going: the number of processes that were going, at each place where they met.
    """

    def __init__(self) -> None:
        self.going: list[float] = []
        self.gather = Barrier(2, timeout=10)
        self._counts: list[float] = []
        self._all_here = Barrier(2, self._add, timeout=10)
        self._all_told = Barrier(2, timeout=10)

    def all_reduce(self, count: torch.Tensor) -> None:
        self._counts.append(float(count))
        self._all_here.wait()
        count.fill_(self.going[-1])
        self._all_told.wait()

    def _add(self) -> None:
        self.going.append(sum(self._counts))
        self._counts.clear()


class Counted:
    """A model, and how many passes it has made.

    Args:
        processes: among which its parameters are spread; None for one that has them all.
    """

    def __init__(self, processes: Processes | None = None) -> None:
        self.model: PreTrainedModel = network(CONFIGS["llama"]).eval()
        self.passes = 0
        self._processes = processes
        self.model.register_forward_pre_hook(self._before_pass)

    def _before_pass(self, *_: object) -> None:
        self.passes += 1
        if self._processes is not None:
            assert not torch.is_inference_mode_enabled()  # what is gathered in it cannot be trained
            self._processes.gather.wait()

    def write(self, prompt: list[int], length: int, **settings: Any) -> Any:
        ids = torch.tensor([prompt])
        given = {"max_new_tokens": length, "eos_token_id": None, "pad_token_id": 0, **settings}
        return generate(self.model, TOKENIZER, ids, **given)


def none_left(_: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
    return torch.full_like(scores, -torch.inf)


def test_texts_of_several_lengths_take_equally_many_passes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counted = [Counted(), Counted()]
    alone = [
        one.write(prompt, length)
        for one, prompt, length in zip(counted, PROMPTS, LENGTHS, strict=True)
    ]
    assert counted[0].passes < counted[1].passes
    processes = Processes()
    monkeypatch.setattr(distributed, "all_reduce", processes.all_reduce)
    counted = [Counted(processes), Counted(processes)]
    with ThreadPoolExecutor(2) as pool:
        jobs = [
            pool.submit(one.write, prompt, length, synced_gpus=True)
            for one, prompt, length in zip(counted, PROMPTS, LENGTHS, strict=True)
        ]
        assert all(torch.equal(job.result(), text) for job, text in zip(jobs, alone, strict=True))
    assert counted[0].passes == counted[1].passes
    assert processes.going[0] == 2
    assert processes.going[-1] == 0


def test_a_process_that_fails_lets_the_others_finish(monkeypatch: pytest.MonkeyPatch) -> None:
    processes = Processes()
    monkeypatch.setattr(distributed, "all_reduce", processes.all_reduce)
    counted = [Counted(processes), Counted(processes)]
    with ThreadPoolExecutor(2) as pool:
        fails = pool.submit(
            counted[0].write, PROMPTS[0], 5, synced_gpus=True, logits_processor=[none_left]
        )
        writes = pool.submit(counted[1].write, PROMPTS[1], 5, synced_gpus=True)
        assert writes.result().shape[1] == len(PROMPTS[1]) + 5
        with pytest.raises(CapacityError):
            fails.result()
    assert counted[0].passes == counted[1].passes


@pytest.mark.parametrize("processes", [1, 2])
def test_a_model_that_is_spread_is_read_in_step(
    monkeypatch: pytest.MonkeyPatch, processes: int
) -> None:
    """Where `synced_gpus` is not given, transformers' own marks decide."""
    announced: list[torch.Tensor] = []
    monkeypatch.setattr(distributed, "all_reduce", announced.append)
    monkeypatch.setattr(distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(distributed, "get_world_size", lambda: processes)
    counted = Counted()
    counted.model._is_fsdp_managed_module = True
    counted.write(PROMPTS[0], 3)
    expected = [1.0] * counted.passes + [0.0] if processes > 1 else []
    assert [float(count) for count in announced] == expected
