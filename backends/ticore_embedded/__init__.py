"""Small Llama models run in NumPy: the default language model of ticore.

config.py    config.json: sizes, and what is refused
weights.py   its tensors, converted and stacked
rotation.py  the angles that positions turn heads by
network.py   the forward pass and its cache
batch.py     several texts read side by side
model.py     the model and its Decoder, as the core sees them
loading.py   from a name or a directory to a model
train/       how the shipped model was made
"""

from .loading import BACKEND
from .model import EmbeddedModel

__all__ = ["BACKEND", "EmbeddedModel"]
