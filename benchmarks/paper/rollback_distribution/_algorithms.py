"""Each algorithm's own probability tree, followed to its ends: which texts it writes, at what cost.

A forward pass reads one token. What was read before is kept, so to go back costs none. The prompt
is not counted.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Literal

from ._text_tree import Node, TextTree
from ._toys import Ids

Loops = Literal["steps", "tokens"]

_NEGLIGIBLE = 1e-12  # the probability of a state that is not followed any more
_MOST_STEPS = 5_000


@dataclass
class Written:
    """What an algorithm writes.

    Attributes:
        shares: the probability of each text.
        forwards: the expected number of forward passes per text.
        unfinished: the probability that the algorithm does not end.
    """

    shares: defaultdict[Ids, float] = field(default_factory=lambda: defaultdict(float))
    forwards: float = 0.0
    unfinished: float = 0.0

    @property
    def tokens(self) -> float:
        """The expected number of tokens per text."""
        return sum(len(text) * share for text, share in self.shares.items())


def plain(tree: TextTree) -> Written:
    """The model by itself, without rollback."""
    read = sum(n.probability for n in tree.nodes() if n.ids and len(n.ids) < tree.toy.length)
    return Written(defaultdict(float, tree.texts), read)


def rejected_windows(tree: TextTree, window: int) -> Written:
    """Windows of tokens, each of which is drawn again until the text is consistent at its end.

    A window that nothing can mend is dropped at once. Windows of one token are stepwise masking:
    inconsistent tokens are removed and the others share their probability. One window for the whole
    text is whole-text rejection with an early stop.
    """
    written = Written()
    frontiers = {tree.root.ids: (tree.root, 1.0)}
    while frontiers:
        reached: dict[Ids, tuple[Node, float]] = {}
        for node, share in frontiers.values():
            window_of = _Window(tree, node, window)
            accepted = sum(p for _, p, _ in window_of.kept)
            written.forwards += share * (_is_read(tree, node) + window_of.reads / accepted)
            for kept, p, ends in window_of.kept:
                if ends:
                    written.shares[kept.ids] += share * p / accepted
                else:
                    before = reached.get(kept.ids, (kept, 0.0))[1]
                    reached[kept.ids] = kept, before + share * p / accepted
        frontiers = reached
    return written


class _Window:
    """All that may be sampled in one attempt at a window.

    Attributes:
        kept: (list at the end, probability, whether the text ends there), where it is consistent.
        reads: the expected number of forward passes of one attempt, the frontier's own left out.
    """

    def __init__(self, tree: TextTree, frontier: Node, window: int) -> None:
        self.kept: list[tuple[Node, float, bool]] = []
        self.reads = 0.0
        most = min(len(frontier.ids) + window, tree.toy.length)
        stack = [(frontier, 1.0)]
        while stack:
            node, p = stack.pop()
            if len(node.ids) == most and node is not frontier:
                if node.consistent:
                    self.kept.append((node, p, most == tree.toy.length))
                continue
            if node is not frontier:
                self.reads += p
            if node.consistent:
                self.kept.append((node, p * node.end, True))
            stack += [(child, p * q) for q, child in node.children if child.mendable]


def frontier_rollback(tree: TextTree, observation: int, *, bans: bool = True) -> Written:
    """`ticore.Rollback`: pending tokens are dropped, and the first of them is banned.

    Args:
        tree: of a toy whose texts may end anywhere, so that there are no dead ends.
        observation: for how many further tokens an inconsistency is observed.
        bans: if False, nothing is banned: the tokens since the frontier are drawn again.
    """
    written = Written()
    frontiers = {tree.root.ids: (tree.root, 1.0)}
    while frontiers:
        reached: dict[Ids, tuple[Node, float]] = {}
        for node, share in frontiers.values():
            if len(node.ids) == tree.toy.length:
                written.shares[node.ids] += share
                continue
            tries = [_Try(tree, node, p, child, observation) for p, child in node.children]
            weights, end = _with_bans(tries, node.end) if bans else _redrawn(tries, node.end)
            written.shares[node.ids] += share * end
            written.forwards += share * _is_read(tree, node)
            for tried, weight in zip(tries, weights, strict=True):
                written.forwards += share * weight * tried.reads
                for commit, p in tried.commits:
                    before = reached.get(commit.ids, (commit, 0.0))[1]
                    reached[commit.ids] = commit, before + share * weight * p
        frontiers = reached
    return written


class _Try:
    """What becomes of one token that is sampled at a frontier.

    Attributes:
        probability: of the token.
        commits: (list at the next frontier, its probability after the token).
        fails: the probability of a rollback after the token.
        reads: the expected number of forward passes until then.
    """

    def __init__(
        self, tree: TextTree, frontier: Node, probability: float, first: Node, observation: int
    ) -> None:
        self.probability = probability
        self.commits: list[tuple[Node, float]] = []
        self.fails = self.reads = 0.0
        room = tree.toy.length - len(frontier.ids)
        stack = [(first, 1.0)]
        while stack:
            node, p = stack.pop()
            pending = len(node.ids) - len(frontier.ids)
            if node.consistent:
                self.commits.append((node, p))
            elif not node.mendable or pending > min(observation, room - 1):
                self.fails += p
            else:
                self.reads += p
                self.fails += p * node.end
                stack += [(child, p * q) for q, child in node.children]


def _with_bans(tries: list[_Try], end: float) -> tuple[list[float], float]:
    """How often each token is tried at a frontier, and the probability that the text ends there."""
    weights, ended = [0.0] * len(tries), 0.0
    sets = {frozenset[int](): 1.0}  # banned tokens, and the probability to get there
    while sets:
        longer: defaultdict[frozenset[int], float] = defaultdict(float)
        for banned, share in sets.items():
            left = end + sum(t.probability for n, t in enumerate(tries) if n not in banned)
            ended += share * end / left
            for n, tried in enumerate(tries):
                if n not in banned:
                    weight = share * tried.probability / left
                    weights[n] += weight
                    if tried.fails:
                        longer[banned | {n}] += weight * tried.fails
        sets = longer
    return weights, ended


def _redrawn(tries: list[_Try], end: float) -> tuple[list[float], float]:
    """The same where nothing is banned."""
    succeeds = 1 - sum(tried.probability * tried.fails for tried in tries)
    return [tried.probability / succeeds for tried in tries], end / succeeds


def algorithm_4(tree: TextTree, observation: int, loops: Loops) -> Written:
    """The paper's Algorithm 4, as we read its pseudocode.

        repeat: sample a token and append it
            the text is consistent?   n = 0
            otherwise                 n = n + 1; if n > q: delete the last q + 1 tokens

    n is not reset after tokens were deleted, so the next inconsistent token deletes consistent ones
    as well. Nothing is banned, and what is pending at the end is returned.

    Args:
        tree: of a toy.
        observation: q.
        loops: what is repeated T times, where T is the toy's length. `steps`: the loop, as printed;
            a text is shorter by what was deleted. `tokens`: until the text has T tokens.
    """
    written = Written()
    known = {node.ids: node for node in tree.nodes()}
    # (list, n), the probability of being there, and that of having come there by a token.
    states: dict[tuple[Ids, int], tuple[float, float]] = {((), 0): (1.0, 0.0)}
    for _ in range(tree.toy.length if loops == "steps" else _MOST_STEPS):
        reached: dict[tuple[Ids, int], tuple[float, float]] = {}
        for (ids, count), (share, unread) in states.items():
            node = known[ids]
            written.forwards += unread
            written.shares[ids] += share * node.end
            for p, child in node.children:
                to, n = _after_one_step(child, count, observation)
                if len(to) == tree.toy.length and loops == "tokens":
                    written.shares[to] += share * p
                    continue
                appended = to == child.ids
                before = reached.get((to, n), (0.0, 0.0))
                reached[to, n] = before[0] + share * p, before[1] + share * p * appended
        lost = sum(share for share, _ in reached.values() if share < _NEGLIGIBLE)
        written.unfinished += lost
        states = {at: found for at, found in reached.items() if found[0] >= _NEGLIGIBLE}
        if not states:
            break
    for (ids, _), (share, _) in states.items():
        if loops == "steps":
            written.shares[ids] += share
        else:
            written.unfinished += share
    return written


def _after_one_step(child: Node, count: int, observation: int) -> tuple[Ids, int]:
    """The list and n after a token was appended, which gave `child`."""
    if child.consistent:
        return child.ids, 0
    if count + 1 <= observation:
        return child.ids, count + 1
    return child.ids[: max(0, len(child.ids) - observation - 1)], observation + 1


def _is_read(tree: TextTree, node: Node) -> bool:
    """Whether the last token of a frontier is read, to sample the next one."""
    return 0 < len(node.ids) < tree.toy.length
