"""Modes: which lists of tokens may stand at the beginning of a text.

Every mode asks the same of a finished text, encode(decode(H)) == H. The modes differ in what they
ask of its beginnings. A list H may stand at the beginning

- in mode `prefix`, if it would be consistent as a finished text. This is the stepwise verification
  of Yan & Murawaki.
- in mode `open`, also if it ends inside a character, and for some character that completes it,
  encode(completed text) begins with H.
- in mode `viable`, also in two cases beyond `open`. H ends inside a character, and for some
  white-space character that completes it, encode(completed text + `AFTER_SPACE`) begins with H. Or
  H ends between characters, and for some text of `CONTINUATIONS`, encode(decode(H) + text) begins
  with H.

Example: under `prefix`, a character or a blank line that takes several tokens may be out of reach,
because its first tokens alone would be read back as other tokens.
"""

from __future__ import annotations

from typing import Literal

Mode = Literal["prefix", "open", "viable"]
"""Which lists of tokens may stand at the beginning of a text, see `ticore.Verifier`."""

# Whether a pretokenizer splits a text at its end depends on what follows: a letter, a digit, a
# sign, a line break at once or after a space, or a character that joins no token (Thai baht).
CONTINUATIONS = ("a", "1", ".", "\n", " \n", "\u0e3f")
# Ends a run of white space. A token may hold it after a plain space, as " 1" does, and after no
# other white space.
AFTER_SPACE = "1"


def beginnings() -> set[str]:
    """All non-empty beginnings of the texts of `CONTINUATIONS`."""
    return {text[:n] for text in CONTINUATIONS for n in range(1, len(text) + 1)}
