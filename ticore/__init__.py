"""ticore: make the tokens a language model emits survive being turned into text and read back.

The public names, by what they are for:

- open things: `load_model`, `load_tokenizer`;
- look at a list of tokens: `compare`, `Verifier`;
- write and detect watermarks: `Watermarker`, `WatermarkDetector`; text that merely survives:
  `consistent_generate`, and for many prompts at once `consistent_generate_batch`;
- hide and find messages: `Steganographer`, `Agreement`, `Pact`;
- keys for both: `new_key`, `load_key`, `parse_key`, `RawKey`;
- when something is wrong: `TicoreError` and, in `ticore.errors`, its kinds.
"""

from .candidates import Candidates, Pool, PoolSettings
from .consistency import Comparison, Verification, Verifier, compare
from .errors import TicoreError
from .keys import RawKey
from .registry import load_model, load_tokenizer
from .steganography import (
    Agreement,
    Embedding,
    Pact,
    Steganographer,
    load_key,
    new_key,
    parse_key,
)
from .watermarking import (
    Generated,
    WatermarkDetector,
    Watermarker,
    consistent_generate,
    consistent_generate_batch,
)

__all__ = [
    "Agreement",
    "Candidates",
    "Comparison",
    "Embedding",
    "Generated",
    "Pact",
    "Pool",
    "PoolSettings",
    "RawKey",
    "Steganographer",
    "TicoreError",
    "Verification",
    "Verifier",
    "WatermarkDetector",
    "Watermarker",
    "compare",
    "consistent_generate",
    "consistent_generate_batch",
    "load_key",
    "load_model",
    "load_tokenizer",
    "new_key",
    "parse_key",
]
