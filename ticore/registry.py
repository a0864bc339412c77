"""Finds models and tokenizers through entry points, and variants such as codecs by their names.

A place is one string: `BACKEND:LOCATION`, or the bare name of a model that is bundled with a
backend or was installed by `ticore models add`. A third party adds a backend by declaring an entry
point; this module knows no backend by name.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TypeVar, cast, overload

from . import _installed_models as installed_models
from ._support.deprecation import warn_deprecated
from ._support.installing import how_to_install
from .errors import MissingExtraError, SettingsError, UnknownPlaceError, WrongTypeError, shown
from .interfaces import (
    AdoptingBackend,
    AdoptingModelBackend,
    LanguageModel,
    ModelBackend,
    Tokenizer,
    TokenizerBackend,
    TokenizerOpeningBackend,
)

MODELS, TOKENIZERS = "ticore.models", "ticore.tokenizers"

_T = TypeVar("_T")


@dataclass(frozen=True)
class BackendEntry:
    """A backend that is declared on this machine, usable or not.

    Attributes:
        name: the part of a place before the colon.
        backend: the loaded backend; None if it cannot be loaded.
        problem: what is missing if it cannot be loaded; else None.
    """

    name: str
    backend: ModelBackend | None
    problem: str | None = None


def load_model(place: str, **options: object) -> LanguageModel:
    """Open a model, such as `tiny-en` or `torch:/path/to/dir`.

    Args:
        place: `BACKEND:LOCATION`, or the name of a bundled or installed model (see
            `ticore models`). A location may be such a name too, unless a file has this name:
            `torch:tiny-en` opens the bundled files with torch.
        options: for the backend, such as `dtype="float32"`. Every backend opens a bundled model in
            float64, so that other machines reproduce its logits, and any other model in float32.

    Returns:
        The model, with its tokenizer.

    Raises:
        UnknownPlaceError: there is no such backend or bundled model.
        MissingExtraError: the backend's packages are not installed.
        ModelFilesError: the files at the location are missing or damaged.
        SettingsError: the backend does not know an option.
        WrongTypeError: the place is not a str.

    >>> load_model("tiny-en").tokenizer.vocab_size
    4096
    """
    _require_place(place)
    name, separator, location = place.partition(":")
    if not separator:
        name, location = _backend_of(place), place
    backend = cast(ModelBackend, _load(_entry(MODELS, name, place)))
    found, defaults = _found(location, backend)
    return backend.load(found, load_tokenizer, {**defaults, **options})


def load_tokenizer(place: str) -> Tokenizer:
    """Open a tokenizer, such as `sentencepiece:/path/tokenizer.model`.

    Args:
        place: `BACKEND:LOCATION`, or the name of a bundled or installed model for that model's
            tokenizer. The model itself is not opened if its backend can do without.

    Returns:
        The tokenizer.

    Raises:
        UnknownPlaceError: there is no such backend or bundled model.
        MissingExtraError: the backend's packages are not installed.
        ModelFilesError: the file at the location is missing or damaged.
        WrongTypeError: the place is not a str.
    """
    _require_place(place)
    name, separator, location = place.partition(":")
    if not separator:
        return _tokenizer_of(place)
    backend = cast(TokenizerBackend, _load(_entry(TOKENIZERS, name, place)))
    return backend.load(os.path.expanduser(location))  # a place is no Path


@overload
def wrap(found: Tokenizer | object) -> Tokenizer: ...


@overload
def wrap(found: LanguageModel | object, tokenizer: Tokenizer | object) -> LanguageModel: ...


def wrap(
    found: Tokenizer | LanguageModel | object, tokenizer: Tokenizer | object | None = None
) -> Tokenizer | LanguageModel:
    """A tokenizer or a model of another library that is in memory, as ticore uses it.

    `wrap(tokenizer)` gives a Tokenizer. Every function that takes a tokenizer calls it, so a
    tokenizer of transformers (fast, or slow with a SentencePiece model inside), tokenizers,
    sentencepiece or tiktoken can be given as it is. Special tokens that it would add to a text,
    such as a start token, are left out. The results for the last four tokenizers are cached. Of
    later changes to the original, only added tokens are noticed.

    `wrap(model, tokenizer)` gives a LanguageModel. The network is shared, not copied.

    Args:
        found: a tokenizer; or a model, such as `AutoModelForCausalLM.from_pretrained` returns.
        tokenizer: for a model, its own tokenizer, as the same library opens it.

    Returns:
        The Tokenizer or LanguageModel. A Tokenizer is given back as it is.

    Raises:
        SettingsError: no installed backend knows such an object, or the model and the tokenizer do
            not fit.
        ModelFilesError: it is a tokenizer or a model that cannot be adapted exactly.

    >>> import ticore
    >>> tokenizer = ticore.load_tokenizer("tiny-en")
    >>> ticore.wrap(tokenizer) is tokenizer
    True
    """
    if tokenizer is not None:
        return _wrapped_model(found, tokenizer)
    return _wrapped_tokenizer(found)


def as_tokenizer(found: Tokenizer | object) -> Tokenizer:
    """The old name of `wrap`, for a tokenizer."""
    warn_deprecated("registry.as_tokenizer", "ticore.wrap")
    return wrap(found)


def as_model(found: LanguageModel | object, tokenizer: Tokenizer | object) -> LanguageModel:
    """The old name of `wrap`, for a model."""
    warn_deprecated("registry.as_model", "ticore.wrap")
    return wrap(found, tokenizer)


def _wrapped_model(found: object, tokenizer: object) -> LanguageModel:
    adapted = wrap(tokenizer)
    for entry in model_backends():
        if isinstance(entry.backend, AdoptingModelBackend):
            adopted = entry.backend.adopt(found, adapted, tokenizer)
            if adopted is not None:
                return adopted
    raise SettingsError(
        f"expected a model that a backend knows, such as one of transformers, found "
        f"{_described(found)}; open one with ticore.load_model('BACKEND:LOCATION')"
    )


def _wrapped_tokenizer(tokenizer: object) -> Tokenizer:
    if hasattr(tokenizer, "token_bytes"):
        return cast(Tokenizer, tokenizer)
    size = _size(tokenizer)
    for known, known_size, adopted in list(_ADOPTED):
        if known is tokenizer and known_size == size:
            return adopted
    for entry in [] if isinstance(tokenizer, str | Path) else entry_points(group=TOKENIZERS):
        try:
            backend = _load(entry)
        except MissingExtraError:
            continue  # Its library is not installed, so this is not one of its tokenizers.
        adopted_now = backend.adopt(tokenizer) if isinstance(backend, AdoptingBackend) else None
        if adopted_now is not None:
            # While the original is cached, no other object has the same identity.
            _ADOPTED[:] = [(tokenizer, size, adopted_now), *_ADOPTED[: _MOST_ADOPTED - 1]]
            return adopted_now
    raise SettingsError(
        f"expected a tokenizer of ticore, transformers, tokenizers, sentencepiece or tiktoken, "
        f"found {_described(tokenizer)}; {_how_to_get_a_tokenizer(tokenizer)}"
    )


def require_model(found: LanguageModel | object) -> None:
    """Refuse an object that is not a LanguageModel, such as a network of transformers.

    Raises:
        SettingsError: it is not one; the text says how to open one.
    """
    if not (hasattr(found, "tokenizer") and hasattr(found, "logit_width")):
        raise SettingsError(
            f"expected a model as ticore.load_model opens it, found {_described(found)}; "
            f"{_how_to_get_a_model(found)}"
        )


_FROM_FILES = (
    "open it from its files: ticore.load_model('torch:DIR') reads what save_pretrained('DIR') of "
    "transformers writes, for the model and for its tokenizer"
)


def _how_to_get_a_model(found: object) -> str:
    if isinstance(found, str):
        return f"open the one of this name: ticore.load_model({shown(found)})"
    return f"wrap a network with its tokenizer, ticore.wrap(network, tokenizer), or {_FROM_FILES}"


def _how_to_get_a_tokenizer(found: object) -> str:
    if isinstance(found, str):
        return f"open the one of this name: ticore.load_tokenizer({shown(found)})"
    if hasattr(found, "logit_width"):
        return "give the model's tokenizer: model.tokenizer"
    if hasattr(found, "generate") and hasattr(found, "config"):
        return (
            "this is a network: give its tokenizer, or wrap both: ticore.wrap(network, tokenizer)"
        )
    return "open one with ticore.load_tokenizer('BACKEND:LOCATION')"


_MOST_ADOPTED = 4
# The last few tokenizers of other libraries: the object, its number of tokens, our Tokenizer. Two
# threads that wrap the same one at once get two Tokenizers that do the same.
_ADOPTED: list[tuple[object, int, Tokenizer]] = []


def _size(found: object) -> int:
    """The number of tokens of another library's tokenizer, with added ones; 0 if not known."""
    if isinstance(size := getattr(found, "n_vocab", None), int):  # tiktoken
        return size
    count = getattr(found, "get_vocab_size", None) or getattr(found, "__len__", None)
    try:
        return int(count()) if callable(count) else 0
    except TypeError:  # a class has `__len__`, but no length
        return 0


