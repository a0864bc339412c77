"""`ticore watermark`: a text with a watermark, which it keeps on the way through text."""

from __future__ import annotations

import inspect
from itertools import chain
from typing import Annotated, Any, cast, get_args

import typer

from .._support.visible import visible
from ..chat import Prompt, prompt_ids
from ..consistency import View
from ..interfaces import LanguageModel
from ..registry import load_model
from ..watermarking import Generated, TextStream, Watermarker
from . import streams
from .options import MODEL, OUTPUT, Json, option
from .prompt_options import (
    ChatFileOrInput,
    PromptFileOrInput,
    PromptText,
    SystemMessage,
    UserMessage,
    read_prompt,
)
from .secrets import warn_of_others
from .settings import DEFAULT_MODEL, Device, Dtype, model_options
from .usage import UsageError, wrong_settings_are_wrong_usage
from .watermark_options import (
    SAMPLING,
    WATERMARK,
    AgreementFile,
    Alpha,
    AnyScheme,
    Context,
    Delta,
    EngineConfigFile,
    Gamma,
    Greens,
    KeyFile,
    PayloadBits,
    SchemeVersion,
    WatermarkOptions,
)

_DEFAULTS = inspect.signature(Watermarker).parameters
_MAX_NEW_TOKENS: int = inspect.signature(Watermarker.generate).parameters["max_new_tokens"].default
_OBSERVATION: int = _DEFAULTS["observation"].default
_ROLLBACK: str = _DEFAULTS["rollback"].default
_MAX_ATTEMPTS: int = _DEFAULTS["max_attempts"].default

_Model = Annotated[
    str | None,
    option(
        "PLACE",
        "The model: its name, or BACKEND:LOCATION; see `ticore models`.",
        panel=MODEL,
        default=DEFAULT_MODEL,
    ),
]
_MaxNewTokens = Annotated[
    int | None,
    option("N", "The most tokens to write.", panel=SAMPLING, default=_MAX_NEW_TOKENS),
]
_Tokens = Annotated[int | None, typer.Option("--tokens", hidden=True)]
_Observation = Annotated[
    int | None,
    option(
        "N",
        "For how many further tokens an inconsistency may last before tokens are taken back.",
        panel=SAMPLING,
        default=_OBSERVATION,
    ),
]
_Rollback = Annotated[
    str | None,
    option(
        "NAME",
        "What is taken back: the tokens since the inconsistency began (windowed), or the whole "
        "text, which keeps the distribution of texts exact (exact; not with Gumbel noise).",
        panel=SAMPLING,
        default=_ROLLBACK,
    ),
]
_MaxAttempts = Annotated[
    int | None,
    option(
        "N",
        "With --rollback exact: how many texts are begun at most, for one that is consistent.",
        panel=SAMPLING,
        default=_MAX_ATTEMPTS,
    ),
]
_NoRollback = Annotated[
    bool,
    typer.Option(
        "--no-rollback",
        help="Take nothing back; the receiver may then read other tokens.",
        rich_help_panel=SAMPLING,
    ),
]
_View = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="What is sent: the prompt and what follows it (whole), or only what follows it "
        "(continuation).",
        rich_help_panel=OUTPUT,
    ),
]
_Temperature = Annotated[
    float,
    typer.Option(
        metavar="X",
        help="Above 0; below 1 the text is more usual.",
        rich_help_panel=SAMPLING,
    ),
]
_TopK = Annotated[
    int,
    typer.Option(
        metavar="N",
        help="Choose each token from the N likeliest; 0 means all.",
        rich_help_panel=SAMPLING,
    ),
]
_TopP = Annotated[
    float,
    typer.Option(
        metavar="X",
        help="Of these, choose from the likeliest that together have this probability; at most 1.",
        rich_help_panel=SAMPLING,
    ),
]
_Payload = Annotated[
    str | None,
    typer.Option(
        metavar="HEX",
        help="For gumbel_payload: what the text says to a reader with the key, in hex digits. "
        "With --agreement this is not part of the file.",
        rich_help_panel=WATERMARK,
    ),
]
_Seed = Annotated[
    int | None,
    option("N", "With the same N the text is the same; without it, another one.", panel=SAMPLING),
]
_NoEndOfText = Annotated[
    bool,
    typer.Option(
        "--no-end-of-text",
        help="Keep the model from ending the text early.",
        rich_help_panel=SAMPLING,
    ),
]
_Stream = Annotated[
    bool,
    typer.Option(
        "--stream",
        help="Show each piece of the text once it is settled; with --rollback exact the whole text "
        "in one piece.",
        rich_help_panel=OUTPUT,
    ),
]


