"""What a verdict says, for a person who knows no statistics."""

from __future__ import annotations

from ..watermarking import AnyDetection

_RAREST = 1e-9


def sentence(verdict: str, p_value: float) -> str:
    """A sentence or two.

    Args:
        verdict: of a detection.
        p_value: what it rests on: that of the text, or of its marked part.
    """
    match verdict:
        case "watermarked":
            return (
                f"This text has the watermark. Of texts without it, {_share(p_value)} would "
                f"look as marked as this one."
            )
        case "watermarked in part":
            return (
                f"A part of this text has the watermark. Of texts without it, "
                f"{_share(p_value)} would have a part that looks as marked."
            )
    return (
        "No watermark of this key was found. The text may still come from a model: marks are lost "
        "by editing, and other models have other marks or none."
    )


def any_sentence(found: AnyDetection) -> str:
    """A sentence or two on a text in which a list of configurations was looked for."""
    many = f"{found.configurations:,} configurations"
    if found.configurations == 1:
        many = "one configuration"
    if not found.found:
        return (
            f"No watermark of the {many} was found. The text may still come from a model: marks "
            f"are lost by editing, and other models have other marks or none."
        )
    part = "A part of this text" if found.verdict == "watermarked in part" else "This text"
    others = len(found.found) - 1
    and_others = f", and {others:,} more" if others else ""
    return (
        f"{part} has the watermark {found.best.name}{and_others}. Of texts without any of the "
        f"{many}, {_share(found.p_value)} would look as marked as this one."
    )


def _share(p_value: float) -> str:
    if p_value < _RAREST:
        return "fewer than one in a billion"
    return f"about one in {round(1 / p_value):,}"
