"""Small Llama models run in NumPy: the default language model of ticore.

_config.py    config.json: sizes, and what is refused
_weights.py   the tensors, converted and stacked
_rotation.py  rotary embeddings: the angle of each position
_network.py   the forward pass and its cache
_forward.py   one text read token by token
_batch.py     several texts read side by side
_model.py     the model as the core sees it
_loading.py   opens a bundled model, a directory or a GGUF file

How the bundled model was made: `training/tiny_en` in the repository.
"""

from ._loading import BACKEND, GGUF
from ._model import EmbeddedModel

__all__ = ["BACKEND", "GGUF", "EmbeddedModel"]
