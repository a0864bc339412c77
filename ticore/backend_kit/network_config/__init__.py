"""What config.json says of a network, for backends that compute it themselves.

_rope.py          rotary embeddings: variants, frequencies, tables of angles
_facts.py         what a digest says of a config, the same in later versions
_config.py        sizes and variants in terms that all architectures share
_families.py      each architecture's config.json, and what is refused of it
_tensor_names.py  names of tensors, which config.json does not say
"""

from ._config import NetworkConfig
from ._families import ARCHITECTURES, parse_config
from ._rope import Rope, angle_tables
from ._tensor_names import gpt2_root, is_spare_tensor

__all__ = [
    "ARCHITECTURES",
    "NetworkConfig",
    "Rope",
    "angle_tables",
    "gpt2_root",
    "is_spare_tensor",
    "parse_config",
]
