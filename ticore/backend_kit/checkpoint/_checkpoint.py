"""The files of a model, and a digest of them that is the same in every backend.

A model's own `digest` follows everything that may change the last bits of its logits: number
format, device, framework. This one follows what shapes their values: the files.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from ._safetensors_files import Tensors
from ._start_token import StartToken

# What a config says of its file, or of how it is run, and not of the model.
_UNESSENTIAL = frozenset(
    {"_name_or_path", "architectures", "dtype", "torch_dtype", "transformers_version", "use_cache"}
)
# It changes when the meaning of the parts does, so that an old digest never equals a new one.
_DOMAIN = "ticore/checkpoint/1"


@dataclass(frozen=True)
class Checkpoint:
    """A model as it is stored.

    Attributes:
        config: as `read_config` gives it.
        tensors: all weights.
        start: as `find_start_token` gives it.
        chat_template: as `find_chat_template` gives it.
        special_tokens: as `find_special_tokens` gives them.
        added_tokens: as `find_added_tokens` gives them. None of the last three shapes the logits,
            so the digest does not depend on them.
    """

    config: Mapping[str, object]
    tensors: Tensors
    start: StartToken
    chat_template: str | None = None
    special_tokens: Mapping[str, str] = field(default_factory=dict)
    added_tokens: frozenset[str] = frozenset()

    @property
    def is_made_here(self) -> bool:
        """Whether this project trained the model, for a version later than 0.1."""
        return "ticore_version" in self.config

    def digest(self) -> str:
        """SHA-256 hex digest of config, weights as stored, and what is read before a text.

        The digest does not depend on how the weights are split over files, nor on the number format
        in which they are used. The tokenizer is not part of it and has its own digest.
        """
        parts = {
            "domain": _DOMAIN,
            "config": {name: self.config[name] for name in self.config.keys() - _UNESSENTIAL},
            "start": [self.start.token, self.start.always],
            "weights": self.tensors.digest(),
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode("ascii")).hexdigest()
