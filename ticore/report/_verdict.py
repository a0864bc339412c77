"""What a verdict says, for a person who knows no statistics: a sentence, with a colour and a sign.

The sentence has two frequencies to compare. The first one pays for all that was looked at: the text
as a whole, its parts, and all configurations of a list. So the text is called watermarked where,
and only where, the first one is not above the limit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from ..watermarking import AnyDetection, Detection
from ._detection_facts import certainty
from ._markup import Html, element, text
from ._style import Style

VERDICT_STYLE = Style(
    light="  --found: #1b6e2f; --part: #8a5a00;\n",
    dark="  --found: #8fd19e; --part: #ffc24d;\n",
    rules="""\
.verdict, .sign { --kind: var(--faint); }
.verdict.found, .sign.found { --kind: var(--found); }
.verdict.part, .sign.part { --kind: var(--part); }
.verdict {
  position: relative; padding: 0.7rem 0.8rem 0.7rem 3.2rem; background: var(--box);
  border: 1px solid var(--line); border-left: 0.4rem solid var(--kind); border-radius: 0.35rem;
  overflow-wrap: anywhere;
}
.verdict strong { display: block; font-size: 1.15rem; }
.verdict::before, .sign::before {
  content: "\\2013"; content: "\\2013" / ""; display: inline-block; width: 1.5rem;
  border-radius: 50%; background: var(--kind); color: var(--paper);
  font: bold 1rem/1.5rem system-ui, sans-serif; text-align: center;
}
.verdict::before { position: absolute; left: 0.8rem; top: 0.75rem; }
.sign::before { position: absolute; left: 0; }
.verdict.found::before, .sign.found::before { content: "\\2713"; content: "\\2713" / ""; }
.verdict.part::before, .sign.part::before { content: "\\BD"; content: "\\BD" / ""; }
.verdict.short::before, .sign.short::before { content: "?"; content: "?" / ""; }
""",
)

Kind = Literal["found", "part", "none", "short"]
_RAREST = 1e-9
_LARGE = ((1e12, " trillion"), (1e9, " billion"), (1e6, " million"))
_UNSEEN = (
    "The text may still come from a model: marks are lost by editing, and other models have other "
    "marks or none."
)


@dataclass(frozen=True)
class SaidVerdict:
    """A verdict in words.

    Attributes:
        kind: for the colour and the sign; `short`: the text is too short to tell.
        headline: a sentence.
        reason: more sentences.
    """

    kind: Kind
    headline: str
    reason: str

    def __str__(self) -> str:
        return f"{self.headline} {self.reason}"

    def short(self, verdict: str) -> str:
        """A few words for a table: the verdict, unless the text is too short to have one."""
        return "too short to tell" if self.kind == "short" else verdict

    def html(self) -> Html:
        """A paragraph, for a page that has VERDICT_STYLE."""
        headline = element("strong", text(self.headline))
        return element("p", headline, text(f" {self.reason}"), class_=f"verdict {self.kind}")


def said_of(found: Detection) -> SaidVerdict:
    """What is said of a text in which one watermark was looked for."""
    nothing = "No watermark of this key was found."
    said = _said(found, found.corrected_p_value, "the watermark", nothing, "it")
    if said.kind == "none" and found.too_short and found.least_p_value is not None:
        return _said_too_short(found.least_p_value, found.target.fpr)
    return said


def said_of_any(found: AnyDetection) -> SaidVerdict:
    """What is said of a text in which a list of configurations was looked for."""
    many = f"{found.configurations:,} configurations"
    without = f"any of the {many}"
    if found.configurations == 1:
        many, without = "one configuration", "it"
    others = len(found.found) - 1
    and_others = f", and {others:,} more" if others > 0 else ""
    best = found.best.detection
    said = _said(
        best,
        found.p_value,
        f"the watermark {found.best.name}{and_others}",
        f"No watermark of the {many} was found.",
        without,
    )
    if said.kind != "none" or not found.too_short_for:
        return said
    if found.too_short:
        return _said_too_short(found.least_p_value, best.target.fpr)
    few = f"The text is too short for {found.too_short_for:,} of them."
    return SaidVerdict(said.kind, said.headline, f"{few} {said.reason}")


def how_often(probability: float, rarest: float = _RAREST) -> str:
    """A probability as a person would say it.

    >>> how_often(0.72), how_often(3.1e-7)
    ('7 in 10 times', 'once in 3.2 million times')
    >>> how_often(1e-30)
    'less than once in 1 billion times'
    """
    if probability < rarest:
        return f"less than once in {_count(1 / rarest)} times"
    if probability >= 0.95:
        return "nearly every time"
    if probability > 0.25:
        return f"{round(10 * probability)} in 10 times"
    return f"once in {_count(1 / probability)} times"


def _said(best: Detection, reached: float, name: str, nothing: str, without: str) -> SaidVerdict:
    """The words for a verdict.

    Args:
        best: what decides.
        reached: the probability that a text without a watermark is as good evidence.
        name: of what is found.
        nothing: a sentence for the case that it is not found.
        without: what a text that is compared lacks.
    """
    often = _compared(reached, best.target.fpr)
    match best.verdict:
        case "watermarked":
            kind: Kind = "found"
            headline, scores = f"This text has {name}.", "would score this high"
        case "watermarked in part":
            kind, headline = "part", f"A part of this text has {name}."
            scores = "would have a part that scores this high"
        case _:
            reason = f"A text without {without} scores this high {often}. {_UNSEEN}"
            return SaidVerdict("none", nothing, reason)
    reason = f"A text without {without} {scores} {often}."
    if best.payload is not None:
        said = certainty(best.payload.confidence)
        reason += f" Its payload is {best.payload.payload.hex()}, with a confidence of {said}."
    return SaidVerdict(kind, headline, reason)


def _said_too_short(least: float, fpr: float) -> SaidVerdict:
    """The words where even the least probability that the text can reach is above the limit."""
    return SaidVerdict(
        "short",
        "This text is too short to tell.",
        f"Even the highest score that it can have is reached without a watermark "
        f"{_compared(min(1.0, least), fpr)}. Give a longer text.",
    )


def _compared(probability: float, fpr: float) -> str:
    """Both frequencies. The limit is left out where it is not known."""
    if math.isnan(fpr):
        return f"about {how_often(probability)}"
    often = how_often(probability, min(_RAREST, fpr))
    about = "" if often.startswith(("less", "nearly")) else "about "
    return f"{about}{often}; the limit that was set is {how_often(fpr, 0)}"


def _count(number: float) -> str:
    """With two digits that count, and large ones in words."""
    number = float(f"{number:.2g}")
    for size, word in _LARGE:
        if number >= size:
            return f"{number / size:,g}{word}"
    return f"{number:,.0f}"
