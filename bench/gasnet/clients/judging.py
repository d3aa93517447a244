"""Runs the test programs of a client of GASNet over an installed Aqueduct, and prints a table. For the scripts beside it."""

import os
import pathlib
import shlex
import signal
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent


def add_options(parser, client):
    """The options of every judge of a client."""
    parser.add_argument("--source", required=True)
    parser.add_argument("--prefix", default=str(ROOT / "install"))
    parser.add_argument("--conduits", default="smp,udp")
    parser.add_argument("--tests", default="")
    parser.add_argument("--hosts", type=int, default=0)
    parser.add_argument("--work", default=str(ROOT / "build" / client))
    parser.add_argument("--log", default="")
    parser.add_argument("--seconds", type=float, default=120, help="the time limit of a job; more on a busy machine")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--verbose", action="store_true")


class Judge:
    def __init__(self, args, work):
        self.args = args
        self.source = pathlib.Path(args.source).resolve()
        self.prefix = pathlib.Path(args.prefix).resolve()
        self.work = work
        self.work.mkdir(parents=True, exist_ok=True)
        self.log = open(args.log or self.work / "log.txt", "w")
        self.wanted = set(args.tests.split(",")) if args.tests else None
        self.places = [(c, int(r)) for c in args.conduits.split(",") for r in args.ranks.split(",")]
        self.results = {}  # (test, mode, conduit, ranks): outcome

    def start(self, conduit, ranks, env):
        """The words of a command that starts a job; what it needs comes into `env`."""
        command = [str(self.prefix / "bin/aqrun"), "-n", str(ranks), "--conduit", conduit]
        if conduit != "smp" and self.args.hosts:
            hosts = self.work / "hosts"
            hosts.write_text("".join(f"host{i}\n" for i in range(self.args.hosts)))
            command += ["--hosts", str(hosts), "--remote", "env {command}"]
        elif conduit != "smp":
            env["AQUEDUCT_NEAR"] = "off"
        return command

    def run(self, program, conduit, ranks, variables=None):
        """The exit status, None after the time limit, and the output."""
        env = dict(os.environ, **(variables or {}))
        env.setdefault("AQUEDUCT_LOG", "warn")
        command = self.start(conduit, ranks, env) + program
        begin = time.monotonic()
        with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                              cwd=self.work, start_new_session=True) as child:
            try:
                text = child.communicate(timeout=self.args.seconds)[0]
                status = child.returncode
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGTERM)
                try:
                    text = child.communicate(timeout=5)[0]
                except subprocess.TimeoutExpired:
                    os.killpg(child.pid, signal.SIGKILL)
                    text = child.communicate()[0]
                status = None
        text = text.decode(errors="replace")
        self.log.write(f"##### {shlex.join(command)}: status {status}, {time.monotonic() - begin:.1f} s\n{text}\n")
        self.log.flush()
        return status, text

    def note(self, test, mode, conduit, ranks, outcome, reason=""):
        self.results[test, mode, conduit, ranks] = outcome
        if outcome == "failed" or self.args.verbose:
            print(f"{test} {mode} {conduit} {ranks}: {outcome}{': ' + reason if reason else ''}", flush=True)

    def judge(self, test, mode, program, conduit, ranks, variables=None):
        """Runs a program; it passes with exit status 0 and no "ERROR" in its output."""
        status, text = self.run(program, conduit, ranks, variables)
        errors = [line for line in text.splitlines() if "ERROR" in line]
        if status is None:
            self.note(test, mode, conduit, ranks, "failed", "cut off by the time limit")
        elif status != 0 or errors:
            reason = errors[0][:140] if errors else text.strip()[-140:]
            self.note(test, mode, conduit, ranks, "failed", f"exit status {status}: {reason}")
        elif "UPCXX_TEST_SKIPPED" in text:
            self.note(test, mode, conduit, ranks, "skipped")
        else:
            self.note(test, mode, conduit, ranks, "passed")

    def report(self, modes):
        word = {"passed": "{}", "failed": "**{} failed**", "skipped": "({} skipped)"}
        print("\n| " + " | ".join(["test"] + [f"{c} {r}" for c, r in self.places]) + " |\n|" + " --- |" * (1 + len(self.places)))
        for name in dict.fromkeys(result[0] for result in self.results):
            cells = []
            for conduit, ranks in self.places:
                found = [(m, self.results.get((name, m, conduit, ranks))) for m in modes]
                cells.append(" ".join(word[outcome].format(m) for m, outcome in found if outcome))
            print("| " + " | ".join([name, *cells]) + " |")
        count = {outcome: list(self.results.values()).count(outcome) for outcome in word}
        if count["skipped"]:
            print(f"{count['skipped']} skipped by the tests themselves")
        print(f"{count['passed']} passed, {count['failed']} failed")
        return 1 if count["failed"] or not count["passed"] else 0