def watermark(
    agreement: AgreementFile = None,
    key_file: KeyFile = None,
    config: EngineConfigFile = None,
    scheme: AnyScheme = None,
    gamma: Gamma = None,
    delta: Delta = None,
    greens: Greens = None,
    context: Context = None,
    scheme_version: SchemeVersion = None,
    payload: _Payload = None,
    payload_bits: PayloadBits = None,
    alpha: Alpha = None,
    prompt: PromptText = None,
    prompt_file: PromptFileOrInput = None,
    chat: ChatFileOrInput = None,
    user: UserMessage = None,
    system: SystemMessage = None,
    model: _Model = None,
    dtype: Dtype = None,
    device: Device = None,
    max_new_tokens: _MaxNewTokens = None,
    tokens: _Tokens = None,
    observation: _Observation = None,
    rollback: _Rollback = None,
    max_attempts: _MaxAttempts = None,
    no_rollback: _NoRollback = False,
    temperature: _Temperature = _DEFAULTS["temperature"].default,
    top_k: _TopK = _DEFAULTS["top_k"].default or 0,
    top_p: _TopP = _DEFAULTS["top_p"].default,
    seed: _Seed = None,
    no_end_of_text: _NoEndOfText = False,
    view: _View = _DEFAULTS["view"].default,
    stream: _Stream = False,
    json: Json = False,
) -> None:
    """Write a text with a watermark.

    The text goes to standard output. `ticore detect` finds the watermark with the key, which comes
    from --agreement, --key-file or, for the watermark of another engine, --config.
    """
    if stream and json:
        raise UsageError("give --stream or --json, not both")
    _require_one_rollback(observation, rollback, max_attempts, no_rollback)
    if view not in get_args(View):
        raise UsageError(
            f"--view: expected one of {', '.join(get_args(View))}, found {visible(view)}"
        )
    count = _count(max_new_tokens, tokens)
    options = WatermarkOptions(
        agreement=agreement,
        key_file=key_file,
        config=config,
        scheme=scheme,
        gamma=gamma,
        delta=delta,
        greens=greens,
        context=context,
        scheme_version=scheme_version,
        payload_bits=payload_bits,
        alpha=alpha,
    )
    begin = read_prompt(prompt, prompt_file, chat, user, system)
    writer, opened, place, advice = _open(
        options,
        model,
        model_options(dtype, device),
        payload,
        observation=None if no_rollback else _OBSERVATION if observation is None else observation,
        rollback=_ROLLBACK if rollback is None else rollback,
        max_attempts=_MAX_ATTEMPTS if max_attempts is None else max_attempts,
        view=cast(View, view),
        end_of_text=not no_end_of_text,
        temperature=temperature,
        top_k=top_k or None,
        top_p=top_p,
        seed=seed,
    )
    with wrong_settings_are_wrong_usage():
        if stream:
            before = _decoded(opened, begin) if view == "whole" else ""
            written = _write_pieces(writer.stream(begin, max_new_tokens=count), before)
        else:
            with streams.progress_bar("writing"):
                written = writer.generate(begin, max_new_tokens=count)
    if json:
        streams.write_json(_as_json(written, writer, options, place))
    elif not stream:
        streams.write_line((written.whole if view == "whole" else written.text).encode())
    if advice:
        streams.note(f"ticore: {advice}")
    if written.end in ("dead end", "context"):
        streams.note(f"ticore: {_why_short(written, count)}")
    warn_of_others(options.secret_file)


