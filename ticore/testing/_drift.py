"""An assertion for the tests of a trainer: token ids survive being turned into text and read."""

from __future__ import annotations

from collections.abc import Sequence

from ..chat import Transcript
from ..consistency import Specials, compare
from ..interfaces import Tokenizer


def assert_no_drift(
    tokenizer: Tokenizer | object,
    ids: Sequence[int],
    *,
    reread: str | Sequence[int] | Transcript | None = None,
    specials: Specials = "gaps",
) -> None:
    """Fail if a list of ids is read back as other ids.

    Use it in a test of a rollout loop, with the ids that were sampled and with those that the
    trainer computes, or the text that the template writes:

        def test_rollouts_keep_their_ids(rollout):
            assert_no_drift(tokenizer, rollout.ids, reread=trainer.ids_of(rollout))

    Args:
        tokenizer, ids, reread, specials: as for `ticore.compare`.

    Raises:
        AssertionError: the ids differ. The text shows the first difference, its cause, and what to
            do about it.
        TicoreError: as `ticore.compare`.
    """
    __tracebackhide__ = True  # pytest shows the line of the test instead
    found = compare(tokenizer, ids, specials=specials, reread=reread)
    if found.consistent:
        return
    if (first := found.first) is None:
        raise AssertionError(
            f"expected ids with a text, found {len(found.unknowns)} for unknown text, the first at "
            f"token {found.unknowns[0]}: the text is lost"
        )
    raise AssertionError(
        f"expected {len(found.ids)} ids that are read back unchanged, found a difference\n"
        f"  at token  {first.at}, character {first.character}\n"
        f"  sampled   {first.text!r}  {list(first.ids)}\n"
        f"  read as   {first.text_again!r}  {list(first.again)}\n"
        f"  cause     {first.cause}\n"
        f"  rate      {found.rate:.2%} of the tokens differ\n"
        f"  to do     {first.advice}"
    )