def _described(found: object) -> str:
    if isinstance(found, str | Path):
        return f"the text {str(found)!r}"
    return f"a {type(found).__module__}.{type(found).__qualname__}"


def model_backends() -> list[BackendEntry]:
    """All model backends that are declared on this machine, sorted by name."""
    found = []
    for entry in sorted(entry_points(group=MODELS), key=lambda e: e.name):
        try:
            found.append(BackendEntry(entry.name, cast(ModelBackend, _load(entry))))
        except MissingExtraError as error:
            found.append(BackendEntry(entry.name, None, str(error)))
        except Exception as error:  # of another package, which may do anything
            problem = f"the entry point {entry.name!r} cannot be loaded: {error}"
            found.append(BackendEntry(entry.name, None, problem))
    return found


def lookup(kind: str, bundled: Mapping[str, _T], name: str, group: str | None = None) -> _T:
    """The variant called `name`: a bundled one, or one that another package declares.

    Args:
        kind: what it is, for the error text: `codec`.
        bundled: variants of this package, by name.
        name: of the variant.
        group: the group of entry points for other packages' variants, such as `ticore.codecs`. A
            bundled variant is never replaced by one of the same name.

    Returns:
        The variant.

    Raises:
        SettingsError: there is no variant of this name; the text lists all names.
        MissingExtraError: the package that declares it cannot be imported.
    """
    if name in bundled:
        return bundled[name]
    declared = {} if group is None else {entry.name: entry for entry in entry_points(group=group)}
    if name in declared:
        return cast(_T, _load(declared[name]))
    known = ", ".join(sorted({*bundled, *declared}))
    raise SettingsError(f"unknown {kind} {shown(name)}: choose one of {known}")


