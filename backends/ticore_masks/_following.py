"""A text that is verified as far as another program has written it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import dropwhile

from ticore.consistency import Verification, Verifier
from ticore.errors import PromptError

# Of how many of the last tokens an engine may change some. It is one, or a few drafts.
_COMPARED = 64


def verification_of(verifier: Verifier, prompt: Sequence[int]) -> Verification:
    """A text that begins with `prompt`, without the padding and start tokens before it.

    Special tokens further on, such as those of a chat, are boundaries.

    Raises:
        PromptError: in view `whole`, the prompt is not consistent.
        SettingsError: in view `whole`, the tokenizer does not have an id of the prompt.
    """
    special = verifier.tokenizer.special_ids
    verification = verifier.start(list(dropwhile(lambda token: token in special, prompt)))
    if not verification.consistent:
        raise PromptError(
            "expected a prompt that its tokenizer reads back as the tokens given, found another; "
            "use view 'continuation'"
        )
    return verification


class FollowedText:
    """A text that grows, shrinks or becomes another one between two looks at it.

    Args:
        verification: the text before its first token, as `verification_of` starts it.

    Attributes:
        verification: the text as it was at the last look.
    """

    def __init__(self, verification: Verification) -> None:
        self.verification = verification
        self._written: list[int] = []

    def follow(self, written: Sequence[int]) -> Verification:
        """The verification of all tokens written, from as many as were verified before.

        Raises:
            SettingsError: the tokenizer does not have an id; the text ends before it.
        """
        for token in self.after_common(written):
            self.push(token)
        return self.verification

    def after_common(self, written: Sequence[int]) -> Sequence[int]:
        """Take back what is not at the beginning of `written`; the tokens that are to be pushed."""
        known = self._written
        # Texts almost always grow, and lists are compared faster as a whole.
        if written[: len(known)] != known:
            pairs = enumerate(zip(known, written, strict=False))
            shorter = min(len(known), len(written))
            common = next((at for at, (old, new) in pairs if old != new), shorter)
            self.verification.rewind(len(known) - common)
            del known[common:]
        return written[len(known) :]

    def after_tail(self, written: Sequence[int]) -> Sequence[int]:
        """As `after_common`, for tokens that change at their end alone: fast for long texts.

        Where they are fewer than before, or end in others, all are compared.
        """
        known = self._written
        start, end = max(0, len(known) - _COMPARED), len(known)
        if list(written[start:end]) == known[start:]:
            return written[end:]
        return self.after_common(list(written))

    def push(self, token: int) -> None:
        """Append one token.

        Raises:
            SettingsError: the tokenizer does not have this id.
        """
        self.verification.push(token)
        self._written.append(token)
