"""A Llama of any size with random weights: what a large model costs, where none can be fetched.

    python -m benchmarks.backends.random_llama DIR --tokenizer tokenizer.json

Its defaults are the sizes of the 7B model: 14 GB in bfloat16. Its texts mean nothing, and almost
every token is as likely as any other; only times are of use.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ticore
from benchmarks.running import attempt, positive
from ticore.errors import MissingExtraError, SettingsError
from ticore.installing import how_to_install

_BACKENDS = {"tokenizer.model": "sentencepiece", "tokenizer.json": "tokenizers"}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.backends.random_llama",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="where it goes")
    parser.add_argument(
        "--tokenizer",
        type=Path,
        required=True,
        metavar="FILE",
        help="a .model of SentencePiece or a .json of tokenizers; copied",
    )
    parser.add_argument("--width", type=positive, default=4096, help="of a state; a head has 128")
    parser.add_argument("--inner", type=positive, default=11008, help="width of feed-forward parts")
    parser.add_argument("--layers", type=positive, default=32)
    parser.add_argument("--dtype", choices=("bfloat16", "float32"), default="bfloat16")
    return attempt(_run, parser.parse_args(arguments))


def _run(given: argparse.Namespace) -> int:
    name = f"tokenizer{given.tokenizer.suffix}"
    if name not in _BACKENDS:
        raise SettingsError(f"{given.tokenizer}: expected a tokenizer, .model or .json")
    write(
        given.folder,
        vocab_size=ticore.load_tokenizer(f"{_BACKENDS[name]}:{given.tokenizer}").vocab_size,
        width=given.width,
        inner=given.inner,
        layers=given.layers,
        dtype=given.dtype,
    )
    shutil.copy(given.tokenizer, given.folder / name)
    return 0


def write(
    folder: Path, *, vocab_size: int, width: int, inner: int, layers: int, dtype: str
) -> None:
    """Write config.json and weights. Raises MissingExtraError without torch and transformers."""
    try:
        import torch  # noqa: PLC0415  # an extra
        import transformers  # noqa: PLC0415  # an extra
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"{error}; {how_to_install('torch')}") from error
    config = transformers.LlamaConfig(
        vocab_size=vocab_size,
        hidden_size=width,
        intermediate_size=inner,
        num_hidden_layers=layers,
        num_attention_heads=max(1, width // 128),
        num_key_value_heads=max(1, width // 128),
        max_position_embeddings=4096,
    )
    torch.manual_seed(0)
    auto: Any = transformers.AutoModelForCausalLM
    auto.from_config(config, dtype=getattr(torch, dtype)).save_pretrained(folder)


if __name__ == "__main__":
    sys.exit(main())
