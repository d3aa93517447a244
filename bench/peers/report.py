"""The table, the JSON and the plot of the results."""

import dataclasses
import json
import math
import statistics

import verdict

COLOURS = {"ahead": "#1a7f37", "level": "#6e7781", "behind": "#cf222e", "open": "#bf8700"}


@dataclasses.dataclass(frozen=True)
class Comparison:
    """A row compared with one peer, at one distance of the cores."""

    row: str
    unit: str
    cores: str
    peer: str
    ours: list  # figures of turns
    theirs: list
    processor: tuple  # of an operation, all ranks, in ns: ours and theirs
    verdict: verdict.Verdict


def compare(row, measured, ours, peers):
    """All comparisons of a row. Distances with too few turns are left out if another distance has enough."""
    found = []
    for cores, figures in measured.figures.items():
        for peer in peers:
            if ours in figures and peer in figures:
                judged = verdict.judge(figures[ours], figures[peer])
                processor = tuple(statistics.mean(measured.used.get(name, [0.0])) for name in (ours, peer))
                found.append(Comparison(row.name, row.unit, cores, peer, figures[ours], figures[peer], processor, judged))
    decided = [comparison for comparison in found if comparison.verdict.kind != "open"]
    return decided or found


def number(value):
    if value >= 1e6:
        return f"{value / 1e6:.3g}M"
    return f"{value / 1e3:.3g}k" if value >= 1e4 else f"{value:.3g}"


HEAD = (f"{'row':<38} {'cores':<5} {'peer':<8} {'ours':>8} {'theirs':>8} {'unit':<11} {'ratio':>7} {'95 % interval':<15} {'turns':>5}  "
        f"{'verdict':<7} {'ours, least and most':<19} {'theirs':<19} {'processor time':<15} others' cores")


def line(comparison, measured):
    judged = comparison.verdict
    extremes = [f"{number(min(figures))}..{number(max(figures))}" for figures in (comparison.ours, comparison.theirs)]
    interval = f"[{judged.low:.3g}, {judged.high:.3g}]"
    return (f"{comparison.row:<38} {comparison.cores:<5} {comparison.peer:<8} {number(statistics.median(comparison.ours)):>8} "
            f"{number(statistics.median(comparison.theirs)):>8} {comparison.unit:<11} {judged.ratio:>7.3g} {interval:<15} {judged.turns:>5}  "
            f"{judged.kind:<7} {extremes[0]:<19} {extremes[1]:<19} {'/'.join(map(number, comparison.processor)):<15} {measured.others:.2f}")


def count(comparisons):
    return {kind: sum(comparison.verdict.kind == kind for comparison in comparisons) for kind in COLOURS}


def last_line(comparisons):
    counted = count(comparisons)
    return f"{counted['ahead']} ahead, {counted['level']} level, {counted['behind']} behind"


def as_json(comparisons, facts):
    rows = [{**dataclasses.asdict(comparison), **{"ours_median": statistics.median(comparison.ours), "theirs_median": statistics.median(comparison.theirs)}}
            for comparison in comparisons]
    return json.dumps({**facts, "comparisons": rows, "counted": count(comparisons)}, indent=1)


def as_markdown(comparisons, peers):
    """One line per row and distance; a peer that is ahead of us is bold."""
    lines = ["| row | cores | ours | " + " | ".join(peers) + " |", "| --- " * (3 + len(peers)) + "|"]
    for row, cores in dict.fromkeys((comparison.row, comparison.cores) for comparison in comparisons):
        same = {comparison.peer: comparison for comparison in comparisons if (comparison.row, comparison.cores) == (row, cores)}
        first = next(iter(same.values()))
        cells = []
        for peer in peers:
            if peer not in same:
                cells.append("–")
                continue
            judged = same[peer].verdict
            cell = f"{judged.ratio:.2f} [{judged.low:.2f}, {judged.high:.2f}] {judged.kind}"
            cells.append(f"**{cell}**" if judged.kind == "behind" else cell)
        lines.append(f"| `{row}` | {cores} | {number(statistics.median(first.ours))} {first.unit} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def as_svg(comparisons):
    """The intervals of all comparisons on a logarithmic scale of the ratio: right of the line in the middle we are ahead."""
    left, width, step, top = 430, 560, 14, 40
    most = 100.0
    height = top + step * len(comparisons) + 30

    def x(ratio):
        clipped = min(max(ratio, 1 / most), most)
        return left + width * (math.log(clipped) / math.log(most) + 1) / 2

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 30}" height="{height}" font-family="sans-serif" '
             f'font-size="10"><rect width="100%" height="100%" fill="white"/>',
             f'<text x="10" y="18" font-size="13">The peer\'s time by Aqueduct\'s, 95 % intervals: {last_line(comparisons)}</text>']
    for tick in (0.01, 0.1, 0.5, 1, 2, 10, 100):
        parts.append(f'<line x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{top - 8}" y2="{height - 20}" '
                     f'stroke="{"black" if tick == 1 else "#d0d7de"}"/>'
                     f'<text x="{x(tick):.1f}" y="{height - 8}" text-anchor="middle">{tick:g}</text>')
    for index, comparison in enumerate(comparisons):
        y = top + step * index
        judged = comparison.verdict
        colour = COLOURS[judged.kind]
        parts.append(f'<text x="{left - 8}" y="{y + 3}" text-anchor="end">{comparison.row} ({comparison.cores}), {comparison.peer}</text>'
                     f'<line x1="{x(judged.low):.1f}" x2="{x(judged.high):.1f}" y1="{y}" y2="{y}" stroke="{colour}" stroke-width="3"/>'
                     f'<circle cx="{x(judged.ratio):.1f}" cy="{y}" r="3.5" fill="{colour}"/>')
    return "\n".join(parts) + "\n</svg>\n"
