"""A transformers model that reads one text at a time, and the cache of what it has read."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import torch
from transformers import Cache, DynamicCache, PreTrainedModel
from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

from ticore.errors import ModelFilesError

# How models name their cache; others have one of a kind of their own.
_CACHES = ("past_key_values", "cache_params")


class Network:
    """A transformers model ready to run. What a text changes is in its Cache.

    Args:
        module: the model.
        computing: opened around each forward pass.

    Attributes:
        crops: whether a cache can forget its last positions. Where attention is all there is, it
            can; a recurrent state cannot be turned back.

    Raises:
        ModelFilesError: the model keeps no cache that is known here.
    """

    def __init__(
        self,
        module: PreTrainedModel,
        computing: Callable[[], AbstractContextManager[Any]] = torch.inference_mode,
    ) -> None:
        self.module = module
        self._computing = computing
        taken = inspect.signature(module.forward).parameters
        cache = next((name for name in _CACHES if name in taken), None)
        if cache is None:
            raise ModelFilesError(
                f"expected a model that takes its cache as {' or '.join(_CACHES)}, found "
                f"{type(module).__name__}, which does not; choose another model"
            )
        self._cache_name = cache
        self._last_only = {"logits_to_keep": 1} if "logits_to_keep" in taken else {}
        layers = map(type, DynamicCache(config=module.config).layers)
        self.crops = all(layer in (DynamicLayer, DynamicSlidingWindowLayer) for layer in layers)

    def new_cache(self) -> Cache:
        """A cache of nothing.

        Where it can be cropped it keeps every position, also those that have left a sliding
        window: what is rewound brings them back. The window is then the mask's work alone.
        """
        return DynamicCache() if self.crops else DynamicCache(config=self.module.config)

    def read(self, ids: Sequence[int], cache: Cache) -> torch.Tensor:
        """Read `ids` behind what is in `cache`, add them to it: the logits [width] after the last.

        The prompt is read at once and what follows one by one, so that the same calls lead to the
        same bits.
        """
        inputs = {self._cache_name: cache, "use_cache": True, **self._last_only}
        return self._forward(ids, inputs)[-1]

    def read_all(self, ids: Sequence[int]) -> torch.Tensor:
        """Read a whole text in one pass: the logits [len(ids), width] after each id."""
        return self._forward(ids, {"use_cache": False})

    def _forward(self, ids: Sequence[int], inputs: dict[str, Any]) -> torch.Tensor:
        batch = torch.tensor([list(ids)], device=self.module.device)
        with self._computing():
            logits: torch.Tensor = self.module(input_ids=batch, **inputs).logits[0]
        return logits


def ids_of(named: Any) -> list[int]:
    """The ids that a field of a config names: one, several or none."""
    if named is None:
        return []
    return [int(token) for token in named] if isinstance(named, list | tuple) else [int(named)]
