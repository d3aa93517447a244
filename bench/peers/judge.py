#!/usr/bin/env python3
"""Compares Aqueduct with GASNet-EX, Open MPI and MPICH: the same loops, in turns, and a verdict for every row.

  bench/peers/judge.py [--gasnet DIR] [--rows PATTERN] [--peers NAMES] [--turns N] [--ms MS] [--out DIR]

Runs the libraries that are installed. Compiles GASNet-EX from DIR, an unpacked source, into build/peers. A ratio is the
peer's figure divided by ours: above 1 we are ahead. docs/performance.md defines "ahead", "level" and "behind": by the 95 %
interval of the turns' ratios, from at least eleven turns, for near and far cores separately. Nothing else should run at the
same time; the last column shows what did. Writes table.md, table.json and plot.svg, and prints the number of each verdict.
"""

import argparse
import contextlib
import os
import pathlib
import shlex
import signal
import statistics
import subprocess
import sys
import time

import build
import measure
import report
import rows
import settings
import verdict
from job import Failed, Job

OURS = "aqueduct"
PEERS = ("gasnet", "openmpi", "mpich")
SELF = "self"  # Aqueduct once more, which must come out level; only on request
WITHOUT_LOOP = {"start": measure.StartSubject, "memory": measure.MemorySubject}


