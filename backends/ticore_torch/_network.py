"""A transformers model that reads one text at a time, or one more id in each of several."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import torch
from transformers import Cache, DynamicCache, PreTrainedModel
from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

from ticore.errors import ModelFilesError

# How models name their cache: `cache` since transformers 5.24, in which the older names are
# deprecated. A model that names it otherwise has a cache of its own kind.
_CACHES = ("cache", "past_key_values", "cache_params")


class Network:
    """A transformers model ready to run. Reading a text changes its Cache and nothing else.

    Args:
        module: the model.
        computing: opened around each forward pass, and around what is done to its results.

    Attributes:
        module, computing: as given.
        crops: whether a cache can forget its last positions. A cache of attention can; a
            recurrent state cannot be turned back.
        keeps_last: whether it can compute the logits after the last id of each text alone.
        pads: whether texts of different lengths can be read side by side: the network must be told
            what is padding, and where in its text an id stands.
        keeps_one_text: whether it keeps what it read in itself, and not in the cache, so that
            several texts cannot be read in turn.

    Raises:
        ModelFilesError: the model keeps no cache that is known here; also when it reads, if it
            gives no logits.
    """

    def __init__(
        self,
        module: PreTrainedModel,
        computing: Callable[[], AbstractContextManager[Any]] = torch.inference_mode,
    ) -> None:
        self.module = module
        self.computing = computing
        taken = inspect.signature(module.forward).parameters
        cache = next((name for name in _CACHES if name in taken), None)
        if cache is None:
            raise ModelFilesError(
                f"expected a model that takes its cache as {' or '.join(_CACHES)}, found "
                f"{type(module).__name__}, which does not; choose another model"
            )
        self._cache_name = cache
        self.keeps_last = "logits_to_keep" in taken
        self._last_only = {"logits_to_keep": 1} if self.keeps_last else {}
        layers = map(type, DynamicCache(config=module.config).layers)
        self.crops = all(layer in (DynamicLayer, DynamicSlidingWindowLayer) for layer in layers)
        self.pads = self.crops and {"attention_mask", "position_ids"} <= taken.keys()
        # Qwen2-VL and the like remember by how much the pictures of an earlier text moved its ids,
        # and move those of the next one, too, unless they are told where these stand. Some hybrids
        # (Bamba) begin to count at each pass.
        remembers = any(hasattr(part, "rope_deltas") for part in module.modules())
        self._places = "position_ids" in taken and (remembers or not self.crops)
        # RecurrentGemma keeps the state of the last text in itself.
        self.keeps_one_text = any(hasattr(part, "recurrent_states") for part in module.modules())

    def new_cache(self) -> Cache:
        """An empty cache.

        If it can be cropped, it keeps every position, also those that have left a sliding window,
        since rewinding brings them back. Only the attention mask then limits the window.
        """
        return DynamicCache() if self.crops else DynamicCache(config=self.module.config)

    def read(self, ids: Sequence[int], cache: Cache) -> torch.Tensor:
        """Read `ids` after what is in `cache`, and add them to it.

        The prompt is read in one pass and what follows one id at a time, so that the same calls
        lead to the same bits.

        Returns:
            Logits [width] after the last id.
        """
        return self._forward([ids], self._after(cache))[0, -1]

    def read_prompts(self, prompts: Sequence[Sequence[int]], cache: Cache) -> torch.Tensor:
        """Read prompts side by side into an empty `cache`, padded at the left, in one pass.

        Prompts of one length are read without a mask, and one prompt as `read` reads it.

        Args:
            prompts: at least one, of at least one id each.

        Returns:
            Logits [len(prompts), width] after the last id of each.
        """
        longest = max(map(len, prompts))
        padding = [longest - len(ids) for ids in prompts]
        inputs = self._after(cache)
        if any(padding):
            device = self.module.device
            places = torch.arange(longest, device=device)
            positions = places - torch.tensor(padding, device=device)[:, None]
            inputs["attention_mask"] = (positions >= 0).long()
            inputs["position_ids"] = positions.clamp(min=0)
        padded = [[0] * count + list(ids) for count, ids in zip(padding, prompts, strict=True)]
        return self._forward(padded, inputs)[:, -1]

    def read_each(
        self, tokens: Sequence[int], cache: Cache, lengths: Sequence[int]
    ) -> torch.Tensor:
        """Read one id in each row of `cache`, and add it to the row.

        Args:
            tokens: one for each row.
            lengths: how many positions of each row belong to its text. They are the last ones;
                padding stands before them. A sliding window counts positions of the cache from the
                end, and so sees the right ones.

        Returns:
            Logits [rows, width].
        """
        device = self.module.device
        positions = torch.tensor(lengths, device=device)[:, None]
        slots = torch.arange(1 + cache.get_seq_length(), device=device)
        inputs = self._after(cache) | {
            "attention_mask": (slots >= slots[-1] - positions).long(),
            "position_ids": positions,
        }
        return self._forward([[token] for token in tokens], inputs)[:, -1]

    def read_all(self, ids: Sequence[int]) -> torch.Tensor:
        """Read a whole text in one pass: the logits [len(ids), width] after each id."""
        return self._forward([ids], {"use_cache": False})[0]

    def _after(self, cache: Cache) -> dict[str, Any]:
        return {self._cache_name: cache, "use_cache": True, **self._last_only}

    def _forward(self, rows: Sequence[Sequence[int]], inputs: dict[str, Any]) -> torch.Tensor:
        """Logits [rows, n, width] of as many ids each."""
        batch = torch.tensor([list(ids) for ids in rows], device=self.module.device)
        if self._places and "position_ids" not in inputs:
            cache = inputs.get(self._cache_name)
            begin = 0 if cache is None else cache.get_seq_length()
            places = torch.arange(begin, begin + batch.shape[1], device=batch.device)
            inputs = inputs | {"position_ids": places.expand(batch.shape)}
        with self.computing():
            found = self.module(input_ids=batch, **inputs)
        logits: torch.Tensor | None = getattr(found, "logits", None)
        if logits is None:
            raise ModelFilesError(
                f"expected a model that gives logits of the next token, found "
                f"{type(self.module).__name__}, which gives none; open it with "
                f"AutoModelForCausalLM"
            )
        return logits


def ids_of(named: Any) -> list[int]:
    """The ids that a field of a config names: one, several or none."""
    if named is None:
        return []
    if isinstance(named, torch.Tensor):
        named = named.tolist()
    return [int(token) for token in named] if isinstance(named, list | tuple) else [int(named)]
