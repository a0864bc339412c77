"""The tokenizer of a folder as transformers opens it, which may differ from its tokenizer.json.

transformers reads tokenizer_config.json too. If a class named there has steps of its own, such as
`LlamaTokenizer`, it takes only the vocabulary and the merges of the tokenizer.json.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from ticore.errors import MissingExtraError, ModelFilesError

from ._tokenizer import HuggingFaceTokenizer


def open_as_transformers(folder: str | Path) -> HuggingFaceTokenizer:
    """The tokenizer that `AutoTokenizer.from_pretrained(folder)` gives.

    Nothing is fetched, and no code in the folder is run.

    Raises:
        MissingExtraError: transformers is not installed.
        ModelFilesError: there is no such folder, or transformers does not open a fast tokenizer
            there; its `decode` removes spaces before punctuation; or it splits special tokens.
    """
    if not Path(folder).is_dir():
        raise ModelFilesError(
            f"{folder}: expected a folder with tokenizer_config.json, found none; check the path"
        )
    with _quiet() as auto_tokenizer:
        try:
            found = auto_tokenizer.from_pretrained(
                str(folder), local_files_only=True, trust_remote_code=False
            )
        except Exception as error:
            raise ModelFilesError(
                f"{folder}: expected a tokenizer that transformers opens, found one that it does "
                f"not ({type(error).__name__}: {str(error)[:200]}); open a file in it"
            ) from None
    inner = getattr(found, "backend_tokenizer", None)
    if inner is None:
        raise ModelFilesError(
            f"{folder}: expected a fast tokenizer of transformers, found {type(found).__name__}; "
            f"open a file in it"
        )
    try:
        require_exact(found, inner)
        return HuggingFaceTokenizer(inner)
    except ModelFilesError as error:
        raise ModelFilesError(f"{folder}: {error}") from None


def require_exact(found: Any, inner: Any) -> None:
    """Refuse a tokenizer whose options change what its library writes or reads.

    Args:
        found: of tokenizers or of transformers. That of the latter sets the former at each call.
        inner: the tokenizer of tokenizers in it.

    Raises:
        ModelFilesError: its `decode` removes spaces before punctuation, or it reads the name of a
            special token as ordinary text.
    """
    if _cleans_up(found, inner):
        raise ModelFilesError(
            "expected a tokenizer that writes its tokens as they are, found "
            "clean_up_tokenization_spaces, by which transformers removes spaces before "
            "punctuation; set it to false, in a folder in tokenizer_config.json"
        )
    for name in ("split_special_tokens", "encode_special_tokens"):
        if hasattr(found, name):
            if getattr(found, name):
                raise ModelFilesError(
                    f"expected a tokenizer that reads the name of a special token as this token, "
                    f"found {name}, by which it reads ordinary text; set it to False"
                )
            return


def _cleans_up(found: Any, inner: Any) -> bool:
    """Whether its `decode` changes spaces. For BPE transformers does so only if it is forced to."""
    forced = "clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output"
    is_bpe = type(inner.model).__name__ == "BPE"
    return bool(
        getattr(found, "clean_up_tokenization_spaces", False)
        and (not is_bpe or getattr(found, forced, False))
    )


@contextmanager
def _quiet() -> Iterator[Any]:
    """AutoTokenizer, whose warnings are not shown in the block."""
    try:
        transformers = import_module("transformers")
    except ModuleNotFoundError:
        raise MissingExtraError(
            "FOLDER#transformers needs the package transformers, which is not installed; "
            "run: pip install transformers"
        ) from None
    logging = transformers.utils.logging
    before = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        yield transformers.AutoTokenizer
    finally:
        logging.set_verbosity(before)
