"""What the errors of the library advise in Python, in words for somebody at the page."""

from __future__ import annotations

PAGE_WORDS = {
    "; embed_parts hides longer messages in several texts": "; send it in several messages",
    " if padded; pad='none' does not": " if padded",
    ", use a model with a longer context, or raise temperature or top_k": ", or use a model with a "
    "longer context",
    "raise temperature or top_k, or try another prompt": "try other opening words",
    "choose another prompt, send a shorter message, or lower grid_bits or top_k": "choose other "
    "opening words, or send a shorter message",
    ", or use view 'continuation'": "",
    "give it as text, use view 'continuation', or, where the receiver keeps special tokens, "
    "specials='gaps'": "choose other opening words",
    ", or give payload_bits": "",
    "give payload= as bytes or hex digits": "type it as hex digits, two for each byte",
    "as bytes, or as a str of hex digits": "in hex digits",
    "read a key file with ticore.load_key(path)": "write its hex digits in quotation marks",
    "make one with: ticore agree -o FILE": "open the file that the other side has saved",
    "make one with: ticore agree-watermark": "open the file that the writer of the watermark has "
    "saved",
    "; for a password that a person remembers give password=...": "; copy the whole key",
}
"""Each error's advice, and what it is on the page, which has none of these settings."""


def with_page_words(said: str) -> str:
    """An error's text for somebody at the page.

    >>> with_page_words("expected a key, found an int; read a key file with ticore.load_key(path)")
    'expected a key, found an int; write its hex digits in quotation marks'
    """
    for python, page in PAGE_WORDS.items():
        said = said.replace(python, page)
    return said
