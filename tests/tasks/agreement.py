"""Whether counts agree with chances: every seed is fixed, so tests pass or fail for good."""

import collections
import math


def limit(degrees):
    """What a chi-square exceeds with a chance of one in a thousand (Wilson and Hilferty)."""
    spread = 2 / (9 * degrees)
    return degrees * (1 - spread + 3.09 * math.sqrt(spread)) ** 3


def assert_drawn_from(counts, chances):
    """Counts by outcome agree with chances by outcome, which add up to 1."""
    assert counts.keys() <= chances.keys()
    total, statistic, cells, rest, rest_chance = sum(counts.values()), 0.0, 0, 0, 0.0
    for outcome, chance in chances.items():
        if total * chance < 10:
            rest, rest_chance = rest + counts.get(outcome, 0), rest_chance + chance
            continue
        statistic += (counts.get(outcome, 0) - total * chance) ** 2 / (total * chance)
        cells += 1
    if total * rest_chance >= 1:
        statistic += (rest - total * rest_chance) ** 2 / (total * rest_chance)
        cells += 1
    assert cells > 1
    assert statistic < limit(cells - 1)


def assert_uniform(outcomes, possible):
    """The possible outcomes are equally frequent, and there are no others."""
    counts, possible = collections.Counter(outcomes), list(possible)
    if len(possible) == 1:
        assert list(counts) == possible
    else:
        assert_drawn_from(counts, dict.fromkeys(possible, 1 / len(possible)))


def assert_same_distribution(left, right):
    """Two collections of outcomes could come from one distribution."""
    counts = collections.Counter(left), collections.Counter(right)
    n, m = len(left), len(right)
    cells = collections.defaultdict(lambda: [0, 0])
    for outcome in sorted(counts[0].keys() | counts[1].keys()):
        both = counts[0][outcome], counts[1][outcome]
        cell = cells[outcome if sum(both) >= 20 else "rare"]
        cell[0], cell[1] = cell[0] + both[0], cell[1] + both[1]
    assert len(cells) > 1
    statistic = sum(
        (math.sqrt(m / n) * a - math.sqrt(n / m) * b) ** 2 / (a + b) for a, b in cells.values()
    )
    assert statistic < limit(len(cells) - 1)
