"""Small language models run in NumPy: the default backend of ticore.

_layers.py     products, norms, feed-forward parts
_rotations.py  rotary embeddings: the angle of each position
_cache.py      keys and values of the positions of a text
_attention.py  what each position takes from those before it
_network.py    the forward pass
_weights.py    the tensors, checked, converted and stacked
_families.py   from an architecture's tensors to the network
_version_1.py  what the first version computed, kept as it was
_row_by_row.py many tokens of a known text, with the bits of one
_forward.py    one text read token by token
_batch.py      several texts read side by side
_model.py      the model as the core sees it
_loading.py    opens a bundled model, a directory or a GGUF file

How the bundled models were made: `training` in the repository.
"""

from ._loading import BACKEND, GGUF
from ._model import EmbeddedModel

__all__ = ["BACKEND", "GGUF", "EmbeddedModel"]