def _require_one_rollback(
    observation: int | None, rollback: str | None, max_attempts: int | None, no_rollback: bool
) -> None:
    """Refuse options of one way of rollback beside those of another."""
    beside, refused = "", dict[str, object]()
    if no_rollback:
        beside = "--no-rollback"
        refused = {"--observation": observation, "--rollback": rollback}
        refused["--max-attempts"] = max_attempts
    elif rollback == "exact":
        beside, refused = "--rollback exact", {"--observation": observation}
    elif max_attempts is not None:
        raise UsageError("give --max-attempts with --rollback exact, which alone counts attempts")
    for name, value in refused.items():
        if value is not None:
            raise UsageError(f"give {name} or {beside}, not both")


def _count(max_new_tokens: int | None, tokens: int | None) -> int:
    if tokens is not None:
        if max_new_tokens is not None:
            raise UsageError("give --max-new-tokens alone: --tokens is its old name")
        streams.note("ticore: warning: --tokens is deprecated; use --max-new-tokens")
    given = tokens if max_new_tokens is None else max_new_tokens
    return _MAX_NEW_TOKENS if given is None else given


def _open(
    options: WatermarkOptions,
    model: str | None,
    model_settings: dict[str, str],
    payload: str | None,
    **settings: Any,
) -> tuple[Watermarker, LanguageModel, str, str]:
    """The Watermarker, its model, the model's place, and advice to who detects, if there is any."""
    own: Any = {} if payload is None else {"payload": payload}
    agreement = options.load_agreement()
    if agreement is None:
        secret, place = options.read_secret(**own), DEFAULT_MODEL if model is None else model
    else:
        place = agreement.tokenizer if model is None else model
        if ":" in place and model is None:
            raise UsageError(
                f"--model: expected the model that writes, found none; the agreement's tokenizer, "
                f"{visible(place)}, is not the name of a bundled model"
            )
    opened = load_model(place, **model_settings)
    with wrong_settings_are_wrong_usage():
        if agreement is not None:
            writer = Watermarker.from_agreement(opened, agreement, **own, **settings)
            return writer, opened, place, ""
        name, advice = options.scheme_name, ""
        if "config" in secret:
            writer = Watermarker.for_engine(opened, name, secret["config"], **settings)
            unsaid = name == "transformers" and secret["config"].get("vocab_size") is None
            if unsaid and opened.logit_width != opened.tokenizer.vocab_size:
                advice = (
                    f'put "vocab_size": {opened.logit_width} into the file of --config, or '
                    f"detectors find nothing: the model has more logits than its tokenizer has ids"
                )
        else:
            settings |= options.settings() | own
            writer = Watermarker(opened, name, **secret, **settings)
    return writer, opened, place, advice


def _write_pieces(stream: TextStream, before: str) -> Generated:
    """Write what stands before the text, and the text piece by piece."""
    last = ""
    for piece in chain([before], stream):
        if piece:
            streams.write_bytes(piece.encode())
            last = piece
    if not last.endswith("\n"):
        streams.write_line(b"")  # A terminal's prompt belongs on a line of its own.
    return stream.result()


def _decoded(model: LanguageModel, prompt: Prompt) -> str:
    return model.tokenizer.decode(prompt_ids(model, prompt))


def _as_json(
    written: Generated, writer: Watermarker, options: WatermarkOptions, place: str
) -> dict[str, Any]:
    scheme = writer.scheme
    return {
        **written.to_dict(),
        "undone": written.backtracks,  # the old name, for scripts that read it
        "scheme": getattr(scheme, "name", options.scheme_name),
        "version": getattr(scheme, "version", None),
        "key": getattr(scheme, "key_fingerprint", None),
        "model": place,
    }


def _why_short(written: Generated, count: int) -> str:
    why = {
        "dead end": "no token may follow that keeps the text consistent",
        "context": "the model's context is full",
    }[written.end]
    return f"the text ends after {len(written.ids)} of {count} tokens: {why}"
