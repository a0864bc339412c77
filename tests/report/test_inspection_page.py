"""The page is well-formed, fetches nothing, and escapes all texts and tokens."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.toy_models import ToyTokenizer
from ticore._support.visible import visible, visible_token
from ticore.consistency import compare
from ticore.report import TokenStatus, inspection_page
from ticore.report._markup import element, text
from ticore.report._page import page

MARKUP = [
    *("<script>", "alert(1)", "</script>", "</style>", "<", ">", "<!--", "-->", "]]>"),
    *('"', "'", "&amp;", "&", "amp;", "{0}"),
]
ODD = ["\u2028", "\u202e", "\0", "\r", "\n", " ", "日本", "日", "本"]
TOY = ToyTokenizer(["", "ab", "a", "b", "c", "c", *MARKUP, *ODD])  # 4 and 5 are twins

TAGS = {
    *("html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "div", "ul", "ol", "li"),
    *("strong", "span", "bdi", "small"),
}
ATTRIBUTES = {
    *("lang", "charset", "name", "content", "http-equiv", "class", "title", "dir", "role"),
    *("aria-label", "aria-hidden"),
}


class Page(HTMLParser):
    """The elements of a document with their attributes and texts."""

    def __init__(self, document):
        super().__init__()
        self.open, self.elements, self.texts, self.declarations = [], [], {}, []
        self.feed(document)
        self.close()
        assert self.open == []

    def handle_decl(self, decl):
        self.declarations.append(decl)

    def handle_starttag(self, tag, attrs):
        assert len(dict(attrs)) == len(attrs)
        self.elements.append((tag, dict(attrs)))
        if tag != "meta":
            self.open.append(tag)
            self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open:
            self.texts[self.open[-1]][-1] += data

    def handle_comment(self, data):
        raise AssertionError(data)

    def having(self, class_name):
        return [a for _, a in self.elements if class_name in (a.get("class") or "").split()]


def inspect(ids, title="Tokens", given=None):
    comparison = compare(TOY, ids)
    document = inspection_page(comparison, TOY.token_bytes, title, given)
    return comparison, document, Page(document)


@given(ids=st.lists(st.integers(0, TOY.vocab_size - 1), max_size=12), title=st.text())
def test_inspection_page_escapes_texts_and_titles(ids, title):
    comparison, document, parsed = inspect(ids, title)
    document.encode()
    assert parsed.declarations == ["DOCTYPE html"]
    assert parsed.texts["title"] == parsed.texts["h1"] == [visible(title)]
    assert {tag for tag, _ in parsed.elements} <= TAGS
    assert {name for _, given in parsed.elements for name in given} <= ATTRIBUTES
    shown = [visible_token(TOY.token_bytes(i)) for i in (*comparison.ids, *comparison.again)]
    assert sorted(parsed.texts.get("bdi", [])) == sorted(shown)
    assert visible(comparison.text, keep="\n") in parsed.texts["div"]
    assert not set(document) & set("\0\r\u2028\u202e")


def test_inspection_page_fetches_nothing_and_has_no_script():
    _, document, parsed = inspect([6, 7, 8])
    assert document.startswith("<!DOCTYPE html>\n")
    assert parsed.elements[:3] == [
        ("html", {"lang": "en"}),
        ("head", {}),
        ("meta", {"charset": "utf-8"}),
    ]
    assert not re.search(r"url\(|@import|https?:", document)
    assert "prefers-color-scheme: dark" in document


def test_inspection_page_shows_a_script_in_the_text_as_text():
    _, document, _ = inspect([6, 7, 8])
    assert "<script" not in document
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in document


def test_inspection_page_marks_boxes_by_more_than_colour():
    comparison, _, parsed = inspect([2, 3, 4, 5, 0])
    assert comparison.sits == (0, 1, 4)
    assert comparison.cits == (0,)
    assert parsed.texts["small"] == ["S 2", "S 3", "C 1", "4", "4", "O 5", "O 4", "S 0"]
    assert parsed.texts["strong"] == ["S", "C", "O"]
    titles = [a["title"] for a in parsed.having("token")]
    assert titles[0] == f"id 2; bytes 61; at 0 to 1 of the text; {TokenStatus.SOURCE.meaning}"
    assert titles[3] == "id 4; bytes 63; at 2 to 3 of the text"
    assert titles[-1].startswith("id 0; bytes none; at 4 to 4 of the text; ")
    assert [len(parsed.having(status.name.lower())) for status in TokenStatus] == [0, 3, 1, 2, 0, 0]


def test_inspection_page_names_special_tokens_in_their_places():
    tokenizer = ToyTokenizer(["", "a", "b", "ab", "<s>", "</s>"], special=(4, 5))
    comparison = compare(tokenizer, [4, 1, 5, 4, 1, 2])
    name = tokenizer.pieces.__getitem__
    parsed = Page(inspection_page(comparison, tokenizer.token_bytes, "t", token_name=name))
    assert parsed.texts["div"][0] == "aab"
    assert len(parsed.having("special")) == 3
    assert [text for text in parsed.texts["span"] if text] == ["<s>", "</s>", "<s>"]
    assert [text for text in parsed.texts["bdi"] if len(text) > 2] == ["<s>"] * 2 + [
        *["</s>"] * 2,
        *["<s>"] * 2,
    ]
    assert len(parsed.having("boundary")) == 6
    titles = [a["title"] for a in parsed.having("boundary")]
    assert titles[2] == f"id 5; </s>; at 1 of the text; {TokenStatus.BOUNDARY.meaning}"


def test_inspection_page_has_two_rows_in_each_block():
    _, _, parsed = inspect([2, 3, 4, 5, 0])
    assert len(parsed.having("block")) == 4
    assert len(parsed.having("differs")) == 3
    assert len(parsed.having("row")) == 8
    assert sum(a.get("aria-hidden") == "true" for _, a in parsed.elements) == 1


def test_inspection_page_is_well_formed_without_tokens():
    _, document, parsed = inspect([])
    assert "consistent: 0 tokens" in document
    assert parsed.having("blocks")
    assert not parsed.having("token")


def test_inspection_page_says_that_the_tokenizer_changes_the_text():
    assert "changes the text" not in inspect([2], given="a")[1]
    assert "changes the text" in inspect([2], given="A")[1]


@pytest.mark.parametrize("value", ['"><script>', "'", "&quot;", "\n", "\u202e"])
def test_element_escapes_attributes(value):
    parsed = Page(page("t", element("p", text(value), title=value)))
    assert ("p", {"title": visible(value)}) in parsed.elements
    assert parsed.texts["p"] == [visible(value)]
