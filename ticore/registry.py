"""Finding things by name: models and tokenizers through entry points, variants in their packages.

A place is one string, `BACKEND:LOCATION`, or the bare name of a model that ships with a backend.
A third party adds a backend by declaring an entry point; nothing here knows any backend by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TypeVar, cast

from .errors import MissingExtraError, SettingsError, UnknownPlaceError, WrongTypeError
from .installing import how_to_install
from .interfaces import (
    AdoptingBackend,
    LanguageModel,
    ModelBackend,
    Tokenizer,
    TokenizerBackend,
)

MODELS, TOKENIZERS = "ticore.models", "ticore.tokenizers"

_T = TypeVar("_T")


@dataclass(frozen=True)
class BackendEntry:
    """A backend that is known here, usable or not.

    Attributes:
        name: the part of a place before the colon.
        backend: the loaded backend, or None where `problem` says what is missing.
    """

    name: str
    backend: ModelBackend | None
    problem: str | None = None


def load_model(place: str, **options: object) -> LanguageModel:
    """Open the model at `place`, such as `tiny-en` or `embedded:/path/to/dir`.

    Args:
        place: `BACKEND:LOCATION`, or the name of an embedded model. A location may be such a name
            as well, unless a file is called so: `torch:tiny-en` opens the same files with torch.
        options: passed to the backend, such as `dtype="float32"`.

    Raises:
        UnknownPlaceError: no such backend or embedded model.
        MissingExtraError: the backend's packages are not installed.
        ModelFilesError: the files at the location are missing or damaged.
        SettingsError: the backend does not know an option.

    >>> load_model("tiny-en").tokenizer.vocab_size
    4096
    """
    _require_place(place)
    name, separator, location = place.partition(":")
    if not separator:
        name, location = _shipping_backend(place), place
    backend = cast(ModelBackend, _load(_entry(MODELS, name, place)))
    return backend.load(_found(location, backend), load_tokenizer, options)


def load_tokenizer(place: str) -> Tokenizer:
    """Open the tokenizer at `place`, such as `sentencepiece:/path/tokenizer.model`.

    The name of an embedded model opens that model's tokenizer.

    Raises:
        UnknownPlaceError, MissingExtraError, ModelFilesError: as `load_model`.
    """
    _require_place(place)
    name, separator, location = place.partition(":")
    if not separator:
        return load_model(place).tokenizer
    backend = cast(TokenizerBackend, _load(_entry(TOKENIZERS, name, place)))
    return backend.load(location)


def as_tokenizer(found: Tokenizer | object) -> Tokenizer:
    """`found` if it is a Tokenizer, or what a backend makes of another library's tokenizer.

    So a tokenizer of transformers, tokenizers or sentencepiece can be given wherever a Tokenizer
    is taken. Special tokens that it would add to a text, such as a beginning, are left out. It is
    converted once; of later changes to it, only that tokens were added is noticed.

    Raises:
        SettingsError: it is nothing that a backend here knows.
        ModelFilesError: it is a tokenizer that cannot be adapted.
    """
    if hasattr(found, "token_bytes"):
        return cast(Tokenizer, found)
    size = _size(found)
    for known, known_size, adopted in _ADOPTED:
        if known is found and known_size == size:
            return adopted
    for entry in [] if isinstance(found, str | Path) else entry_points(group=TOKENIZERS):
        try:
            backend = _load(entry)
        except MissingExtraError:
            continue  # so its library has made no tokenizer
        adopted_now = backend.adopt(found) if isinstance(backend, AdoptingBackend) else None
        if adopted_now is not None:
            # While one is kept, no other object has the same identity.
            _ADOPTED[:] = [(found, size, adopted_now), *_ADOPTED[: _KEPT - 1]]
            return adopted_now
    raise SettingsError(
        f"expected a tokenizer, as ticore.load_tokenizer opens it or transformers, tokenizers or "
        f"sentencepiece do, found {_described(found)}; open one with "
        f"ticore.load_tokenizer('BACKEND:LOCATION')"
    )


def require_model(found: LanguageModel | object) -> None:
    """Raises SettingsError where `found` is no LanguageModel, such as a network of transformers."""
    if not (hasattr(found, "tokenizer") and hasattr(found, "logit_width")):
        raise SettingsError(
            f"expected a model as ticore.load_model opens it, found {_described(found)}; open it "
            f"from its files: ticore.load_model('torch:DIR') reads what save_pretrained('DIR') of "
            f"transformers writes, for the model and for its tokenizer"
        )


_KEPT = 4
# The last few tokenizers of other libraries, how many tokens they had, and what they became.
_ADOPTED: list[tuple[object, int, Tokenizer]] = []


def _size(found: object) -> int:
    """How many tokens another library's tokenizer has, added ones among them; 0 if not known."""
    count = getattr(found, "get_vocab_size", None) or getattr(found, "__len__", None)
    return int(count()) if callable(count) else 0


def _described(found: object) -> str:
    if isinstance(found, str | Path):
        return f"the text {str(found)!r}"
    return f"a {type(found).__module__}.{type(found).__qualname__}"


def model_backends() -> list[BackendEntry]:
    """All model backends that are declared on this machine, by name."""
    found = []
    for entry in sorted(entry_points(group=MODELS), key=lambda e: e.name):
        try:
            found.append(BackendEntry(entry.name, cast(ModelBackend, _load(entry))))
        except MissingExtraError as error:
            found.append(BackendEntry(entry.name, None, str(error)))
    return found


def choose(kind: str, variants: Mapping[str, _T], name: str) -> _T:
    """The variant called `name`, or a SettingsError that lists the names there are."""
    try:
        return variants[name]
    except KeyError:
        known = ", ".join(sorted(variants))
        raise SettingsError(f"unknown {kind} {name!r}: choose one of {known}") from None


def _require_place(place: object) -> None:
    if not isinstance(place, str):
        raise WrongTypeError(
            f"expected a place as a str, such as tiny-en or torch:DIR, found "
            f"{type(place).__name__}; for a path write f'torch:{{path}}'"
        )


def _found(location: str, backend: ModelBackend) -> str:
    """The folder of a model that ships with another backend; any other location as it is."""
    if location in backend.shipped or Path(location).exists():
        return location
    for entry in model_backends():
        if entry.backend is not None and location in entry.backend.shipped:
            folder = entry.backend.folder(location)
            return location if folder is None else str(folder)
    return location


def _shipping_backend(model: str) -> str:
    shipped: dict[str, str] = {}
    for entry in model_backends():
        if entry.backend is not None:
            shipped |= dict.fromkeys(entry.backend.shipped, entry.name)
    if model not in shipped:
        known = ", ".join(sorted(shipped)) or "none"
        raise UnknownPlaceError(
            f"no embedded model is called {model!r} (there are: {known}); "
            f"to open a model from files, write BACKEND:LOCATION"
        )
    return shipped[model]


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
            f"the backend {entry.name!r} needs the package {error.name!r}, "
            f"which is not installed; {remedy}"
        ) from error
