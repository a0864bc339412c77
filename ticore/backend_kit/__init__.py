"""Everything that a model or tokenizer backend needs apart from its framework, in one import.

A backend computes; what every backend must remember, check and refuse is here:

- `ArrayDecoder`, `DeviceDecoder`: one text that is read token by token, on top of a
  `CachedForward`, which a backend writes; `ManyDecoder` also reads many tokens at once;
- `CheckedBatchDecoder`: many texts side by side, on top of a `BatchedForward`;
- `CheckpointModel`: all of a `LanguageModel` but the forward pass;
- `LazyBackend`: a backend of models whose framework is imported with the first model;
- `LibraryTokenizer`: all of a `Tokenizer` but the calls of its library; `reader_digest`: what
  decides about one;
- `table_cache`: arrays on disk; `code_digest`: the version of the code that made them;
- `CharacterMap`: what SentencePiece's character maps replace;
- `ticore.backend_kit.checkpoint`: a model's directory in the Hugging Face layout;
- `ticore.backend_kit.network_config`: what its config.json says of the network;
- checks with the same error texts for every backend.
"""

from .._support import table_cache
from .._support.byte_alphabet import byte_alphabet
from .._support.checks import (
    HasLimits,
    checked_ids,
    require,
    require_integer,
    require_number,
    require_one_of,
    require_prompt_fits,
    require_pushed,
    require_room,
    require_scorable,
)
from .._support.code_digest import code_digest
from .._support.deprecation import keywords_after, moved_names, renamed_arguments, warn_deprecated
from .._support.overlaps import may_overlap
from .._support.own_tokenizer import require_tokenizer_of_model
from .._support.packed_bits import word_count
from .._support.utf8 import require_unicode
from ._batch_decoder import (
    BatchedForward,
    CheckedBatchDecoder,
    checked_prompts,
    each_row,
    error_names_row,
)
from ._character_map import CharacterMap
from ._checks import first_line, is_of_library, require_dense, require_float64, tokenizer_failure
from ._decoder import (
    ArrayDecoder,
    CachedForward,
    DeviceDecoder,
    DeviceLogits,
    ManyDecoder,
    ManyForward,
)
from ._lazy_backend import LazyBackend, require_packages
from ._model import CheckpointModel, NewBatch
from ._reader_digest import reader_digest
from ._tokenizer import LibraryTokenizer, NoStructure

__all__ = [
    "ArrayDecoder",
    "BatchedForward",
    "CachedForward",
    "CharacterMap",
    "CheckedBatchDecoder",
    "CheckpointModel",
    "DeviceDecoder",
    "DeviceLogits",
    "HasLimits",
    "LazyBackend",
    "LibraryTokenizer",
    "ManyDecoder",
    "ManyForward",
    "NewBatch",
    "NoStructure",
    "byte_alphabet",
    "checked_ids",
    "checked_prompts",
    "code_digest",
    "each_row",
    "error_names_row",
    "first_line",
    "is_of_library",
    "keywords_after",
    "may_overlap",
    "moved_names",
    "reader_digest",
    "renamed_arguments",
    "require",
    "require_dense",
    "require_float64",
    "require_integer",
    "require_number",
    "require_one_of",
    "require_packages",
    "require_prompt_fits",
    "require_pushed",
    "require_room",
    "require_scorable",
    "require_tokenizer_of_model",
    "require_unicode",
    "table_cache",
    "tokenizer_failure",
    "warn_deprecated",
    "word_count",
]
