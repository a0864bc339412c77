"""A model's directory in the Hugging Face layout, read the same way by every backend.

_files.py              whole files, of a plausible size
_json_files.py         config.json, overruled by generation_config.json
_config_fields.py      typed access to config.json
_safetensors_files.py  weights, single or sharded: mapped, checked, taken by name
_tokenizer_files.py    which of the tokenizer's files is read
_start_token.py        what the model reads before a text
_memory.py             the error for files larger than the memory
_checkpoint.py         all of these, with a digest that is the same in every backend
"""

from ._checkpoint import Checkpoint
from ._config_fields import Fields
from ._files import MOST_OF_TOKENIZER, read_whole
from ._json_files import read_config, read_object
from ._memory import within_memory
from ._safetensors_files import StoredTensor, Tensors
from ._start_token import StartToken, find_start_token
from ._tokenizer_files import open_tokenizer, require_fits

__all__ = [
    "MOST_OF_TOKENIZER",
    "Checkpoint",
    "Fields",
    "StartToken",
    "StoredTensor",
    "Tensors",
    "find_start_token",
    "open_tokenizer",
    "read_config",
    "read_object",
    "read_whole",
    "require_fits",
    "within_memory",
]
