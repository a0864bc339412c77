"""Branches of different lengths are compared by how good they are where they end."""

from dataclasses import dataclass

from ticore.steganography._search.frontier import Frontier


@dataclass
class Ending:
    """A branch, as far as a frontier sees it."""

    place: int
    score: float


def free(_branch):
    """The cost of a branch from which nothing must be read again."""
    return 0


def test_without_branches_there_is_nothing_to_pop():
    frontier = Frontier()
    assert frontier.pop(free) is None
    assert frontier.best_rank == -float("inf")


def test_rank_compares_with_the_best_at_the_same_place():
    frontier = Frontier()
    frontier.reach(Ending(4, -10.0))
    assert frontier.rank(Ending(4, -12.0)) == -2
    frontier.reach(Ending(4, -6.0))
    assert frontier.rank(Ending(4, -12.0)) == -6
    frontier.reach(Ending(4, -20.0))
    assert frontier.rank(Ending(4, -12.0)) == -6


def test_inside_a_token_a_branch_is_compared_with_the_end_of_the_token():
    frontier = Frontier()
    frontier.reach(Ending(2, -3.0))
    frontier.reach(Ending(6, -10.0))
    # The branch that is nearer to the last place is better, and by little.
    assert [frontier.rank(Ending(place, -4.0)) for place in (3, 5, 6)] == [4.5, 5.5, 6]
    assert frontier.rank(Ending(2, -4.0)) < -1


def test_past_the_last_place_each_byte_is_taken_to_cost_something():
    frontier = Frontier()
    frontier.reach(Ending(4, -10.0))
    one, further = frontier.rank(Ending(5, -12.0)), frontier.rank(Ending(6, -12.0))
    assert frontier.rank(Ending(4, -12.0)) < one < further


def test_before_the_last_place_the_distance_counts_much_at_first_and_little_later():
    frontier = Frontier()
    frontier.reach(Ending(1000, -10.0))

    def fall(before: int, after: int) -> float:
        """How much the rank falls per byte, between two distances from the last place."""
        ranks = [frontier.rank(Ending(1000 - back, -10.0)) for back in (before, after)]
        return (ranks[0] - ranks[1]) / (after - before)

    assert frontier.rank(Ending(1000, -10.0)) == 0
    assert fall(0, 4) == fall(4, 8) > 10 * fall(100, 900) > 0


def test_branches_that_wait_are_ranked_by_what_is_known_now():
    frontier = Frontier()
    frontier.reach(Ending(10, -9.0))
    frontier.reach(Ending(40, -30.0))
    one, other = Ending(10, -3.0), Ending(38, -33.0)
    frontier.add(one)
    frontier.add(other)
    assert frontier.best_rank == frontier.rank(one) > frontier.rank(other)
    frontier.reach(Ending(10, -1.0))
    assert frontier.best_rank == frontier.rank(other) > frontier.rank(one)
    assert [frontier.pop(free), frontier.pop(free)] == [other, one]


def test_the_best_comes_first_and_of_equal_ones_the_first():
    frontier = Frontier()
    branches = [Ending(0, -3.0), Ending(0, -1.0), Ending(0, -1.0), Ending(0, -2.0)]
    for branch in branches:
        frontier.add(branch)
    assert frontier.best_rank == -1
    popped = [frontier.pop(free) for _ in branches]
    assert [id(branch) for branch in popped] == [id(branches[n]) for n in (1, 2, 3, 0)]


def test_a_branch_that_costs_less_comes_before_one_that_is_little_better():
    frontier = Frontier()
    better, worse = Ending(0, -1.0), Ending(0, -2.0)
    for branch in (better, worse):
        frontier.add(branch)
    assert frontier.pop(lambda each: 1 if each is better else 0) is better
    frontier.add(better)
    assert frontier.pop(lambda each: 90 if each is better else 0) is worse
    assert frontier.pop(free) is better
