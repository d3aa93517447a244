"""Takes a row's turns: the libraries run the same loop for some milliseconds, one after another, many times."""

import dataclasses
import os
import pathlib
import statistics
import subprocess
import time

import settings
import verdict
from job import Failed, Job, processor_seconds

# Chosen. A sample is so long that reading the clock (some 25 ns) does not matter, and so short that other
# processes' time slices spoil few samples.
SAMPLE_NS = 20e3
MOST_SAMPLES = 1000
FEWEST_SAMPLES = 3
UNTIMED = 2  # batches that loops.hpp leaves out
LIMIT = 20.0  # seconds for a turn, after which a library counts as hung
WINDOW = 64  # as in layer.hpp


@dataclasses.dataclass
class Measured:
    """The results of turns: for each distance of the cores, each library's figures of the same turns."""

    figures: dict = dataclasses.field(default_factory=dict)  # distance -> library -> [figure of a turn]
    used: dict = dataclasses.field(default_factory=dict)  # library -> [processor time of an operation, all ranks, ns]
    failed: dict = dataclasses.field(default_factory=dict)  # library -> why
    moved: int = 0  # turns during which the cores' distance changed
    seconds: float = 0.0  # of all turns
    strangers: float = 0.0  # seconds of processor time that other processes used during the turns

    @property
    def others(self):
        """Cores that other processes kept busy."""
        return self.strangers / self.seconds if self.seconds else 0.0

    def turns(self):
        """The number of turns at the distance that has most."""
        return max((len(figures) for libraries in self.figures.values() for figures in libraries.values()), default=0)

    def add(self, distance, turn):
        for name, figure in turn.items():
            self.figures.setdefault(distance, {}).setdefault(name, []).append(figure)

    def drop(self, name, why):
        self.failed[name] = why
        for libraries in self.figures.values():
            libraries.pop(name, None)


class CacheLine:
    """Measures how far apart the cores are."""

    def __init__(self, program):
        self._process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = self._process.pid

    def nanoseconds(self):
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())

    def close(self):
        self._process.stdin.close()
        self._process.wait(5)


def _busy_seconds():
    """Busy seconds of all cores together. Includes time that the hypervisor takes away (steal): we do not get it either."""
    fields = [int(word) for word in pathlib.Path("/proc/stat").read_text(encoding="utf-8").split("\n", 1)[0].split()[1:9]]
    user, nice, system, _, _, irq, softirq, steal = fields
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def _own_seconds(pids):
    mine = os.times()
    return mine.user + mine.system + mine.children_user + mine.children_system + sum(processor_seconds(pid) for pid in pids)


class Busy:
    """A busy process on the second core, if the row wants one."""

    def __init__(self, wanted):
        self._process = None
        if wanted:
            self._process = subprocess.Popen(["taskset", "-c", "1", "sh", "-c", "while :; do :; done"])
        self.pids = [self._process.pid] if self._process else []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._process:
            self._process.kill()
            self._process.wait()


