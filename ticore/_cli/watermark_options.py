"""The options that the commands about watermarks share, and what they stand for."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, cast, get_args

import typer

from ..errors import FileError
from ..interfaces import Tokenizer
from ..keys import load_key
from ..registry import load_tokenizer
from ..schemes import ALL_SCHEMES, EXTERNAL_SCHEMES, GreenList
from ..schemes._green_list import GreensMode
from ..schemes._keyed_numbers import LATEST
from ..schemes._registry import scheme_defaults
from ..watermarking import Repeats, WatermarkAgreement, WatermarkDetector
from . import streams
from .option_names import option_of
from .options import MODEL, file_option, option
from .settings import DEFAULT_MODEL
from .usage import UsageError

_DETECTOR = inspect.signature(WatermarkDetector).parameters
_GREEN_LIST = inspect.signature(GreenList).parameters
_SCHEMES = sorted(ALL_SCHEMES)
_CONTEXTS = {name: scheme_defaults(name).get("context") for name in _SCHEMES}
DEFAULT_REPEATS: Repeats = _DETECTOR["repeats"].default
DEFAULT_SCHEME: str = _DETECTOR["scheme"].default

WATERMARK, SAMPLING = "Watermark", "Sampling"


def _green_option(metavar: str, setting: str, help_text: str) -> Any:
    return option(
        metavar,
        f"For schemes with green lists: {help_text}",
        panel=WATERMARK,
        default=_GREEN_LIST[setting].default,
    )


AgreementFile = Annotated[
    Path | None,
    file_option(
        "Take scheme, settings, key and tokenizer from this file, made by "
        "`ticore agree-watermark`.",
        "--agreement",
        panel=WATERMARK,
    ),
]
KeyFile = Annotated[
    Path | None,
    file_option(
        "The key that writer and detector share: a file made by `ticore keygen`.", panel=WATERMARK
    ),
]
ConfigFile = Annotated[
    Path | None,
    file_option(
        "The other engine's own settings, as a JSON object; or, without --scheme, many "
        "configurations to look for at once, as a JSON list.",
        panel=WATERMARK,
    ),
]
EngineConfigFile = Annotated[
    Path | None,
    file_option(
        "The other engine's own settings, as a JSON object, with its key.",
        "--config",
        panel=WATERMARK,
    ),
]
Scheme = Annotated[
    str | None,
    option(
        "NAME",
        f"The scheme: {', '.join(_SCHEMES)}.",
        panel=WATERMARK,
        default=DEFAULT_SCHEME,
    ),
]
AnyScheme = Annotated[
    str | None,
    option(
        "NAME",
        f"The scheme: {', '.join(_SCHEMES)}; or, with --config, that of another engine: "
        f"{', '.join(EXTERNAL_SCHEMES)}.",
        panel=WATERMARK,
        default=DEFAULT_SCHEME,
    ),
]
Gamma = Annotated[float | None, _green_option("X", "gamma", "the share of tokens that are green.")]
Delta = Annotated[
    float | None, _green_option("X", "delta", "what is added to the logits of green tokens.")
]
Greens = Annotated[
    str | None,
    _green_option(
        "NAME", "greens", f"how green tokens are chosen: {', '.join(get_args(GreensMode))}."
    ),
]
Context = Annotated[
    int | None,
    option(
        "N",
        "For all schemes but unigram: how many tokens before a token its random numbers depend on.",
        panel=WATERMARK,
        default=", ".join(f"{name} {n}" for name, n in _CONTEXTS.items() if n),
    ),
]
SchemeVersion = Annotated[
    int | None,
    option(
        "N",
        "The version of the scheme's random numbers: 1 for texts that were watermarked before "
        "there was a version 2.",
        "--scheme-version",
        panel=WATERMARK,
        default=LATEST,
    ),
]
Alpha = Annotated[
    float | None,
    option(
        "X",
        "For dipmark: how far the probabilities are moved, above 0 and at most 0.5. The p-value of "
        "a text does not depend on it.",
        panel=WATERMARK,
        default=scheme_defaults("dipmark")["alpha"],
    ),
]
PayloadBits = Annotated[
    int | None,
    option(
        "N",
        "For gumbel_payload: how many bits the payload has, a multiple of 8 up to 64.",
        "--payload-bits",
        panel=WATERMARK,
        default=scheme_defaults("gumbel_payload")["payload_bits"],
    ),
]
RepeatsOption = Annotated[
    str | None,
    option(
        "NAME",
        "Whether tokens that repeat a random number count once or each time (all).",
        panel=WATERMARK,
        default=_DETECTOR["repeats"].default,
    ),
]
TokenizationsOption = Annotated[
    str | None,
    option(
        "NAME",
        "places: how much of the evidence stands where a writer may have had other tokens. "
        "search: look for these tokens, which costs at most a factor of 2; lists of green tokens "
        "could not pay for it and are not searched, nor are payloads in a list. read: neither.",
        "--tokenizations",
        panel=WATERMARK,
        default="places; read with --column",
    ),
]
TokenizerPlace = Annotated[
    str | None,
    option(
        "PLACE",
        "The tokenizer of the model that writes: the name of a bundled model, or "
        "BACKEND:LOCATION, such as sentencepiece:tokenizer.model.",
        "--tokenizer",
        panel=MODEL,
        default=DEFAULT_MODEL,
    ),
]
Fpr = Annotated[
    float,
    typer.Option(
        metavar="X",
        help="The share of texts without a watermark that may be called watermarked, over all "
        "keys; for one key see `ticore check-key`.",
        rich_help_panel=WATERMARK,
    ),
]
FprToCheck = Annotated[
    float,
    typer.Option(
        metavar="X",
        help="The share of texts without a watermark that the detector may call watermarked, over "
        "all keys.",
        rich_help_panel=WATERMARK,
    ),
]
DEFAULT_FPR: float = _DETECTOR["fpr"].default


@dataclass(frozen=True, kw_only=True)
class WatermarkOptions:
    """What was given about a watermark; None where nothing was given."""

    agreement: Path | None = None
    key_file: Path | None = None
    config: Path | None = None
    scheme: str | None = None
    gamma: float | None = None
    delta: float | None = None
    greens: str | None = None
    context: int | None = None
    scheme_version: int | None = None
    repeats: str | None = None
    tokenizer: str | None = None
    payload_bits: int | None = None
    alpha: float | None = None

    @property
    def secret_file(self) -> Path | None:
        """The file that holds the key."""
        return self.agreement or self.key_file or self.config

    @property
    def scheme_name(self) -> str:
        """The scheme, or the default one."""
        return DEFAULT_SCHEME if self.scheme is None else self.scheme

    @property
    def place(self) -> str:
        """The tokenizer's place, or the default one."""
        return DEFAULT_MODEL if self.tokenizer is None else self.tokenizer

    @property
    def counting(self) -> Repeats:
        """How repeats count, or the default; the detector refuses what it does not know."""
        return DEFAULT_REPEATS if self.repeats is None else cast(Repeats, self.repeats)

    def settings(self) -> dict[str, Any]:
        """The settings of the scheme that were given, by name."""
        given = {
            "gamma": self.gamma,
            "delta": self.delta,
            "greens": self.greens,
            "context": self.context,
            "version": self.scheme_version,
            "payload_bits": self.payload_bits,
            "alpha": self.alpha,
        }
        return {name: value for name, value in given.items() if value is not None}

    def open_tokenizer(self) -> Tokenizer:
        """The tokenizer that was named, or the default one.

        Raises:
            TicoreError: as `ticore.load_tokenizer`.
        """
        return load_tokenizer(self.place)

    def load_agreement(self) -> WatermarkAgreement | None:
        """The agreement, if its file was given.

        Raises:
            UsageError: an option was given, too, whose value the file states.
            FileError, CredentialError: the file cannot be read, or is not an agreement.
        """
        if self.agreement is None:
            return None
        given = [
            option_of(field.name)
            for field in fields(self)
            if field.name != "agreement" and getattr(self, field.name) is not None
        ]
        if given:
            raise UsageError(f"{', '.join(given)}: the file of --agreement states this already")
        return WatermarkAgreement.load(self.agreement)

    def read_key(self) -> bytes:
        """The key in the key file.

        Raises:
            UsageError: no key file was given.
            FileError, CredentialError: it cannot be read, or holds no key.
        """
        if self.key_file is None:
            raise UsageError("give --agreement FILE or --key-file FILE")
        return bytes(load_key(self.key_file))

    def read_secret(self, **own: object) -> dict[str, Any]:
        """The key of a scheme, or the settings of another engine: `key` or `config`.

        Args:
            own: what else was given that ticore's own schemes alone have, such as a payload.

        Raises:
            UsageError: the file that belongs to the scheme was not given, or the other one was; or
                settings were given beside those of another engine.
            FileError, CredentialError: it cannot be read, or holds something else.
        """
        name, other = "--key-file", "--config"
        wanted, unwanted = self.key_file, self.config
        if self.scheme_name in EXTERNAL_SCHEMES:
            name, other, wanted, unwanted = other, name, unwanted, wanted
        if wanted is None and unwanted is None:
            raise UsageError(
                f"give --agreement FILE, or {name} FILE for --scheme {self.scheme_name}"
            )
        if wanted is None or unwanted is not None:
            said = f"with --scheme {self.scheme_name} give {name} FILE, and no {other}"
            if other == "--config":
                said += "; a list of configurations names its keys itself: leave --key-file out"
            raise UsageError(said)
        if wanted is self.key_file:
            return {"key": self.read_key()}
        if given := [option_of(name) for name in (*self.settings(), *own)]:
            raise UsageError(
                f"{', '.join(given)}: these are settings of ticore's own schemes; leave them out, "
                f"for the file of --config has all settings of {self.scheme_name}"
            )
        found = streams.read_json_file(wanted, "a JSON object")
        if not isinstance(found, dict):
            raise FileError(f"{wanted}: expected a JSON object, found something else")
        return {"config": cast("dict[str, Any]", found)}
