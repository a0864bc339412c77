"""A model's directory in the Hugging Face layout, read the same way by every backend.

files.py       whole files, of a size that can be meant
objects.py     JSON objects: config.json, with what generation_config.json says in its place
fields.py      typed access to config.json
tensors.py     the safetensors files, single or sharded: tensors mapped, checked, taken by name
tokenizer.py   which of the tokenizer's files is read
start.py       what the model reads before a text
memory.py      what to say where there is not enough
checkpoint.py  all of these, with a digest that is the same whichever backend computes

What a backend makes of config and tensors is its own matter.
"""

from .checkpoint import Checkpoint
from .fields import Fields
from .files import MOST_OF_TOKENIZER, read_whole
from .memory import within_memory
from .objects import read_config, read_object
from .start import Start, find_start
from .tensors import StoredTensor, Tensors
from .tokenizer import open_tokenizer, require_fits

__all__ = [
    "MOST_OF_TOKENIZER",
    "Checkpoint",
    "Fields",
    "Start",
    "StoredTensor",
    "Tensors",
    "find_start",
    "open_tokenizer",
    "read_config",
    "read_object",
    "read_whole",
    "require_fits",
    "within_memory",
]
