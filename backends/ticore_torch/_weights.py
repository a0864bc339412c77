"""The files of a model read by transformers, with nothing missing and nothing left over.

What transformers would only warn of, weights that it makes up because none are stored, is refused:
a network that is almost the model answers with numbers that are almost right.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any, cast

import torch
from transformers import (
    MODEL_FOR_CAUSAL_LM_MAPPING,
    AutoConfig,
    AutoModelForCausalLM,
    PreTrainedConfig,
    PreTrainedModel,
)
from transformers.utils import logging as _logging

from ticore.backend_kit import first_line
from ticore.backend_kit.checkpoint import ModelFiles, Tensors, within_memory
from ticore.errors import ModelFilesError, TicoreError, shown

from ._options import Options
from ._precision import PROCESS_SETTINGS, widened

log: Any = _logging  # not all of it is annotated

# Types in which a GGUF file's tensors come.
_TYPES = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}


def read_config(files: ModelFiles, options: Options) -> PreTrainedConfig:
    """The settings in `files`.

    Raises:
        ModelFilesError: they are damaged, transformers does not know their kind of
            model, or it does not read from left to right.
    """
    path, auto = files.settings_name, cast(Any, AutoConfig)  # not all of it is annotated
    if (other := files.settings.get("transformers_weights")) is not None:
        raise ModelFilesError(
            f"{path}: expected the weights in model.safetensors, found transformers_weights that "
            f"names {shown(other)}, whose content no digest would cover; rename the file, and "
            f"remove the field"
        )
    with asking(path):
        config: PreTrainedConfig = (
            auto.from_pretrained(
                files.path, trust_remote_code=options.trust_remote_code, local_files_only=True
            )
            if files.path.is_dir()
            else auto.for_model(**deepcopy(dict(files.settings)))  # it changes what it is given
        )
        if config.is_encoder_decoder:
            raise ModelFilesError(
                f"{path}: expected a causal language model, found {config.model_type!r}, which "
                f"also has an encoder; choose a model that continues texts"
            )
    return config


def read_network(files: ModelFiles, config: PreTrainedConfig, options: Options) -> PreTrainedModel:
    """The model of `config` with its weights, in the dtype and on the device of `options`.

    Raises:
        ModelFilesError: no weights, damaged ones, or tensors that do not fit the config.
    """
    # The fused kernel for mixtures of experts has no float64.
    plain = {"experts_implementation": "eager"} if options.dtype is torch.float64 else {}
    common: dict[str, Any] = {
        "config": config,
        "dtype": options.dtype,
        "local_files_only": True,
        "ignore_mismatched_sizes": True,  # reported, and refused below with their names
        "output_loading_info": True,
        **plain,
    }
    with asking(files.path), within_memory(files.path, "model"):
        state = None if files.path.is_dir() else _state(files.tensors)
        with widened(options.dtype):
            if state is None:
                loaded: Any = AutoModelForCausalLM.from_pretrained(
                    files.path,
                    trust_remote_code=options.trust_remote_code,
                    use_safetensors=True,
                    **common,
                )
            else:
                kind: Any = MODEL_FOR_CAUSAL_LM_MAPPING[type(config)]
                loaded = kind.from_pretrained(None, state_dict=state, **common)
        del state
        network, report = loaded
        _check_tensors(files.path, report)
        moved: PreTrainedModel = network.to(options.device).eval()
    return moved


def _state(tensors: Tensors) -> dict[str, torch.Tensor]:
    """All tensors in memory of their own: the network keeps what it need not convert."""
    state = {}
    for name, tensor in tensors.items():
        data = tensor.data if tensor.unpack else tensor.data.copy()
        state[name] = torch.from_numpy(data).view(_TYPES[tensor.code]).reshape(tensor.shape)
    return state


@contextmanager
def asking(path: Path | str) -> Iterator[None]:
    """Silence the output of transformers, and turn its errors into a ModelFilesError.

    One thread at a time, and none while a forward pass runs: transformers sets what holds for the
    whole process, and reads the default dtype, which a forward pass changes.
    """
    with PROCESS_SETTINGS:
        yield from _asking(path)


def _asking(path: Path | str) -> Iterator[None]:
    verbosity, bars = log.get_verbosity(), log.is_progress_bar_enabled()
    log.set_verbosity(log.CRITICAL)
    log.disable_progress_bar()
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    except TicoreError:
        raise
    except Exception as error:
        raise ModelFilesError(
            f"{path}: expected a causal language model that transformers can run, found one that "
            f"is damaged or not supported ({first_line(error)}); check the files, or fetch them "
            f"again"
        ) from error
    finally:
        log.set_verbosity(verbosity)
        if bars:
            log.enable_progress_bar()


def _check_tensors(folder: Path, report: dict[str, Any]) -> None:
    for name, stored, wanted in sorted(report["mismatched_keys"]):
        raise ModelFilesError(
            f"{folder}: expected {name} to have shape {tuple(wanted)}, found {tuple(stored)}; "
            f"check that config.json belongs to these weights"
        )
    for name in sorted(report["missing_keys"]):
        raise ModelFilesError(
            f"{folder}: expected a tensor {name}, found none of that name; "
            f"check that config.json belongs to these weights"
        )
    for name in sorted(report["unexpected_keys"]):
        raise ModelFilesError(
            f"{folder}: expected only tensors that config.json calls for, found {name} as well; "
            f"check that config.json belongs to these weights"
        )
