"""Tests the judge's statistics and its turns without any program: synthetic turns with a known verdict."""

import pathlib
import random
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import measure  # noqa: E402
import report  # noqa: E402
import rows  # noqa: E402
import settings  # noqa: E402
import verdict  # noqa: E402
from job import Failed, Job  # noqa: E402


def series(centre, spread, seed, turns=verdict.LEAST_TURNS):
    """Figures as turns give them: some per cent of noise, and now and then a turn that another process spoilt."""
    source = random.Random(seed)
    figures = [centre * source.uniform(1 - spread, 1 + spread) for _ in range(turns)]
    figures[turns // 3] *= 4
    return figures


class VerdictTest(unittest.TestCase):
    def test_a_peer_that_takes_longer_leaves_us_ahead(self):
        judged = verdict.judge(series(100, 0.05, 1), series(130, 0.05, 2))
        self.assertEqual(judged.kind, "ahead")
        self.assertGreater(judged.low, 1)
        self.assertTrue(1.2 < judged.ratio < 1.4, judged)

    def test_a_peer_that_takes_less_leaves_us_behind(self):
        judged = verdict.judge(series(130, 0.05, 3), series(100, 0.05, 4))
        self.assertEqual(judged.kind, "behind")
        self.assertLess(judged.high, 1)

    def test_equal_ones_are_level(self):
        kinds = [verdict.judge(series(100, 0.1, seed), series(100, 0.1, 1000 + seed), resamples=300).kind
                 for seed in range(100)]
        # The interval should miss the truth in one case of twenty; with eleven turns it does somewhat more often.
        self.assertGreater(kinds.count("level"), 85)

    def test_the_interval_holds_the_true_ratio_about_as_often_as_it_says(self):
        held = 0
        for seed in range(100):
            source = random.Random(seed)
            ratios = [source.lognormvariate(0, 0.2) for _ in range(21)]
            low, high = verdict.bootstrap_interval(ratios, resamples=300)
            held += low <= 1 <= high
        self.assertTrue(88 <= held <= 100, held)

    def test_swapping_the_sides_swaps_the_verdict(self):
        ours, theirs = series(100, 0.05, 5), series(120, 0.05, 6)
        self.assertEqual((verdict.judge(ours, theirs).kind, verdict.judge(theirs, ours).kind), ("ahead", "behind"))

    def test_drift_that_both_share_does_not_count(self):
        drift = [1 + 0.2 * turn for turn in range(11)]
        ours = [100 * part for part in drift]
        theirs = [110 * part for part in drift]
        self.assertEqual(verdict.judge(ours, theirs).kind, "ahead")

    def test_fewer_turns_than_eleven_are_not_judged(self):
        self.assertEqual(verdict.judge([1.0] * 10, [9.0] * 10).kind, "open")
        self.assertEqual(verdict.judge([1.0] * 11, [9.0] * 11).kind, "ahead")
        self.assertEqual(verdict.judge([], []).kind, "open")

    def test_the_same_turns_always_give_the_same_interval(self):
        ratios = series(1, 0.3, 7)
        self.assertEqual(verdict.bootstrap_interval(ratios), verdict.bootstrap_interval(ratios))

    def test_turns_that_cannot_be_compared_are_refused(self):
        for ours, theirs in (([1.0], [1.0, 2.0]), ([0.0], [1.0]), ([1.0], [float("nan")]), ([-1.0], [1.0])):
            with self.subTest(ours=ours, theirs=theirs), self.assertRaises(ValueError):
                verdict.judge(ours, theirs)

    def test_a_turn_belongs_to_a_distance_only_if_the_cores_stayed_where_they_were(self):
        self.assertEqual(verdict.distance(60, 110), "near")
        self.assertEqual(verdict.distance(330, 500), "far")
        self.assertIsNone(verdict.distance(60, 330))
        self.assertIsNone(verdict.distance(330, 60))


class Subject:
    """A subject that returns given figures, and records when it was asked."""

    def __init__(self, name, figures, asked):
        self._name, self._figures, self._asked = name, iter(figures), asked

    def turn(self):
        self._asked.append(self._name)
        figure = next(self._figures)
        if figure is None:
            raise Failed("died")
        return figure, 1.0


class Line:
    def __init__(self, times):
        self._times = iter(times)

    def nanoseconds(self):
        return next(self._times)


def take(figures, times, turns=11):
    asked, restarted = [], []
    subjects = {name: Subject(name, values, asked) for name, values in figures.items()}
    measured = measure.take_turns(subjects, turns, times and Line(times), lambda: [], restarted.append)
    return measured, asked, restarted


class TurnsTest(unittest.TestCase):
    def test_near_and_far_turns_are_kept_apart_and_those_between_left_out(self):
        # Three near turns, one during which the cores move, then far ones.
        times = [60, 90] * 3 + [60, 400] + [400, 330] * 20
        measured, _, _ = take({"a": range(1, 30), "b": range(1, 30)}, times)
        self.assertEqual({kind: len(found["a"]) for kind, found in measured.figures.items()}, {"near": 3, "far": 11})
        self.assertEqual(measured.moved, 1)

    def test_cores_that_keep_moving_end_the_row_undecided(self):
        measured, _, _ = take({"a": range(1, 99), "b": range(1, 99)}, [60, 400] * 50)
        self.assertEqual(measured.figures, {})
        self.assertEqual(measured.moved, 33)

    def test_everybody_is_at_each_place_equally_often(self):
        for names in ("ab", "abc", "abcd", "abcde"):
            turns = [measure.order(list(names), turn) for turn in range(2 * len(names))]
            for place in range(len(names)):
                there = [turn[place] for turn in turns]
                self.assertEqual({name: there.count(name) for name in names}, dict.fromkeys(names, 2), (names, place))

    def test_both_orders_are_taken(self):
        _, asked, _ = take({"a": range(1, 30), "b": range(1, 30)}, None)
        self.assertEqual("".join(asked[:8]), "abbabaab")

    def test_a_library_that_dies_takes_only_its_own_figures_along(self):
        measured, _, restarted = take({"a": range(1, 30), "b": [1, 2, None], "c": range(1, 30)}, None)
        self.assertEqual(measured.failed, {"b": "died"})
        self.assertEqual(restarted, ["b"])
        self.assertEqual(set(measured.figures["any"]), {"a", "c"})
        self.assertEqual(len(measured.figures["any"]["a"]), len(measured.figures["any"]["c"]))

    def test_what_counts_of_a_turn(self):
        pair = rows.Row("smp", 2, "put", 8)
        answers = [[900.0, 1.0, 2.0, 90.0], [900.0]]
        # A median: another process's time slice does not count.
        self.assertEqual(measure.figure_of(pair, answers), 2.0)
        crowd = rows.Row("smp", 4 * settings.CORES, "put", 8)
        slower = [[900.0, 1.0, 2.0, 96.0], [900.0], [900.0, 2.0, 2.0, 2.0], [900.0]]
        self.assertEqual(measure.figure_of(crowd, slower), 33.0)  # a mean, of the slowest pair
        idle = rows.Row("smp", 2, "idle", 100)
        self.assertAlmostEqual(measure.figure_of(idle, [[0.0, 100e6], [25e6, 100e6]]), 25.0)


# One rank that greets, then treats its first line as the argument says.
RANK = """
import socket, sys, time
what, path = sys.argv[1:]
judge = socket.socket(socket.AF_UNIX); judge.connect(path)
judge.sendall(b"0 1 100 A library 1.0" + bytes([10]))
judge.recv(100)
if what == "answer": judge.sendall(b"5 1.5 2.5" + bytes([10]))
if what == "hang": time.sleep(60)
judge.recv(100)
"""


class JobTest(unittest.TestCase):
    def start(self, what):
        log = tempfile.TemporaryFile("w")
        self.addCleanup(log.close)
        return Job("library", settings.Start((sys.executable, "-c", RANK, what), {}), 1, log)

    def test_a_rank_that_answers(self):
        job = self.start("answer")
        self.assertEqual(job.version, "A library 1.0")
        self.assertEqual(job.ask("run", 20), [[5.0, 1.5, 2.5]])
        job.end()
        self.assertFalse(pathlib.Path(f"/proc/{job.pids[0]}").exists())

    def test_one_that_hangs_is_ended_within_the_limit(self):
        job = self.start("hang")
        with self.assertRaisesRegex(Failed, "hung"):
            job.ask("run", 0.1)
        self.assertFalse(pathlib.Path(f"/proc/{job.pids[0]}").exists())

    def test_one_that_dies_is_noticed_at_once(self):
        job = self.start("die")
        job._process.kill()
        with self.assertRaisesRegex(Failed, "died"):
            job.ask("run", 20)

    def test_one_that_does_not_start_says_so(self):
        with tempfile.TemporaryFile("w") as log, self.assertRaisesRegex(Failed, "did not start: exit code 3"):
            Job("library", settings.Start(("sh", "-c", "exit 3"), {}), 1, log)


class ReportTest(unittest.TestCase):
    def test_the_last_line_counts(self):
        row = rows.Row("smp", 2, "put", 8)
        measured = measure.Measured()
        for _ in range(11):
            measured.add("near", {"ours": 1.0, "slow": 2.0, "same": 1.0, "fast": 0.5})
        found = report.compare(row, measured, "ours", ["slow", "same", "fast", "absent"])
        self.assertEqual(report.last_line(found), "1 ahead, 1 level, 1 behind")
        self.assertIn("**0.50", report.as_markdown(found, ["slow", "same", "fast"]))
        self.assertEqual(report.as_svg(found).count("<circle"), 3)

    def test_a_distance_with_too_few_turns_is_left_out_beside_one_that_has_enough(self):
        measured = measure.Measured()
        measured.add("near", {"ours": 1.0, "peer": 2.0})
        self.assertEqual([c.verdict.kind for c in report.compare(rows.Row("smp", 2, "put", 8), measured, "ours", ["peer"])], ["open"])
        for _ in range(11):
            measured.add("far", {"ours": 1.0, "peer": 2.0})
        self.assertEqual([c.cores for c in report.compare(rows.Row("smp", 2, "put", 8), measured, "ours", ["peer"])], ["far"])

    def test_rows_have_names_of_their_own(self):
        names = [row.name for row in rows.all_rows()]
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual([row.name for row in rows.matching("udp/*/barrier,smp/2/put/4K")],
                         ["smp/2/put/4K", "udp/2/barrier", "udp/4/barrier", "udp/8/barrier"])


if __name__ == "__main__":
    unittest.main()
