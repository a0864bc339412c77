"""The embedded model: how well it predicts novels it never saw, how fast it is, how it reads.

python -m benchmarks.embedded --corpus DIR

DIR holds the English texts that the model was trained on (see docs/tiny-en.md); without it only
speed and samples are shown. Results go to results/embedded.json.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import time
from pathlib import Path

# One core, as the goal of 150 tokens a second is stated.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from rich.console import Console
from rich.progress import track

import ticore
from ticore.files import write_atomically
from ticore.interfaces import LanguageModel
from ticore_embedded.train import corpus

WINDOW = 1024  # tokens, each window read from the start token alone
OPENINGS = (
    "The morning was cold and",
    "It was late in the evening when",
    "She opened the letter, and",
    "Nobody in the village had ever",
    "The old man looked at the sea and",
    '"I will tell you the truth," said',
    "When the war was over,",
    "There was a knock at the door, and",
    "My father used to say that",
    "In the garden behind the house",
)


def bits_per_byte(model: LanguageModel, texts: list[str], limit: int) -> float:
    """Cross-entropy in bits per UTF-8 byte of the first `limit` characters of each text."""
    tokenizer, bits, size = model.tokenizer, 0.0, 0
    for text in track(texts, "held-out novels"):
        ids = tokenizer.encode(text[:limit])
        for at in range(0, len(ids) - WINDOW, WINDOW):
            part = ids[at : at + WINDOW]
            logits = model.score(part).astype(np.float64)
            logits -= logits.max(-1, keepdims=True)
            chosen = logits[np.arange(WINDOW), part] - np.log(np.exp(logits).sum(-1))
            bits -= chosen.sum() / math.log(2)
            size += sum(len(tokenizer.token_bytes(i)) for i in part)
    return bits / size


def sample(model: LanguageModel, opening: str, tokens: int, temperature: float, seed: int) -> str:
    """A continuation of `opening`, drawn from the 40 most probable tokens a step."""
    rng = np.random.default_rng(seed)
    settings = ticore.PoolSettings(temperature=temperature, top_k=40)
    candidates = ticore.Candidates(model, settings)
    decoder = model.start(model.tokenizer.encode(opening))
    for _ in range(tokens):
        pool = candidates.pool(decoder.logits())
        decoder.push(int(rng.choice(pool.ids, p=pool.mass / pool.mass.sum())))
    return model.tokenizer.decode(decoder.ids)


def tokens_per_second(place: str, dtype: str, tokens: int = 300) -> float:
    """Tokens a second of push and logits, the best of three runs after a short prompt."""
    model = ticore.load_model(place, dtype=dtype)
    ids = model.tokenizer.encode("The morning was cold and grey. " * 60)[:tokens]
    best = 0.0
    for _ in range(3):
        decoder = model.start([])
        started = time.perf_counter()
        for token in ids:
            decoder.push(token)
            decoder.logits()
        best = max(best, len(ids) / (time.perf_counter() - started))
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--model", default="tiny-en")
    parser.add_argument("--characters", type=int, default=200_000, help="of each held-out novel")
    parser.add_argument("--temperature", type=float, default=0.8)
    parser.add_argument("--out", type=Path, default=Path("results/embedded.json"))
    given = parser.parse_args()

    model = ticore.load_model(given.model, dtype="float32")
    found: dict[str, object] = {
        "tokens_per_second": {d: tokens_per_second(given.model, d) for d in ("float32", "float64")}
    }
    if given.corpus is not None:
        held_out = corpus.load(given.corpus).held_out
        found["bits_per_byte"] = bits_per_byte(model, held_out, given.characters)
    found["samples"] = [
        sample(model, opening, 80, given.temperature, seed) for seed, opening in enumerate(OPENINGS)
    ]
    given.out.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(given.out, json.dumps(found, ensure_ascii=False, indent=2).encode())
    Console().print_json(json.dumps(found, ensure_ascii=False))


if __name__ == "__main__":
    main()
