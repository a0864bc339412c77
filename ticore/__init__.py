"""ticore: make the tokens a language model emits survive being turned into text and read back.

The public names, by what they are for:

- open things: `load_model`, `load_tokenizer`; use a tokenizer of another library: `wrap`;
- look at lists of tokens: `compare`, which gives a `Comparison`, and `compare_batch`; `Verifier`,
  which starts a `Verification`;
- put texts and ids together: `seam`, which gives a `Seam`; `PrefixTokenizer`; `TokenStream`;
- write and detect watermarks: `Watermarker`, which gives `Generated` texts, `WatermarkDetector`,
  which gives a `Detection`, and `WatermarkAgreement`, the file that both share;
- write text without a watermark that survives retokenization: `Generator`, `consistent_generate`,
  `consistent_generate_batch`;
- hide and find messages: `Steganographer`, `Embedding`, `Agreement`;
- a conversation as a prompt: `Chat`; one as a rollout left it: `Transcript`;
- keys for both: `Key`, `load_key`, `new_key`, `parse_key`;
- when something is wrong: `TicoreError` and, in `ticore.errors`, its kinds.

A module or package whose name begins with an underscore is private. Importing `ticore` takes
milliseconds, since each name is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._support import moved_modules

if TYPE_CHECKING:
    from ._version import __version__
    from .chat import Chat, Transcript
    from .consistency import (
        Comparison,
        PrefixTokenizer,
        Seam,
        TokenStream,
        Verification,
        Verifier,
        compare,
        compare_batch,
        seam,
    )
    from .errors import TicoreError
    from .keys import Key, load_key, new_key, parse_key
    from .registry import load_model, load_tokenizer, wrap
    from .steganography import Agreement, Embedding, Steganographer
    from .watermarking import (
        Detection,
        Generated,
        Generator,
        WatermarkAgreement,
        WatermarkDetector,
        Watermarker,
        consistent_generate,
        consistent_generate_batch,
    )

__all__ = [
    "Agreement",
    "Chat",
    "Comparison",
    "Detection",
    "Embedding",
    "Generated",
    "Generator",
    "Key",
    "PrefixTokenizer",
    "Seam",
    "Steganographer",
    "TicoreError",
    "TokenStream",
    "Transcript",
    "Verification",
    "Verifier",
    "WatermarkAgreement",
    "WatermarkDetector",
    "Watermarker",
    "__version__",
    "compare",
    "compare_batch",
    "consistent_generate",
    "consistent_generate_batch",
    "load_key",
    "load_model",
    "load_tokenizer",
    "new_key",
    "parse_key",
    "seam",
    "wrap",
]

# Where each name comes from; a test compares this with the imports above.
_HOMES = {
    "_version": ("__version__",),
    "chat": ("Chat", "Transcript"),
    "consistency": (
        "Comparison",
        "PrefixTokenizer",
        "Seam",
        "TokenStream",
        "Verification",
        "Verifier",
        "compare",
        "compare_batch",
        "seam",
    ),
    "errors": ("TicoreError",),
    "keys": ("Key", "load_key", "new_key", "parse_key"),
    "registry": ("load_model", "load_tokenizer", "wrap"),
    "steganography": ("Agreement", "Embedding", "Steganographer"),
    "watermarking": (
        "Detection",
        "Generated",
        "Generator",
        "WatermarkAgreement",
        "WatermarkDetector",
        "Watermarker",
        "consistent_generate",
        "consistent_generate_batch",
    ),
}
_PACKAGES = (
    "backend_kit",
    "candidates",
    "channels",
    "chat",
    "codecs",
    "consistency",
    "corpus",
    "disambiguation",
    "errors",
    "evaluation",
    "interfaces",
    "keys",
    "registry",
    "report",
    "schemes",
    "steganography",
    "testing",
    "watermarking",
)
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
# Old name -> its new home; each use of an old name warns.
_RENAMED = {
    "Candidates": "ticore.candidates:Candidates",
    "Pact": "ticore.steganography._pact:Pact",
    "Pool": "ticore.candidates:Pool",
    "PoolSettings": "ticore.candidates:PoolSettings",
    "RawKey": "ticore:Key",
}

moved_modules.install()


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f".{name}", __name__)
    if name in _RENAMED:
        from ._support.deprecation import moved_names  # noqa: PLC0415  # imports stay lazy

        return moved_names(__name__, _RENAMED)(name)
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOME_OF[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_PACKAGES})
