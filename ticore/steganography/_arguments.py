"""What a Steganographer is given: each function checks or opens one argument."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from typing import Any, TypedDict, TypeVar

from .._support.checks import checked_ids
from .._support.utf8 import require_text
from ..channels import Channel, PassingTexts, channel_named, channel_of
from ..chat import Prompt, prompt_ids
from ..codecs import CodecSpec, codec_named, codec_spec
from ..consistency import View
from ..disambiguation import DisambiguationSpec, disambiguation_named, disambiguation_spec
from ..errors import AgreementError, CredentialError, PromptError, SettingsError, WrongTypeError
from ..interfaces import LanguageModel
from ..registry import load_model
from ._agreement import Agreement
from ._keys import Secret
from ._portability import loading_options
from ._results import Embedding

T = TypeVar("T")


def several(name: str, given: Sequence[T]) -> Sequence[T]:
    """What is given for each text. Raises WrongTypeError: it is one text or message, or no list."""
    if isinstance(given, str | bytes | bytearray | memoryview | Embedding):
        raise WrongTypeError(
            f"{name}: expected a list, found one {type(given).__name__}; give [it]"
        )
    if not (isinstance(given, Iterable) and isinstance(given, Sized)):
        raise WrongTypeError(f"{name}: expected a list, found {type(given).__name__}")
    return given


def agreed_model(agreement: Agreement) -> LanguageModel:
    """The model at the agreement's place, in float64 if it is to be portable.

    Raises:
        AgreementError: the agreement does not say where the model is.
        TicoreError: the model cannot be opened, see `ticore.load_model`.
    """
    if agreement.model_place is None:
        raise AgreementError(
            "expected an agreement that says where the model is, found none in it; "
            "give model=ticore.load_model(...)"
        )
    options = loading_options(agreement.model_options, agreement.numerics)
    return load_model(agreement.model_place, **options)


Variant = CodecSpec | DisambiguationSpec | Channel
_GIVEN: Mapping[str, Callable[[Any], Variant]] = {
    "codec": codec_spec,
    "disambiguation": disambiguation_spec,
    "channel": channel_of,
}
# Agreements may have names that are refused where a new one is made.
_NAMED: Mapping[str, Callable[[str], Variant]] = {
    "codec": codec_named,
    "disambiguation": disambiguation_named,
    "channel": channel_named,
}


def agreed_variant(kind: str, name: str, given: Variant | None) -> Variant:
    """The codec, disambiguation or channel that was agreed on.

    Raises:
        AgreementError: another one is given.
        SettingsError: its name is unknown here.
    """
    if given is not None:
        given = _GIVEN[kind](given)
        if given.name != name:
            raise AgreementError(
                f"expected the {kind} that was agreed on, {name!r}, found {given.name!r}"
            )
        return given
    try:
        return _NAMED[kind](name)
    except SettingsError as error:
        raise SettingsError(
            f"{error}; or install the package that declares this one as an entry point of "
            f"ticore.{kind}s, or pass it to Steganographer.from_agreement({kind}=...)"
        ) from error


def plain_text(text: str | Embedding) -> str:
    """A text that is given as a str or as an Embedding. Raises WrongTypeError for anything else."""
    if isinstance(text, Embedding):
        return text.text
    require_text(text)
    return text


def checked_message(message: object) -> bytes:
    """The message as bytes. Raises WrongTypeError, which says what to give instead."""
    if isinstance(message, bytes | bytearray | memoryview):
        return bytes(message)
    remedy = "encode it first: message.encode()" if isinstance(message, str) else "give bytes"
    raise WrongTypeError(f"expected a message of bytes, found {type(message).__name__}; {remedy}")


def secret_of(key: bytes | str | None, password: str | None) -> Secret | None:
    """The secret of a key or a password, None without either. Raises CredentialError for both."""
    if key is not None and password is not None:
        raise CredentialError("expected a key or a password, found both; give one of them")
    if key is not None:
        return Secret.from_key(key)
    return None if password is None else Secret.from_password(password)


def checked_prompt(model: LanguageModel, agreement: Agreement, passing: PassingTexts) -> list[int]:
    """The ids of the agreement's prompt.

    Args:
        model, agreement: of the texts.
        passing: the texts that the channel leaves alone.

    Raises:
        PromptError: the tokenizer does not give the prompt back, or the channel changes it, in view
            `whole`; or the prompt fills the model's context.
        SettingsError: an id has no logit.
    """
    tokenizer, prompt = model.tokenizer, agreement.prompt
    if agreement.prompt_ids is not None:
        ids = checked_ids(agreement.prompt_ids, model.logit_width)
    else:
        ids = tokenizer.encode(prompt)
        back = tokenizer.decode(ids)
        if agreement.view == "whole" and back != prompt:
            raise PromptError(
                f"expected a prompt that its tokenizer gives back unchanged, found one that comes "
                f"back as {back[:60]!r}; write it that way, or use view 'continuation'"
            )
        if agreement.view == "whole" and prompt and not passing.may_go_on(prompt):
            raise PromptError(
                f"expected a prompt that the channel {agreement.channel!r} leaves alone, found "
                f"{prompt[:60]!r}; write it as {passing.channel.read(prompt)[:60]!r}, or use view "
                f"'continuation'"
            )
    if len(ids) >= model.context_length:
        raise PromptError(
            f"expected a prompt of fewer than {model.context_length} tokens, the model's context, "
            f"found {len(ids)}; shorten it"
        )
    return ids


class AgreedPrompt(TypedDict):
    """A prompt as the fields of an Agreement."""

    prompt: str
    prompt_ids: tuple[int, ...] | None
    view: View


def agreed_prompt(model: LanguageModel, prompt: Prompt, view: View | None) -> AgreedPrompt:
    """A prompt of any kind as the fields of an Agreement.

    Args:
        model: whose template writes a conversation.
        prompt: what the model continues.
        view: None: `whole` for a text; what is no text is never sent.

    Raises:
        PromptError, SettingsError, WrongTypeError: as `ticore.chat.prompt_ids`.
    """
    if isinstance(prompt, str):
        return {"prompt": prompt, "prompt_ids": None, "view": "whole" if view is None else view}
    ids = tuple(prompt_ids(model, prompt))
    return {"prompt": "", "prompt_ids": ids, "view": "continuation" if view is None else view}
