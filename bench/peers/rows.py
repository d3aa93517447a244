"""The table of rows: what is compared, over which network, and among how many ranks."""

import dataclasses
import fnmatch

KIB = 1 << 10
MIB = 1 << 20


COLLECTIVES = ("broadcast", "scatter", "gather", "all-gather", "all-to-all", "reduce", "all-reduce", "reduce-scatter", "scan")
LACKING = {"gasnet": ("scatter", "gather", "all-to-all", "reduce-scatter", "scan")}  # loops that a library cannot run


@dataclasses.dataclass(frozen=True)
class Row:
    setting: str  # of settings.py: the network, or smp
    ranks: int
    loop: str  # of loops.hpp; start and memory have no loop
    bytes: int = 0
    piece: int = 0  # of spaced transfers
    busy: bool = False  # another process keeps the second core busy

    @property
    def name(self):
        parts = [self.setting, str(self.ranks), self.loop]
        if self.bytes:
            parts.append(f"{self.bytes}ms" if self.loop == "idle" else size(self.bytes))
        if self.piece:
            parts.append(f"by-{size(self.piece)}")
        if self.busy:
            parts.append("busy")
        return "/".join(parts)

    def is_for(self, library):
        return self.loop not in LACKING.get(library, ())

    @property
    def unit(self):
        return {"start": "ms", "memory": "KiB", "idle": "% of a core"}.get(self.loop, "ns")


def size(count):
    for unit, scale in (("M", MIB), ("K", KIB)):
        if count % scale == 0 and count > 0:
            return f"{count // scale}{unit}"
    return str(count)


def _each(setting, ranks, loop, sizes=(0,), piece=0, busy=False):
    return [Row(setting, ranks, loop, count, piece, busy) for count in sizes]


def _spaced(setting, shapes, loops=("put-spaced-one", "get-spaced-one", "put-spaced-both", "get-spaced-both")):
    return [Row(setting, 2, loop, count, piece) for piece, count in shapes for loop in loops]


def _smp():
    rows = []
    for loop in ("put", "get"):
        rows += _each("smp", 2, loop, (8, 512, 4 * KIB, 64 * KIB, MIB))
        rows += _each("smp", 2, f"{loop}-window", (8, 4 * KIB, 64 * KIB))
    for loop in ("fetch-add", "compare-swap", "add-window", "fetch-add-window", "am-short", "flood-short", "barrier"):
        rows += _each("smp", 2, loop)
    rows += _each("smp", 2, "am-medium", (64, 512, 4 * KIB)) + _each("smp", 2, "am-long", (4 * KIB, 64 * KIB))
    rows += _each("smp", 2, "flood-medium", (64, 512, 4 * KIB)) + _each("smp", 2, "flood-long", (64 * KIB,))
    rows += _spaced("smp", ((8, 4 * KIB), (8, 64 * KIB), (256, 64 * KIB), (4 * KIB, MIB)))
    for ranks in (4, 8, 16):
        rows += _each("smp", ranks, "put", (8, 64 * KIB))
        for loop in ("fetch-add", "am-short", "flood-short", "barrier"):
            rows += _each("smp", ranks, loop)
    rows += _each("smp", 2, "put", (8,), busy=True)
    for loop in ("am-short", "flood-short", "barrier"):
        rows += _each("smp", 2, loop, busy=True)
    return rows


def _network(setting):
    rows = _each(setting, 2, "put", (8, 4 * KIB, 64 * KIB)) + _each(setting, 2, "get", (8, 64 * KIB))
    rows += _each(setting, 2, "put-window", (8, 64 * KIB, MIB)) + _each(setting, 2, "get-window", (64 * KIB,))
    for loop in ("fetch-add", "add-window", "am-short", "flood-short", "barrier"):
        rows += _each(setting, 2, loop)
    rows += _each(setting, 2, "am-medium", (512,)) + _each(setting, 2, "flood-medium", (512, 2 * KIB))
    return rows


def _cable(setting):
    rows = _each(setting, 2, "put", (8,)) + _each(setting, 2, "get", (8,))
    rows += _each(setting, 2, "put-window", (8, 64 * KIB, MIB))
    return rows + [Row(setting, 2, loop) for loop in ("am-short", "flood-short", "barrier")]


def _collectives(setting, teams=(2, 4, 8)):
    """Every operation; barriers are rows of their own."""
    rows = []
    for ranks in teams:
        for loop in COLLECTIVES:
            rows += _each(setting, ranks, loop, (8, KIB, 64 * KIB, MIB))
    return rows


def _whole_programs():
    rows = []
    for setting, ranks in (("smp", 2), ("smp", 16), ("udp", 2)):
        rows += [Row(setting, ranks, "start"), Row(setting, ranks, "memory")]
    return rows + [Row("smp", 2, "idle", 100), Row("smp", 8, "idle", 100), Row("udp", 2, "idle", 100)]


def all_rows():
    rows = _smp() + _network("udp") + _spaced("udp", ((8, 4 * KIB), (256, 64 * KIB)))
    rows += _each("udp", 4, "barrier") + _each("udp", 8, "barrier") + _collectives("udp") + _collectives("smp")
    rows += _cable("veth1500") + _collectives("veth1500", (2,)) + _cable("veth9000") + _network("ofi") + _network("ucx")
    return rows + _whole_programs()


def matching(pattern):
    """The rows whose name contains a pattern; * and ? as in file names; commas separate several patterns."""
    parts = [f"*{part}*" for part in pattern.split(",")] if pattern else ["*"]
    return [row for row in all_rows() if any(fnmatch.fnmatchcase(row.name, part) for part in parts)]
