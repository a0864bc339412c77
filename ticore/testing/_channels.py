"""What every channel keeps."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ..channels import Channel
from ._same import require_same

_WORDS = (
    *("The ", "old\n", "house. ", "It's ", '"no"', "well-known", " - ", "--", "...", "\n\n", "  "),
    *(
        "> ",
        ">",
        "From ",
        "1/2",
        "fine",
        "flow",
        "\t",
        "\r\n",
        "(c)",
        "A",
        "é",
        "e\u0301",
        "ß",
        "I",
    ),
    *(
        "日本",
        "の ",
        " 朝",
        "。",
        "\u3000",
        "가 나",
        "“",
        "’",
        "…",
        "—",
        "ﬁ",
        "\u00a0",
        "\u200b",
        "😀",
    ),
    *(
        "Σας",
        "ı",
        "q\u0323\u0302",
        "ệ",
        "Ǆ",
        "½",
        "`",
        "\u2028",
        "ʼn",
        "\ufeff",
        "か\u3099",
        "x" * 30,
    ),
    *("中...well done", "中-office it"),
)
_texts = st.one_of(
    st.lists(st.sampled_from(_WORDS), max_size=12).map("".join),
    st.text(st.sampled_from(sorted({*"".join(_WORDS), *" \n->\"'."})), max_size=20),
    st.text(st.characters(max_codepoint=0x2FFF, exclude_categories=["Cs", "Cn"]), max_size=8),
)


class ChannelContract:
    """Whatever a channel does to a text that it leaves alone, it is read as that text.

    Needs a fixture `channel`.

    A complete test file, for a machine that may print a tilde for a hyphen:

        import pytest

        from ticore.channels import Channel
        from ticore.testing import ChannelContract


        def print_badly(text, random):
            return "".join(random.choice("-~") if mark == "-" else mark for mark in text)


        class TestTildes(ChannelContract):
            @pytest.fixture
            def channel(self):
                return Channel(
                    "tildes",
                    "hyphens may become tildes",
                    lambda text: text.replace("~", "-"),
                    changes={"printed": print_badly},
                )
    """

    def test_what_is_read_is_left_alone(self, channel: Channel) -> None:
        @settings(deadline=None)
        @given(text=_texts)
        def check(text: str) -> None:
            once = channel.read(text)
            require_same(channel.read(once), once, "the text that is read twice")

        check()

    def test_changes_in_any_order_are_undone(self, channel: Channel) -> None:
        if not channel.changes:
            pytest.skip("this channel names no changes")
        names = st.lists(st.sampled_from(sorted(channel.changes)), min_size=1, max_size=5)

        @settings(deadline=None, max_examples=120)
        @given(text=_texts, names=names, seed=st.integers(0, 999))
        def check(text: str, names: list[str], seed: int) -> None:
            random = Random(seed)
            sent = arrived = channel.read(text)
            for name in names:
                arrived = channel.changes[name](arrived, random)
            require_same(channel.read(arrived), sent, f"the text after {', '.join(names)}")

        check()
