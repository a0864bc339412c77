"""A model as llama.cpp runs it.

The bits of a logit depend on how many ids are read in one call: the product of one row with a
matrix rounds otherwise than that of many rows. So a prompt is always read in parts of `_PART` ids,
and what follows it one id at a time, by writers and readers alike.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import llama_cpp
import numpy as np

from ticore.errors import ModelFilesError
from ticore.interfaces import Logits

from ._log import errors_of_llama, reason

_PART = 256
_MOST_SPARE = 2  # caches that are kept for the next texts; to make one takes 50 ms and more
_ALL = -1  # all sequences of a cache, or all positions from a first one on
# GGML_TYPE_F32: the logits of a random model were 1e-4 from those of `gguf:`, where they range over
# 47; with float16, which is llama.cpp's default, 0.2.
_F32 = 0
_NO_FLASH_ATTENTION = 0  # which cuts long texts into as many parts as there are threads


class Network:
    """A model on the CPU. Reading a text changes its Cache and nothing else.

    Args:
        path: of a GGUF file whose container is sound.
        context: see `Options`.
        threads: see `Options`.

    Attributes:
        width: number of logits.
        context: how many positions a text may take.
        threads: as given.

    Raises:
        ModelFilesError: llama.cpp cannot run it, or it does not continue texts.
    """

    def __init__(self, path: Path, context: int | None, threads: int) -> None:
        llama_cpp.llama_backend_init()
        settings = llama_cpp.llama_model_default_params()
        settings.n_gpu_layers = 0
        with errors_of_llama() as errors:
            model = llama_cpp.llama_model_load_from_file(str(path).encode(), settings)
        if not model:
            raise ModelFilesError(
                f"{path}: expected a model that llama.cpp runs, found one that it refuses "
                f"({reason(errors)}); install a newer llama-cpp-python, or use another file"
            )
        self._path, self._model = path, model
        self._spare: list[Any] = []
        weakref.finalize(self, _free, model, self._spare)
        self._require_causal()
        self.width = int(llama_cpp.llama_vocab_n_tokens(llama_cpp.llama_model_get_vocab(model)))
        trained = int(llama_cpp.llama_model_n_ctx_train(model))
        self.context = context or min(trained, 4096)
        self.threads = threads

    def new_cache(self) -> Cache:
        """An empty cache, which may be one that another text has left."""
        return Cache(self, self._spare.pop() if self._spare else self._new_context())

    def take_back(self, context: Any) -> None:
        """Keep the context of a Cache that is gone for another text, or free it."""
        if len(self._spare) < _MOST_SPARE:
            llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(context), True)
            self._spare.append(context)
        else:
            llama_cpp.llama_free(context)

    def _new_context(self) -> Any:
        settings = llama_cpp.llama_context_default_params()
        settings.n_ctx = self.context
        settings.n_batch = settings.n_ubatch = _PART
        settings.n_seq_max = 1
        settings.n_threads = settings.n_threads_batch = self.threads
        settings.type_k = settings.type_v = _F32
        settings.flash_attn_type = _NO_FLASH_ATTENTION
        settings.offload_kqv = settings.op_offload = False
        # A sliding window's cache holds all positions, also those that have left the window, since
        # rewinding brings them back.
        settings.swa_full = True
        with errors_of_llama() as errors:
            context = llama_cpp.llama_init_from_model(self._model, settings)
        if not context:
            raise ModelFilesError(
                f"{self._path}: expected memory for a text of {self.context:,} positions, found "
                f"that llama.cpp gives none ({reason(errors)}); use a smaller context=..."
            )
        return context

    def _require_causal(self) -> None:
        buffer = ctypes.create_string_buffer(64)
        name = b"general.architecture"
        llama_cpp.llama_model_meta_val_str(self._model, name, buffer, len(buffer))
        family = buffer.value
        found = llama_cpp.llama_model_meta_val_str(
            self._model, family + b".attention.causal", buffer, len(buffer)
        )
        if (
            (found > 0 and buffer.value == b"false")
            or llama_cpp.llama_model_has_encoder(self._model)
            or llama_cpp.llama_model_is_diffusion(self._model)
        ):
            raise ModelFilesError(
                f"{self._path}: expected a causal language model, found {family.decode()}, which "
                f"does not only look back; choose a model that continues texts"
            )


class Cache:
    """What a Network has read of one text. It goes back to the network when it is dropped.

    Args:
        network: computes.
        context: of llama.cpp, which has read nothing.
    """

    def __init__(self, network: Network, context: Any) -> None:
        self._width = network.width
        self._context = context
        self._memory = llama_cpp.llama_get_memory(context)
        self._length = 0
        weakref.finalize(self, network.take_back, context)

    def read(self, ids: Sequence[int]) -> Logits:
        """Read at least one id: logits float32[width] after the last, read-only."""
        for part in _parts(ids):
            self._read(part, every=False)
        return self._logits(_ALL)

    def read_all(self, ids: Sequence[int]) -> Logits:
        """Read at least one id: logits float32[len(ids), width] after each."""
        rows = np.empty((len(ids), self._width), np.float32)
        done = 0
        for part in _parts(ids):
            self._read(part, every=True)
            for at in range(len(part)):
                rows[done + at] = self._logits(at)
            done += len(part)
        return rows

    def forget(self, count: int) -> bool:
        """Forget the last `count` ids. False if this model cannot; then nothing is changed.

        A cache of attention can; a recurrent state cannot be turned back.
        """
        left = self._length - count
        done = bool(llama_cpp.llama_memory_seq_rm(self._memory, 0, left, _ALL))
        if done:
            self._length = left
        return done

    def clear(self) -> None:
        """Forget everything."""
        llama_cpp.llama_memory_clear(self._memory, True)
        self._length = 0

    def _read(self, part: Sequence[int], *, every: bool) -> None:
        batch = llama_cpp.llama_batch_init(len(part), 0, 1)
        try:
            batch.n_tokens = len(part)
            for at, token in enumerate(part):
                batch.token[at] = token
                batch.pos[at] = self._length + at
                batch.n_seq_id[at] = 1
                batch.seq_id[at][0] = 0
                batch.logits[at] = every or at == len(part) - 1
            failed = llama_cpp.llama_decode(self._context, batch)
        finally:
            llama_cpp.llama_batch_free(batch)
        if failed:
            raise ModelFilesError(
                f"expected llama.cpp to read {len(part)} ids after {self._length:,}, found that it "
                f"failed with code {failed}; use a smaller context=..."
            )
        self._length += len(part)

    def _logits(self, at: int) -> Logits:
        """A copy of those after id `at` of the last part; llama.cpp writes into its own again."""
        found = llama_cpp.llama_get_logits_ith(self._context, at)
        logits: Logits = np.ctypeslib.as_array(found, (self._width,)).copy()
        logits.setflags(write=False)
        return logits


def _parts(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    return (ids[at : at + _PART] for at in range(0, len(ids), _PART))


def _free(model: Any, contexts: list[Any]) -> None:
    for context in contexts:
        llama_cpp.llama_free(context)
    llama_cpp.llama_model_free(model)
