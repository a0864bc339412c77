"""Write a Llama of any size with random weights, to time a model that cannot be downloaded.

    python -m benchmarks.backends.random_llama DIR --tokenizer tokenizer.json

The defaults are the sizes of the 7B model: 14 GB in bfloat16. The model's texts mean nothing, and
almost every token is as likely as any other. Only times are useful.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import ticore
from benchmarks._harness.cli import exit_status, positive_int
from ticore._support.installing import require_module
from ticore.errors import SettingsError

_BACKENDS = {"tokenizer.model": "sentencepiece", "tokenizer.json": "tokenizers"}
_HEAD = 128  # values of a state per attention head


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.backends.random_llama",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="where the model is written")
    parser.add_argument(
        "--tokenizer",
        type=Path,
        required=True,
        metavar="FILE",
        help="a SentencePiece .model or a tokenizer.json, which is copied",
    )
    parser.add_argument(
        "--width", type=positive_int, default=4096, help=f"width of a state; each head has {_HEAD}"
    )
    parser.add_argument(
        "--inner", type=positive_int, default=11008, help="width of feed-forward layers"
    )
    parser.add_argument("--layers", type=positive_int, default=32)
    parser.add_argument("--dtype", choices=("bfloat16", "float32"), default="bfloat16")
    return exit_status(_run, parser.parse_args(arguments))


def _run(options: argparse.Namespace) -> int:
    name = f"tokenizer{options.tokenizer.suffix}"
    if name not in _BACKENDS:
        raise SettingsError(
            f"{options.tokenizer}: expected a tokenizer, found no file that ends in .model or "
            f".json; name one with --tokenizer"
        )
    write(
        options.folder,
        vocab_size=ticore.load_tokenizer(f"{_BACKENDS[name]}:{options.tokenizer}").vocab_size,
        width=options.width,
        inner=options.inner,
        layers=options.layers,
        dtype=options.dtype,
    )
    shutil.copy(options.tokenizer, options.folder / name)
    return 0


def write(
    folder: Path, *, vocab_size: int, width: int, inner: int, layers: int, dtype: str
) -> None:
    """Write config.json and weights.

    Args:
        folder: the directory to write to.
        vocab_size: of the tokenizer.
        width: of a state.
        inner: width of feed-forward layers.
        layers: the number of layers.
        dtype: the name of a dtype of torch.

    Raises:
        MissingExtraError: torch or transformers is not installed.
    """
    torch = require_module("torch", "torch", "a random model")
    transformers = require_module("transformers", "torch", "a random model")
    config = transformers.LlamaConfig(
        vocab_size=vocab_size,
        hidden_size=width,
        intermediate_size=inner,
        num_hidden_layers=layers,
        num_attention_heads=max(1, width // _HEAD),
        num_key_value_heads=max(1, width // _HEAD),
        max_position_embeddings=4096,
    )
    torch.manual_seed(0)
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=getattr(torch, dtype))
    model.save_pretrained(folder)


if __name__ == "__main__":
    sys.exit(main())
