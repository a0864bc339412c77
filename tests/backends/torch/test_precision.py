"""Settings of the process while a network computes: one pass at a time, and given back."""

from __future__ import annotations

import threading

import pytest

pytest.importorskip("torch", reason="torch is not installed")

import torch

from ticore_torch._precision import reproducible


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