def _require_place(place: object) -> None:
    if not isinstance(place, str):
        raise WrongTypeError(
            f"expected a place as a str, such as tiny-en or torch:DIR, found "
            f"{type(place).__name__}; for a path write f'torch:{{path}}'"
        )


def _found(location: str, backend: ModelBackend) -> tuple[str, Mapping[str, object]]:
    """Where to open a model, and with which options unless the caller says otherwise.

    A bundled model is opened from its folder by any backend, an installed one from its file; other
    locations are left as they are.
    """
    if location in backend.shipped:
        return location, _shipped_options(backend, location)
    if not os.path.exists(location):  # False also for what no path can be
        if (installed := installed_models.find(location)) is not None:
            return str(installed.path), {}
        for entry in model_backends():
            if entry.backend is not None and location in entry.backend.shipped:
                folder = entry.backend.folder(location)
                if folder is not None:
                    return str(folder), _shipped_options(entry.backend, location)
    return location, {}


def _tokenizer_of(model: str) -> Tokenizer:
    """The tokenizer of a bundled or installed model."""
    backend = _load(_entry(MODELS, _backend_of(model), model))
    if isinstance(backend, TokenizerOpeningBackend):
        location, _ = _found(model, backend)
        return backend.open_tokenizer(location, load_tokenizer)
    return load_model(model).tokenizer


def _shipped_options(backend: ModelBackend, model: str) -> Mapping[str, object]:
    stated: Mapping[str, Mapping[str, object]] = getattr(backend, "shipped_options", {})
    return stated.get(model, {})


def _backend_of(model: str) -> str:
    """The backend of a model that is named alone."""
    shipped: dict[str, str] = {}
    for entry in model_backends():
        if entry.backend is not None:
            shipped |= dict.fromkeys(entry.backend.shipped, entry.name)
    if model in shipped:
        return shipped[model]
    if installed_models.find(model) is not None:
        return installed_models.BACKEND
    if model in installed_models.CATALOGUE:
        raise UnknownPlaceError(
            f"the model {model!r} is not installed; run: ticore models add {model}"
        )
    known = ", ".join(sorted({*shipped, *installed_models.CATALOGUE})) or "none"
    raise UnknownPlaceError(
        f"no model is called {model!r} (there are: {known}); "
        f"to open a model from files, write BACKEND:LOCATION"
    )


def _entry(group: str, name: str, place: str) -> EntryPoint:
    known = {entry.name: entry for entry in entry_points(group=group)}
    if name not in known:
        kind = group.rpartition(".")[2]
        raise UnknownPlaceError(
            f"{place!r}: no backend for {kind} is called {name!r}; "
            f"installed are: {', '.join(sorted(known)) or 'none'}"
        )
    return known[name]


def _load(entry: EntryPoint) -> object:
    try:
        return entry.load()
    except ModuleNotFoundError as error:
        extra = ",".join(entry.extras)
        remedy = (
            how_to_install(extra, entry.dist)
            if extra
            else "install the package that has this module"
        )
        raise MissingExtraError(
            f"the entry point {entry.name!r} needs the package {error.name!r}, "
            f"which is not installed; {remedy}"
        ) from error
