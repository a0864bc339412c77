"""What the two sides of a message agree on: every setting, and optionally the key and the model.

The digest of the settings is authenticated with each message. So two sides that differ in a setting
get an error and never a wrong message.

As a file, which `ticore agree` writes:

    {"format": "ticore-pact-1", "model": "tiny-en", "key": "9f…", "agreement": {…}}

`model`, `key` and `options` (such as {"dtype": "float64"}, for opening the model) may be missing.
The settings alone, the value of "agreement", are an agreement as well.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from os import PathLike
from typing import get_args

from .._support.atomic_files import write_atomically, write_new_secret
from .._support.checks import is_number, require, require_integer, require_number
from .._support.deprecation import warn_deprecated
from .._support.input_files import read_file
from .._support.secret_json import NOT_JSON, parsed_json, wrong_fields
from ..candidates import PoolSettings
from ..consistency import View
from ..errors import (
    AgreementError,
    CredentialError,
    InputFileError,
    OutputFileError,
    SettingsError,
    shown,
)
from ..keys import Key, load_key, parse_key
from ._frame_formats import Security
from ._keys import sealing_key
from ._portability import Numerics

FORMAT = "ticore-pact-1"
_FORMATS = "ticore-pact-"
_MOST_BYTES = 16 << 20  # the prompt may be as long as a context

# Changes whenever the meaning of the fields does: an old digest then never equals a new one.
_DIGEST_DOMAIN = b"ticore/agreement/1\n"
# Fields that came later are left out where they have the value that was implied before, so that
# texts and files from then can still be read.
_LATER = {
    "numerics": "same-stack",
    "prompt_ids": None,
    "channel": "identity",
    "security": "standard",
    "openers": None,
    "window": None,
    "edits": 0.0,
}
_MOST_PORTABLE_GRID_BITS = 10  # with a finer grid hardly any text stays within the tolerance
_LARGEST_SHARE_OF_EDITS = 0.5
_WIDEST = 2**31 - 1  # of windows; no model reads as many tokens
_LEAST_LEFT = 0.15  # of the tokens must stand where no edit reaches them
_BESIDE_EDITS = {"codec": "arithmetic", "disambiguation": "stepwise"}  # neither is used otherwise
_ACCESS = ("key", "model_place", "model_options")


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """The settings that both sides share, optionally with the key and the place of the model.

    The two sides agree exactly if their digests are equal.

    Attributes:
        model: digest of the model.
        tokenizer: digest of the tokenizer.
        prompt: the text that the model continues.
        view: what the reader retokenizes, `whole` (prompt and continuation) or `continuation`.
        mode: which lists of tokens a text may begin with, such as `prefix`.
        temperature, top_k, top_p, weight_bits, grid_bits: see `ticore.candidates.PoolSettings`.
        codec: name of the codec.
        disambiguation: name of the disambiguation.
        numerics: how the two sides compute, `same-stack` or `portable`; see
            `ticore.Steganographer`.
        prompt_ids: the ids that the model continues, where they are not those of a text, such as a
            conversation; then `prompt` is empty, and they are never sent.
        channel: name of what happens to the texts on their way; see `ticore.channels`.
        security: how messages are sealed, `standard` or `compact`; see `ticore.Steganographer`.
        openers: name of the list of openers, one of which each text begins with, such as `en-1`;
            then `prompt` is empty. None if all texts begin with `prompt`.
        window: how many of a text's last tokens the model sees beside the prompt; None: all.
        edits: the share of a text's tokens that may be edited on the way; needs a window.
        key: 32 bytes, or their hex digits; None if it is shared in another way. Not shown by repr
            and not part of the digest.
        model_place: what `load_model` opens, such as `tiny-en`; None if each side knows its own.
            If another model is there, its digest differs.
        model_options: what else `load_model` takes, such as {"dtype": "float64"}.

    Raises:
        SettingsError: a field has another type or is out of range. Of names it is only checked
            that they are not empty: the registries know which there are.
        CredentialError: the key does not have 32 bytes, or is not a key.
    """

    model: str
    tokenizer: str
    prompt: str
    view: str
    mode: str
    temperature: float
    top_k: int | None
    top_p: float
    weight_bits: int
    grid_bits: int
    codec: str
    disambiguation: str
    numerics: Numerics = "same-stack"
    prompt_ids: tuple[int, ...] | None = None
    channel: str = "identity"
    security: Security = "standard"
    openers: str | None = None
    window: int | None = None
    edits: float = 0.0
    key: bytes | None = field(default=None, repr=False)
    model_place: str | None = None
    model_options: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        for name in ("model", "tokenizer", "mode", "codec", "disambiguation", "channel"):
            value = getattr(self, name)
            require(isinstance(value, str) and value != "", name, "a non-empty text", value)
        require(isinstance(self.prompt, str), "prompt", "a text", self.prompt)
        views = get_args(View)
        require(self.view in views, "view", f"one of {', '.join(views)}", self.view)
        if self.prompt_ids is not None:
            object.__setattr__(self, "prompt_ids", _ids(self.prompt_ids))
            require(self.prompt == "", "prompt", "no text beside prompt_ids", self.prompt)
            alone = self.view == "continuation"
            require(alone, "view", "continuation where the prompt is not a text", self.view)

        if self.openers is not None:
            named = isinstance(self.openers, str) and self.openers != ""
            require(named, "openers", "the name of a list such as en-1", self.openers)
            is_sent = self.view == "whole" and self.prompt_ids is None
            require(is_sent, "view", "whole beside openers, which are sent", self.view)

        for name, known in (("numerics", get_args(Numerics)), ("security", get_args(Security))):
            value = getattr(self, name)
            require(value in known, name, f"one of {', '.join(known)}", value)
        if self.window is not None:
            object.__setattr__(self, "window", require_integer("window", self.window, 1, _WIDEST))
        self._check_edits()
        pool = self.pool  # checks its settings
        if self.numerics == "portable":
            most = _MOST_PORTABLE_GRID_BITS
            fits = self.grid_bits <= most
            require(fits, "grid_bits", f"at most {most} where numerics is portable", self.grid_bits)

        # 1, 1.0 and NumPy's 1 are the same setting, and must have the same digest.
        for name in ("temperature", "top_k", "top_p", "grid_bits", "weight_bits"):
            object.__setattr__(self, name, getattr(pool, name))

        if self.key is not None:
            object.__setattr__(self, "key", sealing_key(self.key))
        place = self.model_place
        named = place is None or (isinstance(place, str) and place != "")
        require(named, "model_place", "a place such as tiny-en", place)
        options = self.model_options
        texts = isinstance(options, Mapping) and all(
            isinstance(part, str) for option in options.items() for part in option
        )
        require(texts, "model_options", "options that are texts", options)

    def _check_edits(self) -> None:
        """Whether messages can survive the share of edits. Raises SettingsError."""
        if self.edits == 0 and is_number(self.edits):
            return
        require_number("edits", self.edits, above=0, most=_LARGEST_SHARE_OF_EDITS)
        object.__setattr__(self, "edits", float(self.edits))
        window = self.window
        if window is None:
            raise SettingsError("window: expected one beside edits, such as 4, found None")
        left = (1 - self.edits) ** (window + 1)
        fits = left >= _LEAST_LEFT
        most = 1 - _LEAST_LEFT ** (1 / (window + 1))
        require(fits, "edits", f"at most {most:.2f} with a window of {window}", self.edits)
        for name, usual in _BESIDE_EDITS.items():
            value = getattr(self, name)
            require(value == usual, name, f"{usual} beside edits", value)

    @property
    def pool(self) -> PoolSettings:
        """The settings that shape a step's candidates."""
        return PoolSettings(
            temperature=self.temperature,
            top_k=self.top_k,
            top_p=self.top_p,
            grid_bits=self.grid_bits,
            weight_bits=self.weight_bits,
        )

    def digest(self) -> bytes:
        """SHA-256 of the shared settings alone, in a canonical form.

        That form is JSON with sorted keys, ASCII, no spaces, floats by `repr`.
        """
        canonical = json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(_DIGEST_DOMAIN + canonical.encode("ascii")).digest()

    def to_dict(self) -> dict[str, object]:
        """The shared settings by name, as JSON can hold them. Without key and model place."""
        values = {name: getattr(self, name) for name in _settings()}
        return {
            name: value
            for name, value in values.items()
            if name not in _LATER or value != _LATER[name]
        }

    @classmethod
    def from_dict(cls, values: object, source: str = "the agreement") -> Agreement:
        """The inverse of `to_dict`.

        Args:
            values: what should be a mapping with the settings.
            source: where it came from, for the error's text.

        Raises:
            AgreementError: a setting is unknown, missing, of another type or out of range.
        """
        named = _LATER | dict(values) if isinstance(values, Mapping) else values
        found = _exact_fields(named, _settings(), source)
        try:
            return cls(**found)  # type: ignore[arg-type]  # __post_init__ checks every type
        except SettingsError as error:
            raise AgreementError(f"{source}: {error}") from error

    def dumps(self) -> str:
        """The text of a file: ASCII, the same for equal agreements. It shows the key, if any."""
        document: dict[str, object] = {"format": FORMAT}
        if self.model_place is not None:
            document["model"] = self.model_place
        if self.key is not None:
            document["key"] = self.key.hex()
        document["agreement"] = self.to_dict()
        if self.model_options:
            document["options"] = dict(self.model_options)
        return json.dumps(document, indent=2) + "\n"

    @classmethod
    def loads(cls, text: str | bytes, source: str = "the agreement") -> Agreement:
        """The inverse of `dumps`.

        Args:
            text: the file's content; bytes in UTF-8.
            source: the file's name, for the error's text.

        Raises:
            AgreementError: `text` is not an agreement, or has another format. The error does not
                show the key.
        """
        document = parsed_json(text)
        if document is NOT_JSON:
            raise AgreementError(
                f"{source}: expected an agreement file, found something that is not JSON; "
                f"make one with: ticore agree -o FILE"
            )
        if isinstance(document, dict) and document.keys() >= set(_settings()) - _LATER.keys():
            return cls.from_dict(document, source)
        values = _of_format(document, source)
        agreement = cls.from_dict(values["agreement"], f"{source}: agreement")
        place, key, options = values["model"], values["key"], values["options"]
        if not all(value is None or (isinstance(value, str) and value) for value in (place, key)):
            raise AgreementError(
                f"{source}: expected the model and the key as non-empty texts, found something else"
            )
        if not (isinstance(options, dict) and all(isinstance(v, str) for v in options.values())):
            raise AgreementError(f"{source}: expected options that are texts, found something else")
        try:
            found = None if key is None else parse_key(str(key), f"{source}: key")
        except CredentialError as error:
            raise AgreementError(str(error)) from None
        model_place = None if place is None else str(place)
        return replace(agreement, key=found, model_place=model_place, model_options=options)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the agreement to a file, whole or not at all.

        With a key the file must be new, and only its owner can read it from the start. Without a
        key, an existing file is replaced if it holds no key.

        Raises:
            OutputFileError: the file cannot be written; or it exists, and it or this agreement
                holds a key.
        """
        data = self.dumps().encode()
        if self.key is not None:
            write_new_secret(path, data)
            return
        if _may_hold_key(path):
            raise OutputFileError(
                f"expected {path} to be a new file or one without a key, found one with a key, "
                f"which may be its only copy; remove it first, or choose another name"
            )
        write_atomically(path, data)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Agreement:
        """The agreement in the file at `path`, such as `ticore agree -o FILE` makes.

        Raises:
            InputFileError: the file cannot be read.
            AgreementError: it does not hold an agreement, or one of another format. The error does
                not show the key.
        """
        return cls.loads(read_file(path, _MOST_BYTES), str(path))

    # What a Pact had, for one release.

    @property
    def agreement(self) -> Agreement:
        """The settings alone: a Pact held an agreement."""
        warn_deprecated("Pact.agreement", "the Agreement itself")
        return replace(self, key=None, model_place=None, model_options={})

    @property
    def options(self) -> Mapping[str, str]:
        """The former name of `model_options`."""
        warn_deprecated("Pact.options", "Agreement.model_options")
        return self.model_options


def _ids(given: object) -> tuple[int, ...]:
    """Token ids as a tuple. Raises SettingsError."""
    found = tuple(given) if isinstance(given, list | tuple) else None
    if found is None or not all(type(token) is int and token >= 0 for token in found):
        raise SettingsError(f"prompt_ids: expected token ids, found {shown(given)}")
    return found


def _settings() -> list[str]:
    """The names of the shared settings, in the order of the file."""
    return [each.name for each in fields(Agreement) if each.name not in _ACCESS]


def _exact_fields(values: object, expected: Iterable[str], source: str) -> Mapping[str, object]:
    """`values`, once it is known to be a mapping with exactly the `expected` keys.

    Raises:
        AgreementError: it is not; the text names the fields and the `source`.
    """
    if not isinstance(values, Mapping):
        raise AgreementError(f"{source}: expected named fields, found a {type(values).__name__}")
    if problem := wrong_fields(values, expected):
        raise AgreementError(f"{source}: {problem}")
    return values


def _of_format(document: object, source: str) -> Mapping[str, object]:
    """The fields of a file, None or empty where they may be missing. Raises AgreementError."""
    # The format comes first: another one may well have other fields.
    if not isinstance(document, dict):
        kind = "a list" if isinstance(document, list) else "a single value"
        raise AgreementError(
            f"{source}: expected a file of the format {FORMAT!r}, found {kind}; make one with: "
            f"ticore agree -o FILE"
        )
    found = document.get("format")
    if found != FORMAT:
        # What does not look like a format may be the key in the wrong place.
        named = found is None or str(found).startswith(_FORMATS)
        raise AgreementError(
            f"{source}: expected a file of the format {FORMAT!r}, found "
            f"{shown(found) if named else 'another one'}; make one with: ticore agree -o FILE"
        )
    optional: dict[str, object] = {"model": None, "key": None, "options": {}}
    return _exact_fields(optional | document, ("format", "agreement", *optional), source)


def _may_hold_key(path: str | PathLike[str]) -> bool:
    """Whether a file has a key: also one that is damaged, or of another version or kind."""
    with suppress(InputFileError, CredentialError):
        if isinstance(load_key(path), Key):
            return True
    with suppress(InputFileError):
        data = read_file(path, _MOST_BYTES)
        document = parsed_json(data)
        if isinstance(document, dict):
            return document.get("key") is not None
        return document is NOT_JSON and b'"key"' in data.replace(b"\0", b"")  # also UTF-16
    return False
