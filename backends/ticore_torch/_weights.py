"""The directory of a model read by transformers, with nothing missing and nothing left over.

What transformers would only warn of, weights that it makes up because none are stored, is refused:
a network that is almost the model answers with numbers that are almost right.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedConfig, PreTrainedModel
from transformers.utils import logging as _logging

from ticore.errors import ModelFilesError, TicoreError

from ._options import Options
from ._places import first_line
from ._precision import widened

log: Any = _logging  # not all of it is annotated


def require_config(folder: Path) -> None:
    """Raise ModelFilesError where there is no config.json in `folder`."""
    if not (folder / "config.json").is_file():
        raise ModelFilesError(
            f"{folder}: expected config.json, found no such file; name a directory that "
            f"transformers' save_pretrained wrote"
        )


def read_config(folder: Path, options: Options) -> PreTrainedConfig:
    """The config.json in `folder`.

    Raises:
        ModelFilesError: it is damaged, transformers does not know its kind of
            model, or it does not read from left to right.
    """
    path = folder / "config.json"
    with asking(path):
        config: PreTrainedConfig = AutoConfig.from_pretrained(
            folder, trust_remote_code=options.trust_remote_code, local_files_only=True
        )
        if config.is_encoder_decoder:
            raise ModelFilesError(
                f"{path}: expected a causal language model, found {config.model_type!r}, which "
                f"also has an encoder; choose a model that continues texts"
            )
    return config


def read_network(folder: Path, config: PreTrainedConfig, options: Options) -> PreTrainedModel:
    """The model of `config` with its weights, in the dtype and on the device of `options`.

    Raises:
        ModelFilesError: no safetensors files, damaged ones, or tensors that do not fit the config.
    """
    # The fused kernel for mixtures of experts has no float64.
    plain = {"experts_implementation": "eager"} if options.dtype is torch.float64 else {}
    with asking(folder), widened(options.dtype):
        loaded: Any = AutoModelForCausalLM.from_pretrained(
            folder,
            config=config,
            dtype=options.dtype,
            trust_remote_code=options.trust_remote_code,
            local_files_only=True,
            use_safetensors=True,
            ignore_mismatched_sizes=True,  # reported, and refused below with their names
            output_loading_info=True,
            **plain,
        )
        network, report = loaded
        _check_tensors(folder, report)
        moved: PreTrainedModel = network.to(options.device).eval()
    return moved


@contextmanager
def asking(path: Path) -> Iterator[None]:
    """Silence the output of transformers, and turn its errors into a ModelFilesError."""
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
