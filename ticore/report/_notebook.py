"""Results in a notebook, drawn with the parts of the pages.

What a result does not hold is not shown: no names of special tokens without their tokenizer, and
no tokens of a text in which a watermark was looked for.
"""

from __future__ import annotations

from functools import singledispatch

from ..consistency import Comparison
from ..errors import TextPlace
from ..steganography import Embedding
from ..watermarking import Detection, Generated
from ._blocks import ComparedToken
from ._detection_page import DETECTION_STYLE, verdict_and_facts
from ._inspection_page import INSPECTION_STYLE, inspection_body
from ._markup import Html, element, text
from ._page import STYLE, facts_table, text_block
from ._place import PLACE_STYLE, place_body
from ._style import FRAGMENT
from ._summary import summary

MOST_TOKENS = 2000  # a notebook keeps what is shown in its file
_STYLE = (STYLE + INSPECTION_STYLE + DETECTION_STYLE + PLACE_STYLE).of_notebook()


def notebook_html(result: object) -> str:
    """The HTML of a result: one element, without scripts, which fetches nothing.

    Args:
        result: a Comparison, Detection, Embedding, Generated or TextPlace.

    Raises:
        TypeError: it is something else.
    """
    return element("div", _style(), *_body(result), class_=FRAGMENT)


def _style() -> Html:
    return Html(f"<style>\n{_STYLE}</style>")  # a constant: nothing in it comes from a result


@singledispatch
def _body(result: object) -> list[Html]:
    raise TypeError(f"expected a result that can be drawn, found {type(result).__name__}")


@_body.register
def _comparison(found: Comparison) -> list[Html]:
    count = max(len(found.ids), len(found.again))
    if count > MOST_TOKENS:
        sentences = [element("p", text(sentence)) for sentence in summary(found)]
        hint = f"{count:,} tokens are too many to show here: see ticore.report.inspection_page"
        return [*sentences, element("p", text(hint))]
    data = found.text.encode()

    def spell(token: ComparedToken) -> bytes:
        start, end = token.span
        return data[start:end]

    return inspection_body(found, spell, heading="p")


@_body.register
def _detection(found: Detection) -> list[Html]:
    return list(verdict_and_facts(found))


@_body.register
def _embedding(written: Embedding) -> list[Html]:
    facts = [
        ("hidden", f"{written.bits:,} bits in {written.token_count:,} tokens"),
        ("density", f"{written.bits_per_token:.2f} bits per token"),
        ("cost", f"{written.kl_filter:.4f} bits per token, for dropping ambiguous tokens"),
        ("time", f"{written.seconds:.1f} s"),
    ]
    return [text_block(text(written.text, keep="\n")), facts_table(facts)]


@_body.register
def _generated(written: Generated) -> list[Html]:
    facts = [
        ("written", f"{len(written.ids):,} tokens, {written.forwards:,} read by the model"),
        ("end", written.end),
        ("consistent", "yes" if written.consistent else "no"),
        ("temporary", f"{written.temporary:,} inconsistencies, mended by later tokens"),
        ("taken back", f"{written.rollbacks:,} rollbacks, {written.backtracks:,} backtracks"),
        ("time", f"{written.seconds:.1f} s"),
    ]
    return [text_block(text(written.text, keep="\n")), facts_table(facts)]


@_body.register
def _place(place: TextPlace) -> list[Html]:
    return place_body(place)
