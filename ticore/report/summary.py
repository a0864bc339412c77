"""What a comparison comes to, in a number and in sentences."""

from __future__ import annotations

from ..consistency import Comparison


def inconsistency_rate(comparison: Comparison) -> float:
    """(|SIT| + |CIT|) / (|H| + |H'|), from 0 to 1; 0 where there is no token at all.

    It is 0 for some inconsistent lists: other ids with the same spans are not counted.
    """
    tokens = len(comparison.ids) + len(comparison.again)
    return (len(comparison.sits) + len(comparison.cits)) / tokens if tokens else 0.0


def summary(comparison: Comparison, given: str | None = None) -> list[str]:
    """Sentences for a person: first whether the list is consistent, then what else is odd.

    Args:
        given: the text whose encoding the list is, if there is one.
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
        sentences.append(f"{_tokens(special, 'special ')} kept; what is between is read by itself")
    if given is not None and given != comparison.text:
        sentences.append("the tokenizer changes the text: its tokens do not spell what was given")
    return sentences


def _tokens(count: int, kind: str = "") -> str:
    return f"{count} {kind}token{'' if count == 1 else 's'}"
