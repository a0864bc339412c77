"""The training run: Muon for the matrices, AdamW for the rest, resumable at any step.

The learning rate rises, is flat, and then falls linearly to zero. Short windows come first. Long
ones at the end teach the model the positions that short ones never reach.
"""

from __future__ import annotations

import itertools
import os
import re
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from rich.progress import Progress
from torch.nn import functional as F

from .network import Llama
from .sizes import LlamaConfig
from .tokenizers import TrainingTokenizer
from .windows import windows


@dataclass(frozen=True)
class Run:
    """How long and how fast to train. `batch` and the windows are in tokens."""

    steps: int = 5000
    batch: int = 8192
    window: int = 512
    long_window: int = 2048
    long_share: float = 0.15
    warmup: int = 100
    decay_share: float = 0.4
    muon_rate: float = 0.01
    adam_rate: float = 0.003
    save_every: int = 200
    seed: int = 2026
    device: str = "cuda" if torch.cuda.is_available() else "cpu"


def train(
    config: LlamaConfig,
    run: Run,
    texts: list[str],
    sentence_start: re.Pattern[str],
    tokenizer: TrainingTokenizer,
    checkpoint: Path,
) -> Llama:
    """Train from `checkpoint` if it exists, else from the start, and return the model.

    The checkpoint is written every `save_every` steps, and at the end.

    Raises:
        ValueError: the checkpoint is of a run with other settings.
    """
    torch.manual_seed(run.seed)
    model = Llama(config).to(run.device)
    matrices = [p for n, p in model.named_parameters() if p.ndim == 2 and "embed" not in n]
    others = [p for n, p in model.named_parameters() if p.ndim != 2 or "embed" in n]
    optimizers: list[tuple[torch.optim.Optimizer, float]] = [
        (torch.optim.Muon(matrices, lr=run.muon_rate, weight_decay=0.02), run.muon_rate),
        (
            torch.optim.AdamW(others, lr=run.adam_rate, betas=(0.9, 0.95), weight_decay=0.0),
            run.adam_rate,
        ),
    ]
    done = 0
    if checkpoint.exists():
        state = torch.load(checkpoint, map_location=run.device, weights_only=True)
        now = _settings(config, run)
        _require_same(checkpoint, state.get("settings", now), now)  # earlier ones do not say
        model.load_state_dict(state["model"])
        for (optimizer, _), saved in zip(optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(saved)
        done = state["step"]

    long_from = run.steps - int(run.steps * run.long_share)
    # A resumed run cuts the texts in another order: its seed counts the steps that are done.
    short = windows(texts, sentence_start, tokenizer, run.window, run.seed + done)
    long = windows(texts, sentence_start, tokenizer, run.long_window, run.seed + done + 1)
    with Progress() as progress:
        bar = progress.add_task("training", total=run.steps, completed=done)
        for step in range(done, run.steps):
            source, length = (short, run.window) if step < long_from else (long, run.long_window)
            batch = np.stack(list(itertools.islice(source, run.batch // length)))
            for optimizer, rate in optimizers:
                for group in optimizer.param_groups:
                    group["lr"] = rate * _schedule(step, run)
            loss = _loss(model, torch.from_numpy(batch).to(run.device))
            loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            for optimizer, _ in optimizers:
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)
            progress.update(bar, advance=1, description=f"loss {loss.item():.3f} nats/token")
            if step % 50 == 0:
                progress.console.print(f"step {step} loss {loss.item():.4f}", highlight=False)
            if (step + 1) % run.save_every == 0 or step + 1 == run.steps:
                _save(checkpoint, model, run, [o for o, _ in optimizers], step + 1)
    return model


def _loss(model: Llama, ids: torch.Tensor) -> torch.Tensor:
    with torch.autocast(ids.device.type, dtype=torch.bfloat16):
        logits = model(ids[:, :-1])
        return F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())


def _schedule(step: int, run: Run) -> float:
    """Share of the full learning rate: rise, stay, fall to zero."""
    decay = run.steps * run.decay_share
    rise = (step + 1) / run.warmup if run.warmup else 1.0
    return min(rise, 1.0, (run.steps - step) / decay if decay else 1.0)


def _save(
    path: Path, model: Llama, run: Run, optimizers: list[torch.optim.Optimizer], step: int
) -> None:
    part = path.with_suffix(".part")
    state = {"model": model.state_dict(), "optimizers": [o.state_dict() for o in optimizers]}
    torch.save({**state, "step": step, "settings": _settings(model.config, run)}, part)
    os.replace(part, path)


def _settings(config: LlamaConfig, run: Run) -> dict[str, object]:
    """What a run that goes on must have as before. It may be longer, or on another device."""
    free = {"steps", "save_every", "device"}
    return asdict(config) | {name: n for name, n in asdict(run).items() if name not in free}


def _require_same(path: Path, before: dict[str, object], now: dict[str, object]) -> None:
    """Refuse to go on with other settings. Raises ValueError."""
    if other := sorted(name for name in now if before.get(name) != now[name]):
        raise ValueError(
            f"{path}: expected the settings that it was begun with, found other values of "
            f"{', '.join(other)}; give the former ones, or remove it to begin again"
        )
