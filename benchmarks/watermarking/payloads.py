"""How many bits of a payload are read from texts of some lengths, with `gumbel_payload`.

python -m benchmarks.watermarking.payloads --data DIR --top-p 0.95

Each text is written once and read from its first tokens, as ids: so what text a prefix would be
read back as does not matter. Every text has a payload and a key of its own.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import ticore
from benchmarks._harness.cli import exit_status, positive_int
from benchmarks._harness.prompts import load_prompts

BITS = (16, 32, 64)
LENGTHS = (25, 50, 100, 200, 400)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="a folder with prompts; by default bundled ones")
    parser.add_argument("--texts", type=positive_int, default=20, help="for each payload's size")
    parser.add_argument("--top-p", type=float, default=1.0)
    return exit_status(_run, parser.parse_args(arguments))


def _run(options: argparse.Namespace) -> int:
    prompts = load_prompts(options.data, "en")[: options.texts]
    model = ticore.load_model("tiny-en")
    print("| bits | tokens | bits right | payloads right | confidence | detected |")
    for bits in BITS:
        found: dict[int, list[tuple[float, bool, float, bool]]] = {n: [] for n in LENGTHS}
        for seed, prompt in enumerate(prompts):
            _read(model, prompt, bits, seed, options.top_p, found)
        for length, results in found.items():
            right, whole, confidence, detected = np.mean(results, axis=0)
            print(
                f"| {bits} | {length} | {right:.1%} | {whole:.0%} | {confidence:.0%} "
                f"| {detected:.0%} |"
            )
    return 0


def _read(
    model: ticore.interfaces.LanguageModel,
    prompt: str,
    bits: int,
    seed: int,
    top_p: float,
    found: dict[int, list[tuple[float, bool, float, bool]]],
) -> None:
    """Write one text, and read the payload from its beginnings."""
    rng = np.random.default_rng([bits, seed])
    payload, key = rng.bytes(bits // 8), rng.bytes(32)
    writer = ticore.Watermarker(
        model,
        "gumbel_payload",
        key=key,
        payload=payload,
        payload_bits=bits,
        top_p=top_p,
        seed=seed,
        end_of_text=False,
    )
    reader = ticore.WatermarkDetector(model.tokenizer, "gumbel_payload", key=key, payload_bits=bits)
    ids = writer.generate(prompt, max_new_tokens=max(LENGTHS)).ids
    for length, results in found.items():
        one = reader.detect_ids(ids[:length])
        assert one.payload is not None
        wrong = int.from_bytes(payload) ^ int.from_bytes(one.payload.payload)
        share = 1 - wrong.bit_count() / bits
        results.append((share, wrong == 0, one.payload.confidence, one.verdict == "watermarked"))


if __name__ == "__main__":
    sys.exit(main())
