"""Texts of a server. One that cannot be verified is left unmasked, and the others go on."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from ticore.backend_kit import require_tokenizer_of_model, word_count
from ticore.consistency import Mode, Verification, Verifier, View
from ticore.errors import TicoreError
from ticore.interfaces import Tokenizer

from ._following import FollowedText, verification_of
from ._report import Report
from ._settings import RequestSettings, Specials

Words = npt.NDArray[np.uint32]

UNKNOWN = -1
"""What engines write in the place of a token that they do not know yet."""


class ServedTexts:
    """Starts the texts of a server.

    Args:
        tokenizer: the receiver's; its ids are the model's.
        width: the number of logits per token.
        log: where reports and warnings go.

    Attributes:
        words: the number of uint32 words in the mask of one text: at least `width` bits.
        width: as given.

    Raises:
        SettingsError: the tokenizer is not the model's, or cannot be verified.
    """

    def __init__(self, tokenizer: Tokenizer, width: int, log: logging.Logger) -> None:
        require_tokenizer_of_model(tokenizer, width)
        self._tokenizer, self._log, self.width = tokenizer, log, width
        self.words = word_count(max(width, tokenizer.vocab_size))
        self._verifiers: dict[tuple[Mode, View], Verifier] = {}
        # At once, since it takes seconds: nobody should wait for it at the first request.
        default = RequestSettings()
        self._boundaries = _boundaries(self._verifier(default.mode, default.view))

    def start(
        self, settings: RequestSettings, prompt: Sequence[int] | None, ends: Collection[int]
    ) -> ServedText:
        """The text of a new request. Never raises because of the request.

        Args:
            settings: what the request asks for.
            prompt: its ids; None if there are no ids, which only view `continuation` can do with.
            ends: ids that end the text. Those that are special may follow where the text is
                consistent; the others are tokens like any other.
        """
        report = Report(settings.report)
        allowed = self._specials(settings.specials, ends)
        verification, why = None, ""
        if prompt is None and settings.view == "whole":
            why = "the prompt has no token ids; use ticore_view 'continuation'"
        else:
            try:
                verifier = self._verifier(settings.mode, settings.view)
                verification = verification_of(verifier, prompt or ())
            except TicoreError as error:
                why = str(error)
        return ServedText(verification, why, allowed, report)

    def settings_of(self, arguments: dict[str, object] | None) -> RequestSettings:
        """As `RequestSettings.of`, for arguments that should have been validated before.

        A request with wrong ones is left unmasked, and the log says so.
        """
        try:
            return RequestSettings.of(arguments)
        except TicoreError as error:
            self._log.warning("a request is not held consistent: %s", error)
            return RequestSettings(on=False)

    def close(self, text: ServedText | None) -> None:
        """Log the report of a text that the engine has finished, if its request asked for one."""
        if text is not None and text.report.name:
            self._log.info("%s", text.report.line())

    def _verifier(self, mode: Mode, view: View) -> Verifier:
        if (mode, view) not in self._verifiers:
            made = self._verifiers[mode, view] = Verifier(self._tokenizer, mode=mode, view=view)
            if made.method != "table":
                self._log.warning("masks of mode %s take long at each step: %s", mode, made.why)
        return self._verifiers[mode, view]

    def _specials(self, which: Specials, ends: Collection[int]) -> Words:
        """uint32[words]: the special tokens that may stand after a consistent part."""
        found = set(ends) & self._tokenizer.special_ids
        if which == "any":
            found |= self._boundaries
        words = np.zeros(self.words, dtype=np.uint32)
        for token in found:
            words[token // 32] |= np.uint32(1 << token % 32)
        return words


class ServedText:
    """The text of one request, as far as the engine has written it.

    After a token that the mask did not allow (engines force some) nothing is masked any more. Such
    a text may become consistent again, but asking for that takes long, and all texts would wait.

    Attributes:
        specials: uint32[words], the special tokens that may follow where the text is consistent.
        report: what the masks did.
    """

    def __init__(
        self, verification: Verification | None, why: str, specials: Words, report: Report
    ) -> None:
        self._text = None if verification is None else FollowedText(verification)
        self._why = why
        self.specials = specials
        self.report = report

    def follow(self, written: Sequence[int]) -> Verification | None:
        """The verification that gives the next mask; None if nothing can be masked.

        Args:
            written: all tokens after the prompt, at its end perhaps some that are `UNKNOWN`. Since
                the last call only the end may have changed.
        """
        if written and written[-1] == UNKNOWN:
            self.report.refuse("the engine did not know its last token yet")
            return None
        return self.extend(self._text.after_tail(written) if self._text else ())

    def extend(self, tokens: Sequence[int]) -> Verification | None:
        """As `follow`, from the tokens that were written since the last call."""
        for token in tokens:
            if self._text is None:
                break
            why = why_refused(self._text.push, token)
            if not (why or self._text.verification.admissible):
                why = f"the engine wrote token {token}, which the mask did not allow"
            if why:
                self._text, self._why = None, why
        if self._text is None:
            self.report.refuse(self._why)
            return None
        self.report.masked += 1
        return self._text.verification


def why_refused(push: Callable[[int], None], token: int) -> str:
    """Why a token cannot be pushed: the tokenizer does not have it; empty if it was."""
    try:
        push(token)
    except TicoreError as error:
        return str(error)
    return ""


def _boundaries(verifier: Verifier) -> set[int]:
    """The special ids after which a new part begins."""

    def is_boundary(token: int) -> bool:
        text = verifier.start()
        text.push(token)
        return text.admissible

    return set(filter(is_boundary, _in_vocabulary(verifier.tokenizer)))


def _in_vocabulary(tokenizer: Tokenizer) -> Iterable[int]:
    return (token for token in tokenizer.special_ids if token < tokenizer.vocab_size)
