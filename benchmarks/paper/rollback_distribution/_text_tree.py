"""All texts of a toy, as a tree of the lists of tokens that they begin with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ._toys import Ids, Toy


@dataclass(frozen=True)
class Node:
    """A list of tokens that a text may begin with.

    Attributes:
        ids: the list, without the end of the text.
        probability: that the model begins a text with it.
        end: the probability that the text ends after it; 1 where it has its full length.
        children: each token that may follow, its probability, and the list with it.
        consistent: whether the list is consistent.
        mendable: whether it is consistent, or tokens after it can make it so.
    """

    ids: Ids
    probability: float
    end: float
    children: tuple[tuple[float, Node], ...]
    consistent: bool
    mendable: bool


@dataclass(frozen=True)
class TextTree:
    """The lists that texts of a toy begin with.

    Attributes:
        toy: the model.
        root: the empty list.
    """

    toy: Toy
    root: Node

    @classmethod
    def of(cls, toy: Toy) -> TextTree:
        """The tree of a toy."""
        return cls(toy, _node(toy, (), 1.0))

    def nodes(self) -> Iterator[Node]:
        """All lists, each after those that it begins with."""
        stack = [self.root]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(child for _, child in node.children)

    @cached_property
    def texts(self) -> dict[Ids, float]:
        """The model's probability of each text."""
        return {node.ids: node.probability * node.end for node in self.nodes()}

    @cached_property
    def consistent_share(self) -> float:
        """Z, the probability that a text of the model is consistent."""
        return sum(node.probability * node.end for node in self.nodes() if node.consistent)

    @cached_property
    def target(self) -> dict[Ids, float]:
        """The model conditioned on consistent texts: the probability of each of them."""
        return {
            node.ids: node.probability * node.end / self.consistent_share
            for node in self.nodes()
            if node.consistent
        }


def _node(toy: Toy, ids: Ids, probability: float) -> Node:
    consistent, mendable = toy.is_consistent(ids), toy.is_mendable(ids)
    if len(ids) == toy.length:
        return Node(ids, probability, 1.0, (), consistent, mendable)
    logits = toy.logits_after(ids)
    raised = np.exp(logits - logits.max())
    shares = (raised / raised.sum()).tolist()
    children = tuple(
        (share, _node(toy, (*ids, token), probability * share))
        for token, share in enumerate(shares[: toy.end])
        if share > 0
    )
    return Node(ids, probability, shares[toy.end], children, consistent, mendable)
