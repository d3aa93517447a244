#!/usr/bin/env python3
"""Measures udp between two hosts whose cable loses and delays packets, compared with the kernel's TCP and UCX over TCP.

  bench/udp_faults.py [--bin build/release/bin] [--seconds 30]

The hosts are two network namespaces of this machine, made here and removed at the end; this needs root. netem makes the
loss if the kernel has it, otherwise nftables does; delay needs a kernel with netem.
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PREFIX = f"aqbench{os.getpid()}"
HOSTS = [f"{PREFIX}h{number}" for number in range(2)]
ADDRESSES = ["10.79.0.1", "10.79.0.2"]
LINK = "eth0"
MTU = 1500


def run(*words, check=True, **more):
    done = subprocess.run(words, capture_output=True, text=True, **more)
    if check and done.returncode != 0:
        sys.exit(f"udp_faults.py: {' '.join(words)}: {done.stderr.strip() or done.returncode}")
    return done


def inside(host, *words, **more):
    return run("ip", "netns", "exec", host, *words, **more)


@contextlib.contextmanager
def two_hosts():
    try:
        for host in HOSTS:
            run("ip", "netns", "add", host)
        run("ip", "link", "add", LINK, "netns", HOSTS[0], "type", "veth", "peer", "name", LINK, "netns", HOSTS[1])
        for host, address in zip(HOSTS, ADDRESSES):
            inside(host, "ip", "addr", "add", f"{address}/24", "dev", LINK)
            inside(host, "ip", "link", "set", LINK, "mtu", str(MTU), "up")
            inside(host, "ip", "link", "set", "lo", "up")
        deadline = time.monotonic() + 10
        while any("state UP" not in inside(host, "ip", "-o", "link", "show", LINK).stdout for host in HOSTS):
            if time.monotonic() > deadline:
                sys.exit("udp_faults.py: the cable between the two namespaces does not come up")
            time.sleep(0.1)
        yield
    finally:
        for host in HOSTS:
            run("ip", "netns", "del", host, check=False)


def netem(arguments):
    """Sets the faults at both ends; returns whether this kernel can."""
    for host in HOSTS:
        done = inside(host, "tc", "qdisc", "replace", "dev", LINK, "root", "netem", "limit", "100000", *arguments.split(), check=False)
        if done.returncode != 0:
            return False
    return True


def lose_one_percent():
    rules = "table ip bench {\n chain in {\n type filter hook input priority 0;\n numgen random mod 1000 < 10 drop\n }\n}\n"
    for host in HOSTS:
        inside(host, "nft", "-f", "-", input=rules)


def lose_nothing():
    for host in HOSTS:
        inside(host, "nft", "delete", "table", "ip", "bench", check=False)
        inside(host, "tc", "qdisc", "del", "dev", LINK, "root", check=False)


def aqperf(options, bench, *words):
    with tempfile.NamedTemporaryFile("w", suffix=".hosts") as hosts:
        hosts.write("\n".join(HOSTS) + "\n")
        hosts.flush()
        done = run(f"{options.bin}/aqrun", "-n", "2", "--hosts", hosts.name, "--remote", "ip netns exec {host} {command}", "--bind",
                   "none", f"{options.bin}/aqperf", bench, *words, "--vs", "raw", "--json", "--seconds", str(options.seconds))
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def ucx_mean(test, count, limit):
    """The average in microseconds that ucx_perftest reports over UCX's tcp; None if it does not end in time."""
    if shutil.which("ucx_perftest") is None:
        return None
    environment = dict(os.environ, UCX_TLS="tcp,self", UCX_NET_DEVICES=LINK, UCX_WARN_UNUSED_ENV_VARS="n")
    words = ["ip", "netns", "exec"]
    server = subprocess.Popen([*words, HOSTS[0], "ucx_perftest"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(1)
        done = subprocess.run([*words, HOSTS[1], "ucx_perftest", ADDRESSES[0], "-t", test, "-s", "8", "-n", str(count), "-w", "10"],
                              env=environment, capture_output=True, text=True, timeout=limit)
        final = re.search(r"^Final:\s+(.*)$", done.stdout, re.MULTILINE)
        return float(final.group(1).split()[3]) if final else None
    except subprocess.TimeoutExpired:
        return None
    finally:
        server.kill()
        server.wait()


def show(*cells):
    print("| " + " | ".join(f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in cells) + " |", flush=True)


def latency_rows(options):
    show("8 B round trip", "Aqueduct mean", "median", "bare UDP mean", "TCP mean", "UCX over tcp, mean", "TCP / Aqueduct", "UCX / Aqueduct")
    show(*["---"] * 8)
    means = {}
    for name, faults in (("no loss", lambda: None), ("1 % loss each way (nftables)", lose_one_percent)):
        faults()
        row = aqperf(options, "put-latency", "--bytes", "8")[0]
        # perftest reports one way; the other columns show round trips.
        ucx = ucx_mean("tag_lat", 1000 if means else 20000, 300)
        there_and_back = None if ucx is None else 2 * ucx * 1000
        lose_nothing()
        means[name] = row["mean"]
        show(name, f"{row['mean'] / 1000:.4g} µs", f"{row['median'] / 1000:.4g} µs", f"{row['raw_mean'] / 1000:.4g} µs",
             f"{row['raw_tcp_mean'] / 1000:.4g} µs", "-" if there_and_back is None else f"{there_and_back / 1000:.4g} µs",
             row["raw_tcp_mean"] / row["mean"], "-" if there_and_back is None else there_and_back / row["mean"])
    clean, lossy = means.values()
    print(f"\nmean with loss / mean without: {lossy / clean:.3g}\n")


def bandwidth_rows(options):
    show("4 MiB puts", "Aqueduct", "TCP", "ratio")
    show(*["---"] * 4)
    for name, faults in (("no fault", ""), ("1 ms delay each way", "delay 1ms"), ("1 ms delay, 1 % loss each way", "delay 1ms loss 1%"),
                         ("1 ± 0.5 ms delay, 1 % loss", "delay 1ms 0.5ms loss 1%")):
        if not netem(faults):
            print("\n(no delay: that needs a kernel with netem)")
            return
        row = aqperf(options, "put-bandwidth", "--bytes", "4M", "--window", "8")[0]
        lose_nothing()
        show(name, f"{row['median']:.4g} MB/s", f"{row['raw_tcp']:.4g} MB/s", row["ratio_tcp"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=str(ROOT / "build/release/bin"))
    parser.add_argument("--seconds", type=float, default=30, help="of each row, TCP and bare UDP included [30]")
    parser.add_argument("--only", choices=["latency", "bandwidth"])
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("udp_faults.py: network namespaces need root: run it with sudo")
    with two_hosts():
        if options.only != "bandwidth":
            latency_rows(options)
        if options.only != "latency":
            bandwidth_rows(options)


if __name__ == "__main__":
    main()
