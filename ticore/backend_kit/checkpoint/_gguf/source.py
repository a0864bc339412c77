"""Typed access to a GGUF file of one family. What is not known is refused."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from ....errors import ModelFilesError
from .._config_fields import Fields
from .._safetensors_files import StoredTensor
from .container import Container
from .unpacking import Layout, stored_tensor

OTHERWISE = "use the model's Hugging Face files instead"
"""What error texts advise where a file is sound, but not understood."""

ANGLES = "rope_freqs.weight"
"""A tensor that is a setting: by how much each angle of Llama 3.1 and its kin is divided."""

_ADVICE = "use a file that llama.cpp's convert_hf_to_gguf.py wrote"
# Keys of every family that say nothing about the network, or nothing that its tensors do not say.
_IDLE = ("vocab_size", "tensor_data_layout", "rope.scaling.finetuned")
_MOST_NUMBERS = 10_000  # of a setting: one for each layer
_NAME = re.compile(
    r"(?:(?P<blk>blk)\.(?P<block>0|[1-9]\d{0,5})\.)?(?P<part>[a-z_]+)\.(?P<end>weight|bias)"
)


@dataclass(frozen=True)
class Source:
    """One file of a family.

    Attributes:
        path: of the file.
        container: its content.
        family: what llama.cpp calls it.
    """

    path: Path
    container: Container
    family: str

    @cached_property
    def fields(self) -> Fields:
        """The metadata that begin with the name of the family, without this name."""
        own: dict[str, object] = {}
        fields = Fields(own, f"{self.path}: {self.family}", _ADVICE)
        for name, value in self.container.metadata.items():
            family, _, own_name = name.partition(".")
            if family == self.family:
                own[own_name] = _plain(fields, own_name, value)
        return fields

    def require_known(self, *names: str) -> None:
        """Refuse keys of the family that are not among `names`. Raises ModelFilesError."""
        for name in sorted(self.fields.settings.keys() - {*names, *_IDLE}):
            raise ModelFilesError(
                f"{self.path}: expected only settings of {self.family} that are known here, found "
                f"{self.family + '.' + name!r}; {OTHERWISE}"
            )

    def has(self, name: str) -> bool:
        """Whether there is a tensor of this name."""
        return name in self.container.tensors

    def vocabulary_size(self) -> int:
        """How many rows the embedding has. Raises ModelFilesError: it is no matrix, or missing."""
        embedding = self.container.tensors.get("token_embd.weight")
        if embedding is None or len(embedding.shape) != 2:
            raise ModelFilesError(
                f"{self.path}: expected a matrix token_embd.weight, found none; use another file"
            )
        return embedding.shape[0]

    def renamed(
        self, names: Mapping[str, str], layouts: Mapping[str, Layout]
    ) -> dict[str, StoredTensor]:
        """All tensors by their names in the checkpoint.

        Args:
            names: by what a name is without its number and its end: `blk.attn_q` for
                `blk.0.attn_q.weight`. A `{}` stands for the number.
            layouts: by the same, or with the end where only one of weight and bias is meant.
        """
        found: dict[str, StoredTensor] = {}
        for name, packed in self.container.tensors.items():
            if name == ANGLES:
                continue
            match = _NAME.fullmatch(name)
            part = "" if match is None else f"{match['blk'] or ''}.{match['part']}".strip(".")
            if match is None or part not in names:
                raise ModelFilesError(
                    f"{self.path}: expected only tensors of {self.family} that are known here, "
                    f"found {name!r}; {OTHERWISE}"
                )
            end = match["end"]
            layout = layouts.get(part, layouts.get(f"{part}.{end}"))
            own = f"{names[part].format(match['block'])}.{end}"
            found[own] = stored_tensor(f"{self.path}: {name}", packed, layout)
        return found


def _plain(fields: Fields, name: str, value: object) -> object:
    """A setting as JSON would have it."""
    if not isinstance(value, np.ndarray):
        return value
    if len(value) > _MOST_NUMBERS:
        raise fields.error(name, f"at most {_MOST_NUMBERS:,} numbers", len(value))
    return value.tolist()
