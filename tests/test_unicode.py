"""Lone surrogates are told apart from text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ticore.errors import SettingsError
from ticore.unicode import require_unicode


@given(text=st.text())
def test_text_is_accepted(text):
    require_unicode(text)


@given(before=st.text(), lone=st.characters(categories=["Cs"]), after=st.text())
def test_lone_surrogates_are_refused(before, lone, after):
    with pytest.raises(SettingsError, match=rf"U\+{ord(lone):04X} at character {len(before)}"):
        require_unicode(before + lone + after)
