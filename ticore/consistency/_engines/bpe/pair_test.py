"""The pair test: whether best-first BPE leaves two neighbouring tokens as they are.

This file states the predicate. Everything else in this package uses it or speeds it up.

BPE repeats one step: of all neighbours that a rule joins, it merges those of the lowest rank, and
of equal ranks the leftmost. A *part* of a text is what the pretokenizer hands to BPE in one piece.

Theorem
-------
Tokens t1 ... tn are the canonical tokenization of a part iff

(1) each token is *reachable*: BPE gives it for its own text; and
(2) no two neighbours *merge*: BPE gives ti, ti+1 for the text of the two.

The proof rests on one remark. Until a merge crosses a boundary between tokens, the merges inside
ti (or inside ti and ti+1) are those of a run on the text of ti (or of the two) alone, in the same
order. For their ranks and places alone decide which of two merges comes first.

1. *If the list is canonical, (1) and (2) hold.* The run on the part ends with t1 ... tn. So no
   merge in it crosses a boundary, and no rule joins two neighbours at its end. By the remark, the
   run on the text of ti alone ends with ti, and that on the text of ti and ti+1 with these two.
   Example: with the one rule a+b, the list `ab ab` is canonical. BPE gives `ab` for ab, and `ab ab`
   for abab.
2. *If (1) and (2) hold, the list is canonical.* Suppose that in the run on the part some merge
   crosses a boundary. Take the first that does, between ti and ti+1. By the remark, the same merge
   happens in the run on the text of these two alone. That contradicts (2). So no merge crosses a
   boundary. By the remark and (1), the run makes t1 ... tn; by (2), it ends there. Example: the
   list `a b` is not canonical under the rule a+b, and (2) fails: `a | b` merge.

The predicate
-------------
Let L and R be two reachable tokens. The first merge across their boundary joins a symbol u at the
right edge of L with a symbol s at the left edge of R:

    L = ... [ u ] | [ s ] ... = R        u: L, its right part, the right part of that, ...
                  |                      s: R, its left part, the left part of that, ...

Time in a run is its *clock*, the highest rank merged so far. -1 is the start. The merge tree of
each token (`merge_trees`) tells when a symbol is made, when its parent uses it up, and its
*deadline*: the highest rank that is merged while the symbol waits to be used up.

L and R merge iff, for some u and s, there is a rule u + s of a rank c with all of

(a) made_at[s] < used_up_at[u]     s is there before u is used up;
(b) made_at[u] <= used_up_at[s]    u is there before s is used up;
(c) c < deadline of u              the rule runs before L's own merges use u up;
(d) c <= deadline of s             the rule runs before R's own merges use s up.

At equal clocks, and at equal ranks, the leftmost merge is first. L's own merges are to the left of
the rule u + s, which is to the left of R's own. So (a) and (c) are strict, (b) and (d) are not. L
and R themselves are never used up, and their deadline is `NEVER`.

Examples; `0: a+b` is the rule that merges a and b with rank 0:

1. 0: a+b, 1: b+c, 2: ab+c. `ab | c` merge. u = ab is L and s = c is R, so (a) to (d) hold.
2. 0: b+c, 1: a+b. `ab | c` merge. u = b waits for 1: a+b, so its deadline is 1, and 0 < 1.
3. 0: a+b, 1: b+c. `ab | c` do not merge. u = b has the deadline 0, and 1 < 0 is false: (c).
4. Rank 0 for both a+b and b+c. `ab | c` do not merge, since 0 < 0 is false: (c). `a | bc` merge,
   since 0 <= 0 is true: (d).
5. 0: ab+c, 1: c+d, 2: a+b. `ab | cd` do not merge. s = c is used up at clock 1, before u = ab is
   made at clock 2: (b).
6. 0: b+cd, 1: a+b, 2: c+d. `ab | cd` do not merge. u = b is used up at clock 1, before s = cd is
   made at clock 2: (a).

No order of ranks is assumed. A rule may have a lower rank than the rules that make its two sides,
as SentencePiece's vocabularies have them: 0: ab+c, 1: a+b. Then abc is made at clock 1 at once.

Prior art, and what is added
----------------------------
The theorem is known. It is Corollary IIIa of the README of github/rust-gems, crates/bpe, whose
`is_valid_token_pair` decides it for one pair; and Vieira et al., *Language Models over Canonical
Byte-Pair Encodings*, ICML 2025 (PMLR 267:61413-61443), make language models canonical with it.

Added here: the predicate for rules in any order of ranks, with ties (rust-gems builds each token
from two tokens of lower rank); whole rows of the table at once, as intervals (`pair_table`); and
what stands around BPE: pretokenizers, normalizers, added tokens, bytes of unfinished characters.

The four places that decide it
------------------------------
The predicate is computed in four ways, each fast for one question. Tests compare all of them with
runs of BPE, on every pair of random vocabularies.

    PairTest.merge               many pairs, NumPy; builds the merge trees
    PairTable.unmerged_after     one left token, all right tokens, NumPy; masks
    PairTable.do_not_merge       one pair, from the stored arrays; pushes
    PairTable.unmerged_before    all left tokens, one right token, NumPy
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..._arrays import Bools
from .merge_rules import Ints, MergeRules
from .rule_index import NEVER, RuleIndex


class PairTest:
    """The predicate for many pairs side by side, while the merge trees are still being built.

    Attributes:
        left_part, right_part, made_at, left_deadline, right_deadline: int32[vocab_size], see
            `MergeTrees`.
    """

    def __init__(self, rules: MergeRules, vocab_size: int) -> None:
        self._rules = RuleIndex(rules)
        self.left_part, self.right_part, self.made_at, self.left_deadline, self.right_deadline = (
            np.full(vocab_size, -1, dtype=np.int32) for _ in range(5)
        )

    def merge(self, left: Ints, right: Ints, *, whole: bool = True) -> Bools:
        """Whether some merge crosses the boundary of left[i] and right[i], both reachable: bool[n].

        Args:
            left, right: int32[n], ids whose trees are known.
            whole: a rule that joins the two tokens themselves counts as well.
        """
        merge = np.zeros(len(left), dtype=bool)
        pair, u = np.arange(len(left)), left
        used_up_at = deadline = np.full(len(left), NEVER, dtype=np.int32)
        while len(pair):
            is_whole = used_up_at[0] == NEVER
            self._merge_with(u, used_up_at, deadline, right, pair, merge, whole or not is_whole)
            going_on = (self.right_part[u] >= 0) & ~merge[pair]
            pair, u = pair[going_on], u[going_on]
            used_up_at, deadline, u = (
                column[u] for column in (self.made_at, self.right_deadline, self.right_part)
            )
        return merge

    def _merge_with(
        self,
        u: Ints,
        used_up_at: Ints,
        deadline: Ints,
        right: Ints,
        pair: npt.NDArray[np.intp],
        merge: Bools,
        whole: bool,
    ) -> None:
        """Note in `merge` the pairs in which u[i] merges with the left edge of right[pair[i]].

        Args:
            used_up_at, deadline: int32[i], of u.
            whole: the right token itself, which is the first s, counts as well.
        """
        s = right[pair]
        s_deadline = np.full(len(s), NEVER, dtype=np.int32)
        row = np.arange(len(s))
        while len(row):
            if whole:
                rank = self._rules.ranks(u[row], s)
                hit = np.flatnonzero(rank != NEVER)
                at = row[hit]
                hit = at[
                    (self.made_at[s[hit]] < used_up_at[at])  # (a)
                    & (rank[hit] < deadline[at])  # (c)
                    & (rank[hit] <= s_deadline[hit])  # (d)
                ]
                merge[pair[hit]] = True
            whole = True
            # (b) of the next s. The clock falls, so where (b) fails it fails for the rest too.
            going_on = (self.left_part[s] >= 0) & (self.made_at[u[row]] <= self.made_at[s])
            going_on &= ~merge[pair[row]]
            row, s = row[going_on], s[going_on]
            s_deadline, s = self.left_deadline[s], self.left_part[s]

    def add_trees(self, left: Ints, right: Ints, result: Ints, rank: Ints) -> None:
        """Note that the runs on the texts of `result` end with merging `left` and `right`."""
        left_made_at, right_made_at = self.made_at[left], self.made_at[right]
        made_at = np.maximum(np.maximum(left_made_at, right_made_at), rank)
        self.left_part[result], self.right_part[result] = left, right
        self.made_at[result] = made_at
        # A part's deadline is the clock at which it is used up, with one exception: it was made
        # when the clock had already reached that, so that only `rank` is merged while it waits.
        # Of two parts made at one clock the left one was made first, and waits for the right one.
        left_is_last = (left_made_at == made_at) & (made_at != right_made_at)
        self.left_deadline[result] = np.where(left_is_last, rank, made_at)
        self.right_deadline[result] = np.where(right_made_at == made_at, rank, made_at)
