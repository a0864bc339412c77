"""Train `tiny-en`: from the corpus to a directory that the embedded backend loads."""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path

import safetensors.torch
import sentencepiece
import torch
from rich.console import Console

from ticore_embedded._config import LlamaConfig

from . import corpus, loop
from .network import Llama

# 5.9 million parameters: 11.7 MB in float16, deep and narrow, which reads best at this size.
TINY_EN = LlamaConfig(
    vocab_size=4096,
    hidden_size=256,
    intermediate_size=640,
    num_hidden_layers=7,
    num_attention_heads=4,
    num_key_value_heads=2,
    max_position_embeddings=2048,
    rms_norm_eps=1e-5,
    rope_theta=10000.0,
    tie_word_embeddings=True,
    bos_token_id=1,
    eos_token_id=2,
)


def main() -> None:
    defaults = loop.Run()
    parser = argparse.ArgumentParser(prog="python -m training.tiny_en", description=__doc__)
    parser.add_argument("--corpus", type=Path, required=True, help="folder with the English texts")
    parser.add_argument("--out", type=Path, required=True, help="where the model directory goes")
    for field in dataclasses.fields(loop.Run):
        kind = type(field.default)
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=kind, default=field.default)
    given = vars(parser.parse_args())
    folder, out = given.pop("corpus"), given.pop("out")
    run = dataclasses.replace(defaults, **given)

    console = Console(stderr=True)
    out.mkdir(parents=True, exist_ok=True)
    texts = corpus.load(folder)
    if not (out / "tokenizer.model").exists():
        corpus.train_tokenizer(texts.train, TINY_EN.vocab_size, out / "tokenizer")
        (out / "tokenizer.vocab").unlink()
    tokenizer = sentencepiece.SentencePieceProcessor(model_file=str(out / "tokenizer.model"))
    model = loop.train(TINY_EN, run, texts, tokenizer, out / "checkpoint.pt")
    export(model, out)
    console.print(
        f"{out} is written; measure it: python -m benchmarks.embedded --model embedded:{out}"
    )


def export(model: Llama, out: Path) -> None:
    """Write config.json and model.safetensors (float16) in the Hugging Face layout."""
    weights = {name: p.detach().to("cpu", torch.float16) for name, p in model.named_parameters()}
    # Not save_file, which hides what it writes from other users.
    stored = safetensors.torch.save(weights, metadata={"format": "pt"})
    (out / "model.safetensors").write_bytes(stored)
    settings = dataclasses.asdict(model.config) | {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_act": "silu",
        "head_dim": model.config.head_dim,
        "attention_bias": False,
        "mlp_bias": False,
        "torch_dtype": "float16",
    }
    (out / "config.json").write_text(json.dumps(settings, indent=2, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
