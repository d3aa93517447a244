"""The verdict on a row's turns: the statistics of the judge, with the standard library alone.

A turn gives each library one figure, a cost: less is better. The judge uses the ratio of each turn, the peer's figure
divided by ours, because both were taken within a fraction of a second on cores at the same distance. Above 1 we are ahead.
"""

import dataclasses
import math
import random
import statistics

LEAST_TURNS = 11  # specified: docs/performance.md, "ahead"
CONFIDENCE = 0.95  # specified in the same place
RESAMPLES = 4000  # chosen: the interval's ends vary by less than their third digit

# Round trip of a cache line, in ns: near cores take 50 to 130, far ones 320 to 510 (measured, docs/performance.md).
FAR_FROM = 150.0


@dataclasses.dataclass(frozen=True)
class Verdict:
    kind: str  # "ahead", "level", "behind", or "open" with too few turns
    ratio: float  # the median of the turns' ratios
    low: float  # the interval of that median
    high: float
    turns: int


def bootstrap_interval(ratios, confidence=CONFIDENCE, resamples=RESAMPLES, seed=1):
    """The median's interval by the percentile bootstrap. The same ratios always give the same interval."""
    source = random.Random(seed)
    count = len(ratios)
    medians = sorted(statistics.median(source.choices(ratios, k=count)) for _ in range(resamples))
    tail = (1 - confidence) / 2
    return medians[math.floor(tail * (resamples - 1))], medians[math.ceil((1 - tail) * (resamples - 1))]


def judge(ours, theirs, resamples=RESAMPLES):
    """The verdict on a row from the figures of turns taken together, in order. A figure that is not positive is an error."""
    if len(ours) != len(theirs):
        raise ValueError(f"{len(ours)} of our turns cannot be compared with {len(theirs)} of theirs")
    if any(not (math.isfinite(figure) and figure > 0) for figure in (*ours, *theirs)):
        raise ValueError("a turn's figure is a cost, which is finite and above 0")
    if not ours:
        return Verdict("open", math.nan, math.nan, math.nan, 0)
    ratios = [peer / own for own, peer in zip(ours, theirs)]
    low, high = bootstrap_interval(ratios, resamples=resamples)
    if len(ratios) < LEAST_TURNS:
        kind = "open"
    elif low > 1:
        kind = "ahead"
    elif high < 1:
        kind = "behind"
    else:
        kind = "level"
    return Verdict(kind, statistics.median(ratios), low, high, len(ratios))


def distance(before, after):
    """How far apart the cores were in a turn, from the cache line's times around it: "near", "far", or None if that changed."""
    far = (before >= FAR_FROM, after >= FAR_FROM)
    if far[0] != far[1]:
        return None
    return "far" if far[0] else "near"
