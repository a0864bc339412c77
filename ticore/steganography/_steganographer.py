"""Hide a message in generated text and read it back from the text alone."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal, Self, cast, get_args

from .._support.checks import require_integer
from .._support.deprecation import keywords_after, warn_deprecated
from .._support.shared_randomness import SharedRandomness
from ..candidates import Candidates
from ..codecs import (
    BitSource,
    Codec,
    CodecSpec,
    Reader,
    StopRule,
    Writer,
    codec_spec,
    pack_bits,
    unpack_bits,
    zeros,
)
from ..consistency import Mode, View
from ..disambiguation import (
    DisambiguationSpec,
    PromptContext,
    ReceivedText,
    disambiguation_spec,
)
from ..errors import (
    AgreementError,
    AlteredTextError,
    CapacityError,
    CredentialError,
    ExtractionError,
    IncompleteMessageError,
    SettingsError,
)
from ..interfaces import Decoder, LanguageModel
from ..registry import require_model
from ._agreement import Agreement
from ._arguments import (
    agreed_model,
    agreed_variant,
    checked_message,
    checked_prompt,
    plain_text,
    secret_of,
)
from ._capacity import NoRoomError
from ._embedding import BorderlineError, Observer, Progress, StalledError, write_bits
from ._extraction import read_bits
from ._frame import FrameReader, frame_overhead, seal
from ._keys import Secret
from ._nonce_first_codec import (
    FOR_CODEC,
    FOR_DISAMBIGUATION,
    NonceFirstReader,
    NonceFirstWriter,
)
from ._pasted import USUAL, Recovered, readings
from ._portability import TOLERANCE, Numerics, model_digest
from ._prescored_decoder import PrescoredDecoder
from ._results import Embedding
from ._step import TextState

Finish = Literal["sentence", "none"]
Entropy = Callable[[int], bytes]
"""`f(n)` gives n random bytes."""

EMBED_TRIES = 4
PORTABLE_TRIES = 64  # most texts of a thousand tokens need one try; long ones need some more
_MOST_STEPS = 3  # tokens to read per character, for all readings; a token has about four characters


class Steganographer:
    """Writes and reads hidden messages under one set of settings, which both sides must share.

    Thread-safe, as far as its model is: each call has its own text.

    It can be copied and pickled if its model can. A pickle holds the key or the password, which is
    a secret: keep it like the key.

    Args:
        model: the model that writes; the reader needs the same one.
        key: 32 secret bytes, or their hex digits as a str: `ticore.Key.new()`,
            `ticore.load_key(path)`. Either this or `password`.
        password: a shared secret of any length. It costs 16 more bytes per message.
        prompt: the beginning of the text, or in view `continuation` the unsent text before it.
        view: `whole`: the text begins with the prompt. `continuation`: the prompt is not sent.
        mode: how consistency is verified, see `ticore.Verifier`.
        temperature, top_k, top_p, grid_bits, weight_bits: see `ticore.candidates.PoolSettings`.
        codec: `arithmetic`, `discop`, `huffman`, `meteor`, `sparsamp`, one with a number such as
            `sparsamp:32` (blocks of 32 bits), or a `ticore.codecs.CodecSpec`.
        disambiguation: `stepwise`, `basic`, `mwis`, `syncpool`, one with a word such as
            `basic:decoded` (tokens are compared by their decoded strings instead of their bytes),
            or a `ticore.disambiguation.DisambiguationSpec`. `none` is for experiments: its reader
            may find other tokens.
        numerics: `same-stack`: the reader computes exactly as the writer does. `portable`: both
            compute in float64, with any backend on any machine.
        finish: `sentence`: after the message the text goes on to the end of a sentence; `none`: it
            stops at once.
        entropy: source of random bytes: `f(n)` gives n of them. Replace it only to write the same
            text twice.

    Raises:
        SettingsError: a setting is out of range or unknown, or `model` is not a model.
        PromptError: the tokenizer does not give the prompt back, or the prompt fills the context.
        CredentialError: the key does not have 32 bytes, the password is empty, or both are given.

    With a keyed codec or disambiguation, the first 16 bytes of the sealed message (32 with a
    password) are its nonce. They are written by arithmetic coding, and `syncpool` chooses as `mwis`
    does until they end. The random numbers that both sides share depend on the key and this nonce,
    and are used after it.

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
        codec: str | CodecSpec = "arithmetic",
        disambiguation: str | DisambiguationSpec = "stepwise",
        numerics: Numerics = "same-stack",
        finish: Finish = "sentence",
        entropy: Entropy = secrets.token_bytes,
    ) -> None:
        require_model(model)
        if finish not in get_args(Finish):
            raise SettingsError(
                f"finish: expected one of {', '.join(get_args(Finish))}, found {finish!r}"
            )
        self._codec_spec = codec_spec(codec)
        self._disambiguation_spec = disambiguation_spec(disambiguation)
        agreement = Agreement(
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
            codec=self._codec_spec.name,
            disambiguation=self._disambiguation_spec.name,
            numerics=numerics,
        )
        self._is_portable = numerics == "portable"
        self._shares_randomness = self._codec_spec.keyed or self._disambiguation_spec.keyed
        self._model = model
        self._secret = secret_of(key, password)
        self._finish: Finish = finish
        self._entropy = entropy
        self._candidates = Candidates(model, agreement.pool)
        self._begin_with(agreement)

    def _begin_with(self, agreement: Agreement) -> None:
        """Set all that depends on the prompt."""
        model, prompt, view = self._model, agreement.prompt, cast(View, agreement.view)
        self.agreement = agreement
        self._prompt_ids = checked_prompt(model, prompt, view)
        context = PromptContext(
            model.tokenizer, prompt, self._prompt_ids, view, cast(Mode, agreement.mode)
        )
        self._disambiguation = self._disambiguation_spec.make(context)

    @classmethod
    def from_agreement(
        cls,
        agreement: Agreement,
        *,
        model: LanguageModel | None = None,
        key: bytes | str | None = None,
        password: str | None = None,
        codec: CodecSpec | None = None,
        disambiguation: DisambiguationSpec | None = None,
        finish: Finish = "sentence",
        entropy: Entropy = secrets.token_bytes,
    ) -> Self:
        """A steganographer with the settings of an agreement, such as `Agreement.load` gives.

        Args:
            agreement: the settings, and what else it holds.
            model: the model; None opens the one at the agreement's place and may download it, so
                use only files whose maker you trust.
            key, password: the secret, if the agreement holds no key.
            codec, disambiguation: the one that the agreement names, if no package declares it.
            finish, entropy: see the class.

        Raises:
            AgreementError: `model` or its tokenizer is not the one that was agreed on, or the
                agreement does not say where the model is.
            CredentialError: the agreement has a key, and `key` or `password` is given as well.
            SettingsError: a codec or disambiguation is unknown here.
            PromptError: see the class.
            TicoreError: the model cannot be opened, see `ticore.load_model`.
        """
        if model is None:
            model = agreed_model(agreement)
        digests = model_digest(model, agreement.numerics), model.tokenizer.digest()
        for name, found in zip(("model", "tokenizer"), digests, strict=True):
            if getattr(agreement, name) != found:
                raise AgreementError(
                    f"expected the {name} that was agreed on, found another: its digest differs; "
                    f"use the same files and number format on both sides"
                )
        if agreement.key is not None:
            if key is not None or password is not None:
                raise CredentialError(
                    "expected the agreement's key alone, found a key or password given as well; "
                    "leave it out"
                )
            key = agreement.key
        settings: dict[str, Any] = agreement.to_dict()
        del settings["model"], settings["tokenizer"]
        for name, given in (("codec", codec), ("disambiguation", disambiguation)):
            settings[name] = agreed_variant(name, settings[name], given)
        return cls(model, key=key, password=password, finish=finish, entropy=entropy, **settings)

    @classmethod
    def agreed(cls, model: LanguageModel, agreement: Agreement, **settings: Any) -> Self:
        """The former name of `from_agreement`."""
        warn_deprecated("Steganographer.agreed(model, agreement)", "from_agreement(agreement)")
        return cls.from_agreement(agreement, model=model, **settings)

    def with_prompt(self, prompt: str) -> Self:
        """The same steganographer for texts that begin with another prompt.

        It costs less than a new one: what depends on the model and the settings is shared. Both
        sides must use the same prompt, which is part of `agreement`.

        Raises:
            PromptError: see the class.
        """
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._begin_with(replace(self.agreement, prompt=prompt))
        return other

    def __reduce__(self) -> tuple[Any, ...]:
        # The keys that were derived from a password are left out: they are derived again.
        secret = None if self._secret is None else replace(self._secret)
        variants = self._codec_spec, self._disambiguation_spec
        settings = self._finish, self._entropy, secret, *variants
        return _restored, (type(self), self._model, self.agreement, *settings)

    @keywords_after(2)
    def embed(self, message: bytes, *, progress: Progress | None = None) -> Embedding:
        """Hide a message in a text. It is checked that `extract` gives the message back.

        Args:
            message: any bytes, which may be empty.
            progress: called as `progress(done, total)`: the work that is done, and all the work as
                far as it is known, in bits.

        Returns:
            The text and what it cost. `str()` of it, or its `text`, is what to send.

        Raises:
            CapacityError: the message does not fit the model's context, or the model leaves no
                choice to hide it in.
            CredentialError: there is no key and no password.
            WrongTypeError: the message is not bytes.
        """
        message = checked_message(message)
        secret = self._require_secret()
        started = time.perf_counter()
        tries = PORTABLE_TRIES if self._is_portable else EMBED_TRIES
        tolerance, stalled = TOLERANCE if self._is_portable else 0.0, 0
        for _ in range(tries):
            frame = seal(message, secret, self.agreement.digest(), self._entropy)
            bits = 8 * len(frame)
            # Writing is the first half of the work, reading it back the second.
            try:
                written = write_bits(
                    self._text_state(),
                    self._frame_writer(frame, secret),
                    bits,
                    finish=self._finish == "sentence",
                    progress=_part(progress, 0, bits),
                    tolerance=tolerance,
                )
                if self.extract(written, progress=_part(progress, bits, bits)) == message:
                    return _timed(written, started)
            except (BorderlineError, ExtractionError):
                continue  # Another nonce makes another text.
            except NoRoomError as error:
                # A small model may repeat itself for ever, but not every text leads there.
                stalled += 1
                if error.by_chance and stalled < EMBED_TRIES:
                    continue
                most = max(0, error.fits // 8 - frame_overhead(secret))
                fits = "at most" if error.bound else "about"
                raise CapacityError(
                    f"{error}; {fits} {most:,} bytes fit that do not compress, found "
                    f"{len(message):,}"
                ) from None
            except StalledError:
                stalled += 1
                if stalled == EMBED_TRIES:
                    raise
        raise CapacityError(
            f"{tries} texts were written and none gave the message back: {self._why_not()}"
        )

    def embed_report(self, message: bytes, progress: Progress | None = None) -> Embedding:
        """The former name of `embed`, which returned the text alone."""
        warn_deprecated("Steganographer.embed_report", "Steganographer.embed")
        return self.embed(message, progress=progress)

    @keywords_after(2)
    def extract(self, text: str | Embedding, *, progress: Progress | None = None) -> bytes:
        """The message that a text holds. What follows the message in the text is ignored.

        Args:
            text: what was received.
            progress: see `embed`.

        Returns:
            The message as it was hidden. Never a wrong one.

        Raises:
            ExtractionError: there is no message that this key and these settings read; see its
                subclasses.
            CredentialError: there is no key and no password.
            WrongTypeError: the text is not a str.
        """
        secret = self._require_secret()
        frame, read = FrameReader(secret, self.agreement.digest()), 0
        received = self._received(text)
        state = self._text_state(received.known_ids)
        most = state.most_bits
        for value, count in read_bits(state, received, self._frame_reader(secret)):
            frame.feed(value, count)
            read += count
            if progress is not None:
                progress(read, read + frame.bits_needed)
            if frame.complete or frame.least_bits > most:
                break
        return frame.message(most)

    @keywords_after(2)
    def extract_pasted(
        self, text: str | Embedding, *, progress: Progress | None = None
    ) -> Recovered:
        """As `extract`, but also if programs changed the text on its way.

        If the text cannot be read as it is, other readings are tried: without white space or other
        text before the prompt, with other line ends, quotation marks and spaces, with lines
        unwrapped, and some of these together. Messages are authenticated, so a wrong reading gives
        no message.

        Args:
            text: what was received.
            progress: see `embed`; for the text as it is, not for other readings.

        Returns:
            The message, and what had to be undone.

        Raises:
            ExtractionError: as `extract`, of the text as it is. With a wrong key all readings
                together take a few times as long as one.
            CredentialError, WrongTypeError: as `extract`.
        """
        text = plain_text(text)
        try:
            return Recovered(self.extract(text, progress=progress), ())
        except ExtractionError as error:
            first = error
        sent = self.agreement.prompt if self.agreement.view == "whole" else ""
        steps = _StepLimit(_MOST_STEPS * len(text) + 64)
        for undone, reading in readings(text, sent):
            try:
                return Recovered(self.extract(reading, progress=steps), undone)
            except ExtractionError:
                continue
            except _StepLimitError:
                break
        if isinstance(first, AlteredTextError | IncompleteMessageError):
            raise first  # The text was written with these settings, but not under this key.
        raise type(first)(f"{first}; {USUAL}; undoing them did not help")

    @keywords_after(2)
    def embed_bits(
        self,
        bits: Sequence[int],
        *,
        stop: StopRule = "exact",
        progress: Progress | None = None,
        observer: Observer | None = None,
    ) -> Embedding:
        """Hide raw bits in a text, not sealed, for experiments.

        The bits should be uniform: the text is as natural as they are random. They have no nonce,
        so with portable numerics a text that another machine may misread cannot be avoided.

        Args:
            bits: 0 or 1 each.
            stop: see `ticore.codecs.ArithmeticCodec`. With `paper` the text ends with the message,
                as in the paper's experiments.
            progress: see `embed`.
            observer: sees each step that carries bits, such as a `ticore.evaluation.Meter`.

        Returns:
            The text and what it cost.

        Raises:
            CapacityError: as `embed`.
            CredentialError: the settings need a key, and there is none; a password is not enough.
            SettingsError: a bit is neither 0 nor 1, or the codec does not have the stop rule.
        """
        started = time.perf_counter()
        tail = self._random_bits if stop == "exact" else zeros
        state = self._text_state()
        writer = self._raw_codec(stop, state).writer(BitSource(pack_bits(bits), len(bits), tail))
        # What follows the message would hide its end, which the paper's rule needs.
        finish = self._finish == "sentence" and stop == "exact"
        written = write_bits(
            state, writer, len(bits), finish=finish, progress=progress, observer=observer
        )
        return _timed(written, started)

    def embed_bits_report(
        self,
        bits: Sequence[int],
        stop: StopRule = "exact",
        progress: Progress | None = None,
        observer: Observer | None = None,
    ) -> Embedding:
        """The former name of `embed_bits`, which returned the text alone."""
        warn_deprecated("Steganographer.embed_bits_report", "Steganographer.embed_bits")
        return self.embed_bits(bits, stop=stop, progress=progress, observer=observer)

    @keywords_after(3)
    def extract_bits(
        self, text: str | Embedding, length: int, *, stop: StopRule = "exact"
    ) -> list[int]:
        """The first `length` bits that a text holds, written by `embed_bits` with the same stop.

        Args:
            text: what was received.
            length: how many bits to read.
            stop: see `embed_bits`.

        Returns:
            The bits, 0 or 1 each.

        Raises:
            ExtractionError: the text holds fewer bits, or was not written with these settings.
            CredentialError, SettingsError: as `embed_bits`.
            WrongTypeError: the text is not a str.
        """
        require_integer("length", length, 0)
        received = self._received(text)
        state = self._text_state(received.known_ids)
        reader = self._raw_codec(stop, state).reader()
        value, count = 0, 0
        for settled, size in read_bits(state, received, reader):
            value, count = value << size | settled, count + size
            if stop == "exact" and count >= length:
                break
        if count < length:
            value, count = value << length - count | reader.remainder(length - count), length
        return unpack_bits(value >> count - length, length)

    def _received(self, text: str | Embedding) -> ReceivedText:
        text = plain_text(text)
        if not text:
            raise IncompleteMessageError("expected a text with a message in it, found none")
        return self._disambiguation.read(text)

    def _text_state(self, known_ids: Sequence[int] | None = None) -> TextState:
        """A text at its prompt. If its tokens are known, all logits may be computed at once."""
        room = self._model.context_length - len(self._prompt_ids)
        decoder: Decoder
        if (
            self._is_portable
            and known_ids
            and PrescoredDecoder.fits(self._model, self._prompt_ids, known_ids)
        ):
            decoder = PrescoredDecoder(self._model, self._prompt_ids, known_ids[:room])
        else:
            decoder = self._model.start(self._prompt_ids)
        return TextState(decoder, self._candidates, self._disambiguation.start(), room)

    def _frame_writer(self, frame: bytes, secret: Secret) -> Writer:
        if self._shares_randomness:
            return NonceFirstWriter(self._codec_spec, secret, frame, self._random_bits)
        return self._codec_spec.make().writer(BitSource(frame, 8 * len(frame), self._random_bits))

    def _frame_reader(self, secret: Secret) -> Reader:
        if self._shares_randomness:
            return NonceFirstReader(self._codec_spec, secret)
        return self._codec_spec.make().reader()

    def _raw_codec(self, stop: StopRule, text: TextState) -> Codec:
        """The codec of raw bits. They have no nonce: shared numbers start with the text."""
        if not self._shares_randomness:
            return self._codec_spec.make(stop)
        if self._secret is None or self._secret.salt_length:
            raise CredentialError(
                "expected a key, since these settings draw random numbers that both sides share, "
                "found none; give key=ticore.Key.new(), a new one for each text of raw bits"
            )
        key = self._secret.derive(b"").shared_key(b"raw bits")
        text.share(SharedRandomness(key, FOR_DISAMBIGUATION))
        return self._codec_spec.make(stop, SharedRandomness(key, FOR_CODEC))

    def _why_not(self) -> str:
        if not self._disambiguation_spec.certain:
            return (
                f"the reader finds other tokens, which disambiguation "
                f"{self.agreement.disambiguation!r} does not prevent; use 'stepwise'"
            )
        if self._is_portable:
            return (
                "in each of them another machine might round a logit differently; send a shorter "
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
            raise CredentialError(
                "expected a key or a password, found neither; "
                "give key=ticore.Key.new() or password=..., or use embed_bits for raw bits"
            )
        return self._secret


class _StepLimitError(Exception):
    """The other readings of a text have taken long enough."""


class _StepLimit:
    """Counts the tokens that are read, as a Progress, and stops when they are too many."""

    def __init__(self, most: int) -> None:
        self._left = most

    def __call__(self, done: int, total: int) -> None:
        self._left -= 1
        if self._left < 0:
            raise _StepLimitError


def _part(progress: Progress | None, start: int, bits: int) -> Progress | None:
    """A Progress for half of the work: `bits` of 2 x `bits`, of which `start` are done before."""
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
    codec: CodecSpec,
    disambiguation: DisambiguationSpec,
) -> Steganographer:
    """A steganographer as it was before it was pickled."""
    stego = kind.from_agreement(
        agreement,
        model=model,
        codec=codec,
        disambiguation=disambiguation,
        finish=finish,
        entropy=entropy,
    )
    stego._secret = secret
    return stego


def _timed(embedding: Embedding, started: float) -> Embedding:
    return replace(embedding, seconds=time.perf_counter() - started)