class Judge:
    def __init__(self, options, log):
        self._options = options
        self._log = log
        self._versions = {}
        self._programs = {}  # (library, conduit) -> build.Program, or the reason why there is none
        self._jobs = {}  # jobs that are running
        self._unstarted = []  # jobs that could not be started
        self._plans = {}  # (library, row) -> how its turns are divided into samples
        self.comparisons = []
        self.failures = []
        self.missing = {}  # (library, setting) -> why
        self.loads = {}

    def run(self, wanted):
        print(report.HEAD, flush=True)
        cacheline = measure.CacheLine(self._options.bin / "peer_cacheline")
        self._cacheline = cacheline
        try:
            for setting, ranks in dict.fromkeys((row.setting, row.ranks) for row in wanted):
                group = [row for row in wanted if (row.setting, row.ranks) == (setting, ranks)]
                try:
                    with self._hosts(setting) as hosts:
                        self._run_group(setting, ranks, group, hosts)
                except settings.NoSuchSetting as reason:
                    print(f"# {setting}: {reason}", flush=True)
        finally:
            cacheline.close()

    @staticmethod
    def _hosts(setting):
        if not setting.startswith("veth"):
            return contextlib.nullcontext()
        if os.geteuid() != 0:
            raise settings.NoSuchSetting("network namespaces need root")
        return settings.Hosts(int(setting[4:]))

    def _run_group(self, setting, ranks, group, hosts):
        starts = {}
        for name in (OURS, *self._options.peers):
            try:
                starts[name] = self._start_of(name, setting, ranks, hosts)
            except (build.CannotBuild, settings.NoSuchSetting) as reason:
                if (name, setting) not in self.missing:
                    print(f"# {name} over {setting}: {reason}", flush=True)
                self.missing[(name, setting)] = str(reason)
        loops = [row for row in group if row.loop not in WITHOUT_LOOP]
        try:
            self._run_loops(loops, starts)
        finally:
            self._end_jobs()
        for row in [row for row in group if row.loop in WITHOUT_LOOP]:
            self._run_program(row, starts)

    def _start_of(self, name, setting, ranks, hosts):
        library = OURS if name == SELF else name
        program = self._program(library, settings.conduit_of(setting)).path
        more = {"bin_folder": self._options.bin} if library == OURS else {}
        return getattr(settings, library)(program, setting, ranks, hosts=hosts, **more)

    def _program(self, library, conduit):
        key = (library, conduit if library == "gasnet" else "")
        if key not in self._programs:
            try:
                self._programs[key] = self._build(library, conduit)
            except build.CannotBuild as reason:
                self._programs[key] = reason
        if isinstance(self._programs[key], build.CannotBuild):
            raise self._programs[key]
        return self._programs[key]

    def _build(self, library, conduit):
        if library == OURS:
            return build.aqueduct(self._options.bin)
        if library == "gasnet":
            if self._options.gasnet is None:
                raise build.CannotBuild("name an unpacked GASNet-EX by --gasnet DIR")
            return build.gasnet(self._options.gasnet, conduit)
        return build.mpi(library)

    def _job(self, name, row, starts):
        """The library's ranks; starts them if necessary."""
        if name not in self._jobs:
            self._jobs[name] = job = Job(name, starts[name], row.ranks, self._log)
            if (name, row.setting) not in self._versions:
                self._versions[(name, row.setting)] = job.version
                flags = self._program(OURS if name == SELF else name, settings.conduit_of(row.setting)).flags
                print(f"# {name} over {row.setting}: {job.version}; {flags}; {_words(starts[name])}", flush=True)
        return self._jobs[name]

    def _end_jobs(self):
        for job in self._jobs.values():
            job.end()
        self._jobs.clear()

    def _run_loops(self, group, starts):
        """Takes one turn of every row, then one of every row again with new jobs, and so on. How a job's memory happens to lie
        changes figures by some per cent, so every turn has new memory."""
        measured = {row: measure.Measured() for row in group}
        for turn in range(measure.most_turns(self._options.turns)):
            open_rows = [row for row in group if measured[row].turns() < self._options.turns and OURS not in measured[row].failed]
            if not open_rows or OURS not in starts:
                break
            if sys.stderr.isatty():
                print(f"# {open_rows[0].setting}, {open_rows[0].ranks} ranks: turn {turn + 1}", file=sys.stderr)
            for row in open_rows:
                self._turn(row, measured[row], turn, starts)
            self._end_jobs()
        for row in group:
            self._tell(row, measured[row])

    def _turn(self, row, measured, turn, starts):
        subjects = {}
        for name in [name for name in starts if name not in measured.failed and row.is_for(name)]:
            try:
                job = self._job(name, row, starts)
            except Failed as failure:
                measured.drop(name, str(failure))
                if self._unstarted.count((name, row.setting, row.ranks)) == 1:
                    del starts[name]  # each attempt may take a minute
                self._unstarted.append((name, row.setting, row.ranks))
                continue
            try:
                subjects[name] = measure.LoopSubject(job, row, self._options.ms, self._plans.get((name, row)))
                self._plans[name, row] = subjects[name].plan
            except Failed as failure:
                self._jobs.pop(name)
                measured.drop(name, str(failure))
        with measure.Busy(row.busy) as busy:
            cacheline = None if row.loop == "idle" or row.busy else self._cacheline
            measure.take_turn(measured, subjects, turn, cacheline, lambda: self._pids() + busy.pids, self._jobs.pop)

    def _pids(self):
        return [self._cacheline.pid, *(pid for job in self._jobs.values() for pid in job.pids)]

    def _run_program(self, row, starts):
        subjects = {}
        failed = {}
        for name, start in starts.items():
            try:
                subjects[name] = WITHOUT_LOOP[row.loop](start, row, self._log)
            except Failed as failure:
                failed[name] = str(failure)
        measured = measure.take_turns(subjects, self._options.turns, None, self._pids, lambda name: None)
        measured.failed |= failed
        self._tell(row, measured)

    def _tell(self, row, measured):
        new = report.compare(row, measured, OURS, self._options.peers)
        self.comparisons += new
        self.loads[row.name] = {"others": measured.others, "seconds": measured.seconds, "moved": measured.moved,
                                "processor_ns": {name: statistics.mean(used) for name, used in measured.used.items()}}
        for comparison in new:
            print(report.line(comparison, measured), flush=True)
        for name, why in measured.failed.items():
            self.failures.append({"row": row.name, "library": name, "why": why})
            print(f"{row.name:<38} {'':<5} {name:<8} {why}", flush=True)

    def facts(self):
        return {
            "versions": {f"{name} over {setting}": text for (name, setting), text in self._versions.items()},
            "missing": {f"{name} over {setting}": why for (name, setting), why in self.missing.items()},
            "failures": self.failures,
            "rows": self.loads,
        }


