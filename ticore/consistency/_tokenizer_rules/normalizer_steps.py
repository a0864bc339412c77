"""Sequences of normalizers: which of them can be decided where two texts meet.

A normalizer here is a sequence of steps: normal forms of Unicode; `lowercase` and `strip_accents`,
which drops marks, both character by character; `replace`, which puts another text in the place of
each occurrence of one; and `by_character`, which drops some characters, makes spaces of others or
puts spaces around them, as Nmt and BertNormalizer do. A text is *kept* if the whole sequence gives
it back. `normalizers` asks three things of the texts that are kept:

1. Their parts are kept too.
2. Whether two such texts are kept side by side depends on the characters near the place where they
   meet. From the first character of the second text on that *joins* nothing, none matters.
3. A beginning that is not kept is not kept in a longer text either, nor becomes one that is.

**No detours.** They follow once it is known that a text is kept only if each step leaves it alone.
A sequence might change a text and then change it back: `nfd+nfc` does. So let

    (n, u, l, s) = (how many of its characters occur in replaced texts, how many are changed by
                    `lowercase`, how many are no spaces, minus how many are spaces), counted in the
                    normal form KD of a text, the first one counting most.

A normal form changes none of them, as it does not change the form KD. `replace` makes n smaller;
`lowercase` makes u smaller where it changes anything, and n not larger; `strip_accents` makes l
smaller, and neither n nor u larger; `by_character` makes l or s smaller, and neither n nor u larger
where no space is replaced. So a text that comes back was changed by none of these four: only normal
forms may have made a detour. What comes back is then the form that they give together. What a step
of the other kinds sees is the text itself; or, where an earlier step is of form D or KD and a later
one of form C or KC, the text decomposed. Whether the steps that work character by character leave
that alone is a matter of each character.

So normal forms that compose must come after those that decompose. Else marks that `strip_accents`
would remove may be hidden in characters at that time. And `replace` does not go with both kinds,
since what it finds in a decomposed text may lie in two characters.

Tests compare every claim about characters with all characters of Unicode 14.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence

from .._unsupported import Unsupported

COMPOSING = frozenset({"nfc", "nfkc"})
DECOMPOSING = frozenset({"nfd", "nfkd"})
FORMS = COMPOSING | DECOMPOSING
BY_CHARACTER = "by_character"
STEPS = FORMS | {"lowercase", "strip_accents", "replace", BY_CHARACTER}
LONGEST_REPLACED = 31
"""Characters. More would make every state of an engine large."""


def require_local(steps: Sequence[str], replacements: Mapping[str, str]) -> None:
    """Refuse steps for which one of the claims above does not hold.

    Args:
        steps: names of `STEPS`, in order.
        replacements: what `replace` puts in the place of which texts.

    Raises:
        Unsupported: for such steps.
    """
    composing = [n for n, step in enumerate(steps) if step in COMPOSING]
    decomposing = [n for n, step in enumerate(steps) if step in DECOMPOSING]
    if composing and decomposing:
        if composing[0] < decomposing[-1]:
            raise Unsupported("its normalizer composes characters, and decomposes them again")
        if replacements:
            raise Unsupported("its normalizer replaces texts, and both decomposes and composes")
    found = frozenset("".join(replacements))
    for old, new in replacements.items():
        if not 0 < len(old) <= LONGEST_REPLACED:
            raise Unsupported(f"its normalizer replaces a text of {len(old)} characters")
        if sum(c in found for c in unicodedata.normalize("NFKD", new)) >= len(old):
            raise Unsupported(f"its normalizer may replace {new!r}, which it puts for {old!r}")
    if BY_CHARACTER in steps and " " in found:
        raise Unsupported("its normalizer replaces ' ', which other steps change")
    for character in sorted(found):
        is_cased = character.lower() != character.upper()
        is_composed = unicodedata.normalize("NFKD", character) != character
        if (
            character == "|"
            or ("lowercase" in steps and is_cased)
            or (FORMS.intersection(steps) and (is_composed or unicodedata.combining(character)))
        ):
            raise Unsupported(f"its normalizer replaces {character!r}, which other steps change")
