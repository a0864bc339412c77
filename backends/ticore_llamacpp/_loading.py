"""From a GGUF file to a model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ticore.backend_kit.checkpoint import open_gguf_files, require_fits
from ticore.interfaces import ChatTemplate, TokenizerLoader

from ._model import LlamaCppModel
from ._network import Network
from ._options import parse_options


def load(
    location: str, load_tokenizer: TokenizerLoader, options: Mapping[str, object]
) -> LlamaCppModel:
    """Load the model in the GGUF file `location`.

    Args:
        location: the path of the file.
        load_tokenizer: opens the tokenizer in it.
        options: `context`, `threads` and `tokenizer`; see `Options`.

    Raises:
        ModelFilesError: there is no GGUF file; it is damaged, or of a kind that llama.cpp, or its
            tokenizer that ticore, does not support.
        SettingsError: an unknown option, or a value it does not take.
    """
    chosen = parse_options(options)
    files = open_gguf_files(Path(location))
    # Our reader refuses damaged files with an error; in llama.cpp they may end the process.
    template = files.chat_template
    tokenizer = files.open_tokenizer(load_tokenizer, chosen.tokenizer)
    network = Network(files.path, chosen.context, chosen.threads)
    require_fits(files.path, tokenizer, network.width)
    bos, ends = files.separators(network.width)
    return LlamaCppModel(
        network,
        tokenizer,
        path=files.path,
        start=files.find_start_token(bos, next(iter(ends), None), network.width),
        eos_ids=frozenset(ends),
        template=None if template is None else ChatTemplate(template, files.special_tokens),
    )