def _words(start):
    said = [f"{name}={value}" for name, value in start.environment.items()]
    return " ".join(said) + " " * bool(said) + shlex.join(
        pathlib.Path(str(word)).name if str(word).startswith("/") else str(word) for word in start.words)


def _machine():
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8") if line.startswith("model name")), "")
    commit = subprocess.run(["git", "-C", build.ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True, check=False)
    return (f"{os.cpu_count()} cores, {model}, Linux {os.uname().release}; commit {commit.stdout.strip() or 'unknown'}; "
            f"{time.strftime('%Y-%m-%d %H:%M', time.gmtime())} UTC; load average {os.getloadavg()[0]:.2f}")


def _options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gasnet", type=pathlib.Path, help="an unpacked GASNet-EX, or where one is built")
    parser.add_argument("--rows", default="", help="rows whose name has this in it; * and ?, commas between several")
    parser.add_argument("--peers", default=",".join(PEERS), help=f"of {', '.join(PEERS)} and {SELF} (default: all but {SELF})")
    parser.add_argument("--turns", type=int, default=verdict.LEAST_TURNS, help="of each library in each row")
    parser.add_argument("--ms", type=float, default=25, help="of a turn")
    parser.add_argument("--bin", type=pathlib.Path, default=build.ROOT / "build/release/bin", help="of the release build")
    parser.add_argument("--out", type=pathlib.Path, default=build.OUT, help="folder for table.md, table.json, plot.svg")
    parser.add_argument("--list", action="store_true", help="only name the rows")
    options = parser.parse_args()
    options.bin = options.bin.resolve()
    options.peers = [name for name in options.peers.split(",") if name]
    unknown = [name for name in options.peers if name not in (*PEERS, SELF)]
    if unknown:
        parser.error(f"there is no peer {unknown[0]}: {', '.join((*PEERS, SELF))}")
    return options


def main():
    options = _options()
    wanted = rows.matching(options.rows)
    if not wanted:
        sys.exit(f"judge.py: no row has '{options.rows}' in its name; --list names them")
    if options.list:
        print("\n".join(row.name for row in wanted))
        return 0
    # Removes jobs and namespaces.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("judge.py: ended from outside"))
    options.out.mkdir(parents=True, exist_ok=True)
    machine = _machine()
    print(f"# {machine}", flush=True)
    began = time.monotonic()
    with open(options.out / "judge.log", "w", encoding="utf-8") as log:
        judge = Judge(options, log)
        judge.run(wanted)
    seconds = time.monotonic() - began
    peers = [name for name in options.peers if any(comparison.peer == name for comparison in judge.comparisons)]
    facts = {"machine": machine, "seconds": seconds, "turns": options.turns, "ms": options.ms, **judge.facts()}
    for name, text in (("table.md", report.as_markdown(judge.comparisons, peers)), ("plot.svg", report.as_svg(judge.comparisons)),
                       ("table.json", report.as_json(judge.comparisons, facts))):
        (options.out / name).write_text(text, encoding="utf-8")
    not_judged = sum(comparison.verdict.kind == "open" for comparison in judge.comparisons)
    print(f"# {seconds:.0f} s; {len(wanted)} rows; {not_judged} comparisons with too few turns, {len(judge.failures)} failures; "
          f"written: {options.out}/table.md, table.json, plot.svg, judge.log (what the programs said)")
    ours_failed = any(failure["library"] == OURS for failure in judge.failures)
    print(report.last_line(judge.comparisons))
    return 1 if ours_failed or not judge.comparisons else 0


if __name__ == "__main__":
    sys.exit(main())
