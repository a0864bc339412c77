"""A comparison in one number and in a few sentences."""

from __future__ import annotations

from ..consistency import Comparison


def inconsistency_rate(comparison: Comparison) -> float:
    """The share of tokens that differ: (|SIT| + |CIT|) / (|H| + |H'|).

    H is the list, and H' the one that is read back. Other ids with the same spans are not counted,
    so the rate of some inconsistent lists is 0.

    Returns:
        0 to 1; 0 if there are no tokens.
    """
    return comparison.rate


def summary(comparison: Comparison, given: str | None = None) -> list[str]:
    """A comparison in sentences.

    Args:
        comparison: a token list and the one that its text is read back as.
        given: the text that was encoded to the list, if there is one.

    Returns:
        At least one sentence: first whether the list is consistent, then what else is unusual.
    """
    count, count_again = len(comparison.ids), len(comparison.again)
    unknown, special = len(comparison.unknowns), len(comparison.specials)
    if comparison.consistent:
        sentences = [f"consistent: {_tokens(count)}, read back unchanged"]
    elif comparison.ids == comparison.again:
        sentences = [f"inconsistent: {_tokens(count)}, read back unchanged, but text is lost"]
    else:
        sentences = [
            f"inconsistent: {_tokens(count)}, read back as {count_again}",
            f"{len(comparison.sits)} source and {len(comparison.cits)} consequential inconsistent "
            f"tokens: {inconsistency_rate(comparison):.2%} of both lists",
        ]
    if unknown:
        sentences.append(f"{_tokens(unknown)} for text that the tokenizer does not know")
    if special:
        start, end = comparison.spans[comparison.specials[0]]
        how = (
            "found by name in the text"
            if start < end
            else "each part between them is read by itself"
        )
        sentences.append(f"{_tokens(special, 'special ')}; {how}")
    if given is not None and given != comparison.text:
        sentences.append("the tokenizer changes the text: its tokens do not spell what was given")
    return sentences


def _tokens(count: int, kind: str = "") -> str:
    return f"{count} {kind}token{'' if count == 1 else 's'}"
