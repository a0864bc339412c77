"""A model's files, read the same way by every backend.

They are a directory in the Hugging Face layout; or one GGUF file, whose settings and tensors become
those of such a directory.

_files.py              whole files, of a plausible size
_json_files.py         config.json, overruled by generation_config.json
_config_fields.py      typed access to config.json
_safetensors_files.py  weights, single or sharded: mapped, checked, taken by name
_tokenizer_files.py    which of the tokenizer's files is read
_added_tokens.py       the tokens that the files add to it
_start_token.py        what the model reads before a text
_loading_options.py    what a caller may choose about a model
_memory.py             the error for files larger than the memory
_chat_template.py      how the messages of a dialogue become one text
_template_files.py     the template in a file that a user names
_checkpoint.py         config, weights and start token, with a digest that every backend shares
_gguf/                 the same things from a GGUF file
_model_files.py        all of these, for a directory and for a GGUF file
_places.py             from a place to these files, which may be fetched from the hub
"""

from ._added_tokens import find_added_tokens
from ._chat_template import find_chat_template, find_special_tokens
from ._checkpoint import Checkpoint
from ._config_fields import Fields
from ._files import MOST_OF_TOKENIZER, read_whole
from ._gguf.vocabulary import GgufVocabulary, TokenKind
from ._json_files import read_config, read_object
from ._loading_options import (
    dtype_and_tokenizer,
    dtype_option,
    require_known_options,
    text_option,
)
from ._memory import within_memory
from ._model_files import (
    DirectoryFiles,
    ModelFiles,
    is_gguf,
    open_gguf_files,
    open_model_files,
    read_gguf_vocabulary,
)
from ._places import find_model_files
from ._safetensors_files import StoredTensor, Tensors
from ._start_token import StartToken, find_start_token
from ._template_files import read_chat_template
from ._tokenizer_files import open_tokenizer, require_fits

__all__ = [
    "MOST_OF_TOKENIZER",
    "Checkpoint",
    "DirectoryFiles",
    "Fields",
    "GgufVocabulary",
    "ModelFiles",
    "StartToken",
    "StoredTensor",
    "Tensors",
    "TokenKind",
    "dtype_and_tokenizer",
    "dtype_option",
    "find_added_tokens",
    "find_chat_template",
    "find_model_files",
    "find_special_tokens",
    "find_start_token",
    "is_gguf",
    "open_gguf_files",
    "open_model_files",
    "open_tokenizer",
    "read_chat_template",
    "read_config",
    "read_gguf_vocabulary",
    "read_object",
    "read_whole",
    "require_fits",
    "require_known_options",
    "text_option",
    "within_memory",
]