def operations(row):
    """Operations in one pass through the loop, the smallest possible sample (see loops.hpp)."""
    if row.loop in ("put-window", "get-window"):
        return min(max((4 << 20) // row.bytes, 4), WINDOW)
    return WINDOW if row.loop.startswith("flood") or row.loop.endswith("-window") else 1


def _line(row, batch, samples, verify=False):
    return f"run {row.loop} {row.bytes} {row.piece} {batch} {samples} {int(verify)}"


def figure_of(row, answers):
    """A turn's figure from the ranks' answers. With more ranks than cores, the waiting for cores is part of the cost."""
    if row.loop == "idle":
        wall = answers[0][1]
        return max(1e-3, 100 * statistics.mean(answer[0] for answer in answers[1:]) / wall)
    crowded = row.ranks > settings.CORES or row.busy
    middle = statistics.mean if crowded else statistics.median
    return max(middle(answer[1:]) for answer in answers if len(answer) > 1)


class LoopSubject:
    """A library in a row that has a loop. The active ranks measure the time; the slowest one counts."""

    def __init__(self, job, row, milliseconds, plan=None):
        """`plan` is that of an earlier job of the same library and row; without it, the turn is divided now."""
        self.job = job
        self._row = row
        self.plan = plan or (1, 1)
        if row.loop == "idle":
            job.ask(_line(row, 1, 1), LIMIT)
        elif plan:
            batch, samples = plan
            job.ask(_line(row, batch, min(samples, FEWEST_SAMPLES + samples // 10)), LIMIT)
        else:
            job.ask(_line(row, 1, 1, verify=True), LIMIT)
            self._divide(milliseconds)

    def _divide(self, milliseconds):
        """Determines how many passes make a sample, and how many samples a turn."""
        for samples in (FEWEST_SAMPLES, 20):
            answers = self.job.ask(_line(self._row, self.plan[0], samples), LIMIT)
            go_ns = figure_of(self._row, answers) * operations(self._row)
            batch = max(1, min(10000, int(SAMPLE_NS / go_ns)))
            self.plan = batch, max(FEWEST_SAMPLES, min(MOST_SAMPLES, int(milliseconds * 1e6 / (batch * go_ns))))
            if go_ns > 1e6:
                break  # slow enough for the first estimate to be good

    def turn(self):
        """The figure, and the processor time of an operation."""
        batch, samples = self.plan
        answers = self.job.ask(_line(self._row, batch, samples), LIMIT)
        count = batch * (samples + UNTIMED) * operations(self._row)
        return figure_of(self._row, answers), sum(answer[0] for answer in answers) / count


class StartSubject:
    """A job that only starts and ends."""

    def __init__(self, start, _row, log):
        self._start = start
        self._log = log
        self.turn()

    def turn(self):
        began = time.monotonic()
        before = os.times()
        try:
            done = subprocess.run(list(map(str, self._start.words)), env={**os.environ, **self._start.environment},
                                  stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log, timeout=60, check=False)
        except subprocess.TimeoutExpired:
            raise Failed("hung") from None
        if done.returncode != 0:
            raise Failed(f"exit code {done.returncode}")
        after = os.times()
        used = after.children_user + after.children_system - before.children_user - before.children_system
        return (time.monotonic() - began) * 1e3, used * 1e9


class MemorySubject:
    """A job that has just connected. It runs alone, so memory that processes share is divided among its own ranks."""

    def __init__(self, start, row, log):
        self._start, self._row, self._log = start, row, log

    def turn(self):
        job = Job("memory", self._start, self._row.ranks, self._log)
        for loop, count in (("barrier", 0), ("put", 8), ("am-short", 0)):
            job.ask(f"run {loop} {count} 0 1 1 0", LIMIT)
        answers = job.ask("memory", LIMIT)
        job.end()
        return statistics.mean(answer[0] for answer in answers), 0.0


def order(names, turn):
    """Each library is first, last, and next to each other one equally often, because the first one finds the cores cold."""
    start = turn // 2 % max(len(names), 1)
    rotated = names[start:] + names[:start]
    return rotated[::-1] if turn % 2 else rotated


def take_turn(measured, subjects, turn, cacheline, pids, restart):
    """Takes one turn of each remaining library and adds its figures. Calls `restart(library)` for one that failed."""
    began = time.monotonic(), _busy_seconds(), _own_seconds(pids())
    before = cacheline.nanoseconds() if cacheline else None
    found = {}
    for name in order(list(subjects), turn):
        try:
            found[name], used = subjects[name].turn()
            measured.used.setdefault(name, []).append(used)
        except Failed as failure:
            del subjects[name]
            measured.drop(name, str(failure))
            restart(name)
    distance = verdict.distance(before, cacheline.nanoseconds()) if cacheline else "any"
    if distance is None:
        measured.moved += 1
    else:
        measured.add(distance, found)
    measured.seconds += time.monotonic() - began[0]
    measured.strangers += max(0.0, _busy_seconds() - began[1] - (_own_seconds(pids()) - began[2]))


def most_turns(turns):
    """So many turns that one of two distances has enough even if a third of the turns was spoilt."""
    return 3 * turns


def take_turns(subjects, turns, cacheline, pids, restart):
    """Takes all turns with the same subjects. `subjects` is library -> its subject."""
    measured = Measured()
    for turn in range(most_turns(turns)):
        take_turn(measured, subjects, turn, cacheline, pids, restart)
        if not subjects or measured.turns() >= turns:
            break
    return measured
