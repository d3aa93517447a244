"""One library's ranks. They are started once and asked for many turns, and sleep between their turns."""

import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time

START_LIMIT = 60.0  # seconds; sixteen ranks of MPICH on two cores need some


class Failed(Exception):
    """The job died, hung or refused; its processes have ended."""


class Job:
    def __init__(self, name, start, ranks, log):
        self.name = name
        self.ranks = ranks
        self.version = ""
        self.pids = []
        self._log = log
        self._sockets = [None] * ranks
        self._heard = [b""] * ranks
        self._folder = pathlib.Path(tempfile.mkdtemp(prefix="peers-"))
        path = self._folder / "judge"
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
            listening.bind(str(path))
            listening.listen(ranks)
            log.write(f"$ {' '.join(map(str, start.words))} {path}  # {start.environment}\n")
            log.flush()
            self._process = subprocess.Popen([*map(str, start.words), str(path)], env={**os.environ, **start.environment},
                                             stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
            try:
                self._greet(listening)
            except Failed:
                self.kill()
                raise

    def _greet(self, listening):
        deadline = time.monotonic() + START_LIMIT
        listening.settimeout(0.1)
        missing = self.ranks
        while missing:
            try:
                connection, _ = listening.accept()
            except TimeoutError:
                if self._process.poll() is not None:
                    raise Failed(f"did not start: exit code {self._process.returncode}") from None
                if time.monotonic() > deadline:
                    raise Failed(f"did not start within {START_LIMIT:.0f} s") from None
                continue
            pid, _, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
            self.pids.append(pid)
            connection.settimeout(10)
            greeting = connection.recv(4096)
            while not greeting.endswith(b"\n"):
                more = connection.recv(4096)
                if not more:
                    raise Failed("a rank ended while it started")
                greeting += more
            rank, ranks, _, self.version = greeting.decode().strip().split(" ", 3)
            if int(ranks) != self.ranks:
                raise Failed(f"has {ranks} ranks where {self.ranks} were asked for")
            self._sockets[int(rank)] = connection
            missing -= 1

    def ask(self, line, limit):
        """Sends a line to every rank and returns their answers, each a list of numbers."""
        for connection in self._sockets:
            try:
                connection.sendall(line.encode() + b"\n")
            except OSError:
                self._give_up("died")
        deadline = time.monotonic() + limit
        return [[float(word) for word in self._hear(rank, deadline).split()] for rank in range(self.ranks)]

    def _hear(self, rank, deadline):
        while b"\n" not in self._heard[rank]:
            left = deadline - time.monotonic()
            if left <= 0:
                self._give_up("hung")
            self._sockets[rank].settimeout(left)
            try:
                part = self._sockets[rank].recv(65536)
            except TimeoutError:
                self._give_up("hung")
            except OSError:
                part = b""
            if not part:
                self._give_up("died")
            self._heard[rank] += part
        line, self._heard[rank] = self._heard[rank].split(b"\n", 1)
        return line.decode()

    def _give_up(self, how):
        time.sleep(0.1)  # time for its last output
        self.kill()
        raise Failed(how)

    def end(self):
        """Lets the job finish by itself, within a time limit."""
        for connection in self._sockets:
            try:
                connection.sendall(b"end\n")
            except OSError:
                pass
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            pass
        self.kill()

    def kill(self):
        """Kills the launcher, then the job's ranks by their process ids, and no other process."""
        for connection in self._sockets:
            if connection is not None:
                connection.close()
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(3)
            except subprocess.TimeoutExpired:
                pass
        for pid in self.pids:
            if _is_program(pid):
                _signal(os.kill, pid)
        _signal(os.killpg, self._process.pid)
        self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def processor_seconds(self):
        return sum(processor_seconds(pid) for pid in self.pids)


def _is_program(pid):
    """Whether the process id is still a rank's: the system may have reused it."""
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").startswith("peer_")
    except OSError:
        return False


def _signal(how, number):
    try:
        how(number, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def processor_seconds(pid):
    """Processor seconds of all threads of a process."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return 0.0
    fields = text.rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
