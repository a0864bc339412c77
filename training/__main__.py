"""Train a bundled model: from the corpus to a directory that the embedded backend loads."""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path

import safetensors.torch
import torch
from rich.console import Console

from ticore._support.atomic_files import write_atomically

from . import loop
from .network import Llama
from .recipes import RECIPES


def main() -> None:
    defaults = loop.Run()
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__)
    parser.add_argument("model", choices=sorted(RECIPES))
    parser.add_argument("--corpus", type=Path, required=True, help="folder of the language's texts")
    parser.add_argument("--out", type=Path, required=True, help="where the model directory goes")
    for field in dataclasses.fields(loop.Run):
        kind = type(field.default)
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=kind, default=field.default)
    given = vars(parser.parse_args())
    recipe = RECIPES[given.pop("model")]
    folder, out = given.pop("corpus"), given.pop("out")
    run = dataclasses.replace(defaults, **given)

    console = Console(stderr=True)
    out.mkdir(parents=True, exist_ok=True)
    corpus = recipe.load(folder)
    path = out / recipe.tokenizer.file
    if not path.exists():
        recipe.tokenizer.train(corpus.train, path)
    model = loop.train(
        recipe.sizes,
        run,
        corpus.train,
        recipe.sentence_start,
        recipe.tokenizer.open(path),
        out / "checkpoint.pt",
    )
    export(model, out)
    console.print(
        f"{out} is written; measure it: python -m benchmarks.embedded --model embedded:{out}"
    )


def export(model: Llama, out: Path) -> None:
    """Write config.json and model.safetensors (float16) in the Hugging Face layout."""
    weights = {name: p.detach().to("cpu", torch.float16) for name, p in model.named_parameters()}
    # Not save_file, which hides what it writes from other users.
    stored = safetensors.torch.save(weights, metadata={"format": "pt"})
    write_atomically(out / "model.safetensors", stored)
    settings = dataclasses.asdict(model.config) | {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_act": "silu",
        "head_dim": model.config.head_dim,
        "attention_bias": False,
        "mlp_bias": False,
        "torch_dtype": "float16",
        "ticore_version": 2,
    }
    content = json.dumps(settings, indent=2, sort_keys=True) + "\n"
    write_atomically(out / "config.json", content.encode())


if __name__ == "__main__":
    main()
