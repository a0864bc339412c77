"""The file that a writer and a detector of watermarks share: all that detection depends on.

    {"format": "ticore-watermark-agreement-1", "scheme": "left_hash", "version": 2,
     "settings": {"gamma": 0.5, …}, "repeats": "once",
     "tokenizer": "tiny-en", "tokenizer_digest": "5b…", "key": "9f…"}

With another scheme, version, setting, tokenizer or key than the text was written with, a detector
finds nothing, and says so as confidently as if there were no watermark. The file holds all of them,
so a detector cannot look for the wrong thing. It holds the key: move and store it as a key.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, Literal, Unpack, get_args

from .._support.atomic_files import write_new_secret
from .._support.checks import python_number, require, require_one_of
from .._support.input_files import read_file
from .._support.secret_json import parsed_json, wrong_fields
from ..errors import CredentialError, SettingsError, shown
from ..interfaces import Tokenizer
from ..registry import load_tokenizer
from ..schemes import Scheme, SchemeSettings, key_fingerprint, make_scheme
from ..schemes._key import scheme_key
from ..schemes._registry import scheme_defaults

Repeats = Literal["once", "all"]

FORMAT = "ticore-watermark-agreement-1"
_FIELDS = ("scheme", "version", "settings", "repeats", "tokenizer", "tokenizer_digest", "key")
# What `make_scheme` is given beside an agreement's settings.
_ELSEWHERE = {"scheme", "key", "vocab_size", "version", "payload"}
_MOST_BYTES = 1 << 20
_KEY_BYTES = 32


@dataclass(frozen=True, kw_only=True)
class WatermarkAgreement:
    """What the writer and the detectors of a watermark share. Thread-safe.

    Attributes:
        scheme: the name of a scheme.
        version: of the scheme; None where it has none.
        settings: of the scheme, all of them, so that the file means the same if defaults change.
        repeats: see `ticore.WatermarkDetector`.
        tokenizer: the place of the model's tokenizer, such as `tiny-en`.
        tokenizer_digest: of that tokenizer. Another tokenizer at the same place is refused.
        key: 16 to 64 bytes, also given as hex digits; not shown by `repr`.

    Raises:
        SettingsError: a name is empty, or a field has another type. The scheme, its version and its
            settings are checked by `make_scheme` only.
        CredentialError: the key is malformed, too short or too long.

    >>> agreement = WatermarkAgreement.new("tiny-en", "gumbel")
    >>> WatermarkAgreement.loads(agreement.dumps()) == agreement
    True
    """

    scheme: str
    version: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)
    repeats: Repeats = "once"
    tokenizer: str
    tokenizer_digest: str
    key: bytes = field(repr=False)

    def __post_init__(self) -> None:
        for name in ("scheme", "tokenizer", "tokenizer_digest"):
            value = getattr(self, name)
            require(isinstance(value, str) and value != "", name, "a non-empty text", value)
        require(isinstance(self.settings, Mapping), "settings", "named values", self.settings)
        if elsewhere := sorted(_ELSEWHERE & self.settings.keys()):
            raise SettingsError(
                f"settings: expected those of the scheme alone, found {', '.join(elsewhere)}, "
                f"which are no settings of a scheme, or stand beside them"
            )
        require_one_of("repeats", self.repeats, get_args(Repeats))
        plain = {name: python_number(value) for name, value in self.settings.items()}
        object.__setattr__(self, "settings", plain)
        object.__setattr__(self, "key", scheme_key(self.key))

    @classmethod
    def new(
        cls,
        tokenizer: str,
        scheme: str = "left_hash",
        *,
        key: bytes | str | None = None,
        repeats: Repeats = "once",
        **settings: Unpack[SchemeSettings],
    ) -> WatermarkAgreement:
        """An agreement on a scheme, by default under a new random key.

        Args:
            tokenizer: the place of the model's tokenizer; it is opened for its digest.
            scheme: the name of a scheme.
            key: 16 to 64 bytes, or their hex digits; None: 32 random bytes.
            repeats: see `ticore.WatermarkDetector`.
            settings: of the scheme; what is left out has its default value.

        Raises:
            SettingsError: the scheme or a setting is unknown, or a setting is out of range.
            CredentialError: the key is malformed.
            UnknownPlaceError, MissingExtraError, ModelFilesError: as `ticore.load_tokenizer`.
        """
        opened = load_tokenizer(tokenizer)
        if settings.get("payload") is not None:
            raise SettingsError(
                "payload: expected none in an agreement, for it is the writer's own; give it to "
                "Watermarker.from_agreement"
            )
        plain = {name: python_number(value) for name, value in settings.items()}
        whole: dict[str, Any] = {**scheme_defaults(scheme), **plain}
        whole.pop("payload", None)
        key = secrets.token_bytes(_KEY_BYTES) if key is None else scheme_key(key)
        make_scheme(scheme, key, opened.vocab_size, **whole)  # checks every setting
        return cls(
            scheme=scheme,
            version=whole.pop("version", None),
            settings=whole,
            repeats=repeats,
            tokenizer=tokenizer,
            tokenizer_digest=opened.digest(),
            key=key,
        )

    @property
    def key_fingerprint(self) -> str:
        """The name by which verdicts mention the key: see `ticore.schemes.key_fingerprint`."""
        return key_fingerprint(self.key)

    def make_scheme(self, vocab_size: int, *, payload: bytes | str | None = None) -> Scheme:
        """The scheme under the key.

        Args:
            vocab_size: of the tokenizer.
            payload: what a writer writes, for a scheme with a payload.

        Raises:
            SettingsError: the scheme or a setting is unknown, or a setting is out of range.
        """
        version: Any = {} if self.version is None else {"version": self.version}
        own: Any = {} if payload is None else {"payload": payload}
        return make_scheme(self.scheme, self.key, vocab_size, **self.settings, **version, **own)

    def open_tokenizer(self) -> Tokenizer:
        """The tokenizer at the agreement's place.

        Raises:
            SettingsError: it is not the one that was agreed on.
            UnknownPlaceError, MissingExtraError, ModelFilesError: as `ticore.load_tokenizer`.
        """
        opened = load_tokenizer(self.tokenizer)
        self.require_tokenizer(opened)
        return opened

    def require_tokenizer(self, tokenizer: Tokenizer) -> None:
        """Check that a tokenizer is the one that was agreed on.

        Raises:
            SettingsError: its digest is another one.
        """
        found = tokenizer.digest()
        if found != self.tokenizer_digest:
            raise SettingsError(
                f"tokenizer: expected the one that was agreed on, {self.tokenizer} with the digest "
                f"{self.tokenizer_digest[:12]}, found one with the digest {found[:12]}, with which "
                f"no watermark is found; use the writer's tokenizer"
            )

    def dumps(self) -> str:
        """The file's text: ASCII. It holds the key."""
        values = {name: getattr(self, name) for name in _FIELDS}
        document = {"format": FORMAT, **values, "key": self.key.hex()}
        return json.dumps(document, indent=2) + "\n"

    def save(self, path: str | PathLike[str]) -> None:
        """Write a new file, which its owner alone may read, whole or not at all.

        Raises:
            OutputFileError: there is a file at `path` already, or it cannot be written.
        """
        write_new_secret(path, self.dumps().encode("ascii"))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> WatermarkAgreement:
        """The agreement in the file at `path`, as `ticore agree-watermark` makes it.

        Raises:
            InputFileError: the file cannot be read.
            CredentialError: it does not hold an agreement on a watermark. No error shows the key.
        """
        return cls.loads(read_file(path, _MOST_BYTES), str(path))

    @classmethod
    def loads(cls, text: str | bytes, source: str = "the agreement") -> WatermarkAgreement:
        """The inverse of `dumps`.

        Args:
            text: the file's content; bytes in UTF-8.
            source: the file's name, for the error's text.

        Raises:
            CredentialError: `text` is not such a file, or one of another format. No error shows
                the key.
        """
        document = parsed_json(text)
        found = document.get("format") if isinstance(document, dict) else None
        if not isinstance(document, dict) or found != FORMAT:
            # What does not look like a format may be the key in the wrong place.
            named = isinstance(found, str) and found.startswith("ticore-")
            raise CredentialError(
                f"{source}: expected a file of the format {FORMAT!r}, found "
                f"{shown(found) if named else 'something else'}; "
                f"make one with: ticore agree-watermark"
            )
        values = {name: value for name, value in document.items() if name != "format"}
        if problem := wrong_fields(values, _FIELDS):
            raise CredentialError(f"{source}: {problem}")
        if not isinstance(values["key"], str):
            raise CredentialError(f"{source}: key: expected hex digits, found another type")
        try:
            return cls(**values)
        except (SettingsError, CredentialError) as error:
            raise CredentialError(f"{source}: {error}") from None
