"""Hide a message in generated text and read it back from the text alone."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal, Self, get_args

from ..candidates import Candidates
from ..codecs import BitSource, Reader, StopRule, codec_named, pack_bits, unpack_bits, zeros
from ..consistency import Mode, View
from ..disambiguation import Beginning, TextReader, disambiguation_named
from ..errors import (
    AuthenticationError,
    CapacityError,
    ExtractionError,
    IncompleteMessageError,
    KeyFormatError,
    OutsidePoolError,
    PromptError,
    SettingsError,
    WrongTypeError,
)
from ..interfaces import Decoder, LanguageModel
from ..registry import require_model
from ..unicode import require_text
from .agreement import Agreement
from .capacity import NoRoomError
from .coding import Coding
from .foreseen import Foreseen
from .framing import Opener, overhead, seal
from .keys import Secret
from .numerics import TOLERANCE, Numerics, model_digest
from .pasted import USUAL, Recovered, readings
from .walk import Walk
from .writing import BorderlineError, Embedding, Observer, Progress, StalledError, write

Finish = Literal["sentence", "none"]
Entropy = Callable[[int], bytes]
"""`f(n)` gives n random bytes."""

EMBED_TRIES = 4
_MOST_STEPS = 3  # per character of a text, in all its readings; a token has some four of them
PORTABLE_TRIES = 64  # most texts of a thousand tokens need one, but long ones some more


class Steganographer:
    """Writes and reads hidden messages under one set of settings, which both sides must share.

    Args:
        model: the model that writes; the reader needs the same one.
        key: 32 secret bytes, or their hex digits as a str; see `ticore.new_key`,
            `ticore.load_key`. Either this or `password`.
        password: a shared secret of any length; costs 16 more bytes a message.
        prompt: the text's beginning, or in view `continuation` the unsent text before it.
        view: `whole`: the text begins with the prompt. `continuation`: the prompt is not sent.
        mode: how consistency is verified, see `ticore.Verifier`.
        temperature, top_k, top_p, grid_bits, weight_bits: see `ticore.PoolSettings`.
        codec: `arithmetic`, `discop`, `huffman`, `meteor` or `sparsamp`; `sparsamp:32` has blocks
            of 32 bits.
        numerics: `same-stack`: the reader computes just as the writer does. `portable`: in float64,
            with any backend on any machine; see `ticore.steganography.numerics`.
        disambiguation: `stepwise`, `basic`, `mwis` or `syncpool`; `none` for experiments, whose
            reader may find other tokens. `basic:decoded` and its like compare tokens by their
            decoded strings, as some do, instead of their bytes.
        finish: `sentence`: after the message the text runs on to a sentence's end; `none`: it
            stops at once.
        entropy: source of random bytes. Replace it only to write the same text twice.

    Raises:
        SettingsError: a setting is out of range or unknown.
        PromptError: the prompt does not survive the tokenizer, or is longer than the context.
        KeyFormatError: the key has another length, or key and password are both given.

    It can be copied and pickled where its model can. A pickle holds the key or the password, which
    is a secret: keep it like the key.

    Codecs and disambiguations that draw random numbers draw them behind a nonce, which the message
    begins with: it goes ahead by arithmetic coding and, for `syncpool`, as `mwis` has it.

    >>> import ticore
    >>> stego = Steganographer(ticore.load_model("tiny-en"), key=bytes(32), prompt="One day")
    >>> stego.extract(stego.embed(b"noon"))
    b'noon'
    """

    def __init__(
        self,
        model: LanguageModel,
        *,
        key: bytes | str | None = None,
        password: str | None = None,
        prompt: str = "",
        view: View = "whole",
        mode: Mode = "prefix",
        temperature: float = 1.0,
        top_k: int | None = 64,
        top_p: float = 1.0,
        grid_bits: int = 10,
        weight_bits: int = 32,
        codec: str = "arithmetic",
        disambiguation: str = "stepwise",
        numerics: Numerics = "same-stack",
        finish: Finish = "sentence",
        entropy: Entropy = secrets.token_bytes,
    ) -> None:
        require_model(model)
        if finish not in get_args(Finish):
            raise SettingsError(
                f"finish: expected one of {', '.join(get_args(Finish))}, found {finish!r}"
            )
        self.agreement = Agreement(
            model=model_digest(model, numerics),
            tokenizer=model.tokenizer.digest(),
            prompt=prompt,
            view=view,
            mode=mode,
            temperature=temperature,
            top_k=top_k,
            top_p=top_p,
            weight_bits=weight_bits,
            grid_bits=grid_bits,
            codec=codec,
            disambiguation=disambiguation,
            numerics=numerics,
        )
        self._portable = numerics == "portable"
        self._model = model
        self._secret = _secret(key, password)
        self._finish: Finish = finish
        self._entropy = entropy
        self._candidates = Candidates(model, self.agreement.pool)
        self._prompt_ids = _checked_prompt(model, prompt, view)
        kind = disambiguation_named(disambiguation)
        beginning = Beginning(model.tokenizer, prompt, self._prompt_ids, view, mode)
        self._disambiguation = kind.make(beginning)
        self._certain = kind.certain
        coded = codec_named(codec)
        self._coding = Coding(coded, draws=coded.keyed or kind.keyed)

    @classmethod
    def agreed(
        cls,
        model: LanguageModel,
        agreement: Agreement,
        *,
        key: bytes | str | None = None,
        password: str | None = None,
        finish: Finish = "sentence",
        entropy: Entropy = secrets.token_bytes,
    ) -> Self:
        """A steganographer with the settings of `agreement`.

        Raises SettingsError where `model` or its tokenizer is not the one that was agreed on.
        """
        settings: dict[str, Any] = agreement.to_dict()
        digest = model_digest(model, agreement.numerics)
        for name, found in (("model", digest), ("tokenizer", model.tokenizer.digest())):
            if settings.pop(name) != found:
                raise SettingsError(
                    f"expected the {name} that was agreed on, found another: its digest differs; "
                    f"use the same files and number format on both sides"
                )
        return cls(model, key=key, password=password, finish=finish, entropy=entropy, **settings)

    def __reduce__(self) -> tuple[Any, ...]:
        # The keys that were derived from a password are left out: they are found again.
        secret = None if self._secret is None else replace(self._secret)
        settings = self._finish, self._entropy, secret
        return _restored, (type(self), self._model, self.agreement, *settings)

    def embed(self, message: bytes, progress: Progress | None = None) -> str:
        """A text that holds `message`; `extract` of it has been checked to give it back.

        Raises:
            CapacityError: the message does not fit the model's context, or the model leaves no
                choice to hide it in.
            KeyFormatError: there is no key and no password.
            WrongTypeError: the message is not of bytes.
        """
        return self.embed_report(message, progress).text

    def embed_report(self, message: bytes, progress: Progress | None = None) -> Embedding:
        """As `embed`, with the text's tokens and measures."""
        message = _checked_message(message)
        secret = self._require_secret()
        started = time.perf_counter()
        tries, tolerance = (PORTABLE_TRIES, TOLERANCE) if self._portable else (EMBED_TRIES, 0.0)
        finish, stalled = self._finish == "sentence", 0
        for _ in range(tries):
            frame = seal(message, secret, self.agreement.digest(), self._entropy)
            bits, walk = 8 * len(frame), self._walk()
            # Writing is the first half of the work, reading it back the second.
            report = _part(progress, 0, bits)
            writer = self._coding.frame_writer(frame, secret, self._random_bits, walk)
            try:
                written = write(walk, writer, bits, finish, report, tolerance=tolerance)
                if self.extract(written.text, _part(progress, bits, bits)) == message:
                    return _timed(written, started)
            except (BorderlineError, ExtractionError):
                continue  # Another nonce makes another text.
            except NoRoomError as error:
                most = max(0, error.fits // 8 - overhead(secret))
                fits = "at most" if error.bound else "about"
                raise CapacityError(
                    f"{error}; {fits} {most:,} bytes fit that do not compress, found "
                    f"{len(message):,}"
                ) from None
            except StalledError:
                # A small model may repeat itself for ever, but not every text leads there.
                stalled += 1
                if stalled == EMBED_TRIES:
                    raise
        raise CapacityError(
            f"{tries} texts were written and none gave the message back: {self._why_not()}"
        )

    def extract(self, text: str, progress: Progress | None = None) -> bytes:
        """The message that `text` holds. What follows it in the text is ignored.

        Raises:
            ExtractionError: there is none that this key and these settings read; see
                its subclasses. Never returns a wrong message.
            KeyFormatError: there is no key and no password.
            WrongTypeError: the text is no str.
        """
        secret = self._require_secret()
        opener, read = Opener(secret, self.agreement.digest()), 0
        tokens = self._tokens_of(text)
        walk = self._walk(tokens.foreseen)
        most = walk.most_bits
        for value, count in _observed(tokens, walk, self._coding.frame_reader(secret, walk)):
            opener.feed(value, count)
            read += count
            if progress is not None:
                progress(read, read + opener.bits_needed)
            if opener.complete or opener.least_bits > most:
                break
        return opener.message(most)

    def extract_pasted(self, text: str, progress: Progress | None = None) -> Recovered:
        """As `extract`, also where programs changed the text on its way.

        If the text cannot be read as it is, it is read again without white space or other text
        before the prompt, with other line ends, quotation marks and spaces, with lines unwrapped,
        and with some of these together: see `ticore.steganography.pasted`. Since messages are
        authenticated, a wrong reading gives no message.

        Returns:
            The message, and what had to be undone.

        Raises as `extract`: the error of the text as it is. With a wrong key the readings together
        take a few times as long as one.
        """
        try:
            return Recovered(self.extract(text, progress), ())
        except ExtractionError as error:
            first = error
        sent = self.agreement.prompt if self.agreement.view == "whole" else ""
        steps = _Steps(_MOST_STEPS * len(text) + 64)
        for undone, reading in readings(text, sent):
            try:
                return Recovered(self.extract(reading, steps), undone)
            except ExtractionError:
                continue
            except _EnoughError:
                break
        if isinstance(first, AuthenticationError | IncompleteMessageError):
            raise first  # The text is one of these settings', but not under this key.
        raise type(first)(f"{first}; {USUAL}, and none of those that were undone helped")

    def embed_bits(
        self, bits: Sequence[int], stop: StopRule = "exact", progress: Progress | None = None
    ) -> str:
        """A text that holds raw `bits` (0 or 1 each), unsealed, for experiments.

        The bits should be uniform: the text is as natural as they are random. With stop `paper`
        the text ends with the message, as in the paper's experiments. There is one text for them,
        so that with portable numerics none can be avoided that another machine may misread.

        Raises:
            CapacityError: as `embed`.
            SettingsError: a bit is neither 0 nor 1.
        """
        return self.embed_bits_report(bits, stop, progress).text

    def embed_bits_report(
        self,
        bits: Sequence[int],
        stop: StopRule = "exact",
        progress: Progress | None = None,
        observer: Observer | None = None,
    ) -> Embedding:
        """As `embed_bits`, with the text's tokens and measures.

        Args:
            observer: sees each step that carries bits, see `ticore.evaluation.Meter`.
        """
        started = time.perf_counter()
        walk = self._walk()
        tail = self._random_bits if stop == "exact" else zeros
        codec = self._coding.raw(stop, self._secret, walk)
        writer = codec.writer(BitSource(pack_bits(bits), len(bits), tail))
        # What runs on after the message would hide its end, which the paper's rule needs.
        finish = self._finish == "sentence" and stop == "exact"
        return _timed(write(walk, writer, len(bits), finish, progress, observer), started)

    def extract_bits(self, text: str, length: int, stop: StopRule = "exact") -> list[int]:
        """The first `length` bits that `text` holds, written by `embed_bits` with the same stop.

        Raises ExtractionError where the text holds fewer, or is not one of these settings.
        """
        tokens = self._tokens_of(text)
        walk = self._walk(tokens.foreseen)
        reader = self._coding.raw(stop, self._secret, walk).reader()
        value, count = 0, 0
        for settled, size in _observed(tokens, walk, reader):
            value, count = value << size | settled, count + size
            if stop == "exact" and count >= length:
                break
        if count < length:
            value, count = value << length - count | reader.remainder(length - count), length
        return unpack_bits(value >> count - length, length)

    def _tokens_of(self, text: str) -> TextReader:
        require_text(text)
        if not text:
            raise IncompleteMessageError("expected a text with a message in it, found none")
        return self._disambiguation.read(text)

    def _walk(self, foreseen: Sequence[int] | None = None) -> Walk:
        """A text's beginning; where it is known how it goes on, that may be read at once."""
        room = self._model.context_length - len(self._prompt_ids)
        decoder: Decoder
        if self._portable and foreseen and Foreseen.fits(self._model, self._prompt_ids, foreseen):
            decoder = Foreseen(self._model, self._prompt_ids, foreseen[:room])
        else:
            decoder = self._model.start(self._prompt_ids)
        return Walk(decoder, self._candidates, self._disambiguation.start(), room)

    def _why_not(self) -> str:
        if not self._certain:
            return (
                f"the reader finds other tokens, which disambiguation "
                f"{self.agreement.disambiguation!r} does not prevent; use 'stepwise'"
            )
        if self._portable:
            return (
                "in each of them another machine might round a logit otherwise; send a shorter "
                "message, or lower grid_bits or top_k"
            )
        return (
            "the model's logits differ from one run to the next; use one device, one batch size "
            "and float64"
        )

    def _random_bits(self, count: int) -> int:
        size = -(-count // 8)
        return int.from_bytes(self._entropy(size)) >> (8 * size - count)

    def _require_secret(self) -> Secret:
        if self._secret is None:
            raise KeyFormatError(
                "expected a key or a password, found neither; "
                "give key=ticore.new_key() or password=..., or use embed_bits for raw bits"
            )
        return self._secret


class _EnoughError(Exception):
    """The other readings of a text have taken long enough."""


class _Steps:
    """Counts the tokens that are read, as a Progress."""

    def __init__(self, most: int) -> None:
        self._left = most

    def __call__(self, done: int, total: int) -> None:
        self._left -= 1
        if self._left < 0:
            raise _EnoughError


def _observed(tokens: TextReader, walk: Walk, reader: Reader) -> Iterator[tuple[int, int]]:
    """What each token of a text settles, as (value, count), to the end of the text."""
    while not tokens.exhausted and not walk.full:
        try:
            step = walk.step()
        except CapacityError as error:
            raise OutsidePoolError(
                f"the text goes on where nothing can have been written: {error}"
            ) from error
        index = tokens.locate(step.choices)
        walk.push(int(step.choices.ids[index]))
        yield reader.observe(step.weights, index)


def _part(progress: Progress | None, start: int, bits: int) -> Progress | None:
    """A report on `bits` of work that come after `start` of the 2 x `bits` there are."""
    if progress is None:
        return None
    return lambda done, _total: progress(start + min(done, bits), 2 * bits)


def _restored(
    kind: type[Steganographer],
    model: LanguageModel,
    agreement: Agreement,
    finish: Finish,
    entropy: Entropy,
    secret: Secret | None,
) -> Steganographer:
    """A steganographer as it was before it was pickled."""
    stego = kind.agreed(model, agreement, finish=finish, entropy=entropy)
    stego._secret = secret
    return stego


def _timed(embedding: Embedding, started: float) -> Embedding:
    return replace(embedding, seconds=time.perf_counter() - started)


def _checked_message(message: object) -> bytes:
    if isinstance(message, bytes | bytearray | memoryview):
        return bytes(message)
    remedy = "encode it first: message.encode()" if isinstance(message, str) else "give bytes"
    raise WrongTypeError(f"expected a message of bytes, found {type(message).__name__}; {remedy}")


def _secret(key: bytes | str | None, password: str | None) -> Secret | None:
    if key is not None and password is not None:
        raise KeyFormatError("expected a key or a password, found both; give one of them")
    if key is not None:
        return Secret.from_key(key)
    return None if password is None else Secret.from_password(password)


def _checked_prompt(model: LanguageModel, prompt: str, view: View) -> list[int]:
    """The prompt's ids, if a receiver of the whole text finds the same ones again."""
    tokenizer = model.tokenizer
    ids = tokenizer.encode(prompt)
    back = tokenizer.decode(ids)
    if view == "whole" and back != prompt:
        raise PromptError(
            f"expected a prompt that its tokenizer gives back unchanged, found one that comes "
            f"back as {back[:60]!r}; write it that way, or use view 'continuation'"
        )
    if len(ids) >= model.context_length:
        raise PromptError(
            f"expected a prompt of fewer than {model.context_length} tokens, the model's context, "
            f"found {len(ids)}; shorten it"
        )
    return ids
