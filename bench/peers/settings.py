"""How each library is started in each setting, with the settings that its documents recommend there.

With more ranks than cores, Open MPI and MPICH are told to yield; GASNet and Aqueduct do so by themselves. In the settings
"veth…" two network namespaces stand for hosts, with one rank on each.
"""

import dataclasses
import os
import pathlib
import shutil
import stat
import subprocess
import tempfile
import time

CORES = os.cpu_count() or 1
SETTINGS = ("smp", "udp", "veth1500", "veth9000", "ofi", "ucx")
PROVIDER = "tcp;ofi_rxm"  # the only provider of libfabric here with everything that both of its users need
TRANSPORTS = "tcp,self"
RANKS_IN_MPIRUN = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@dataclasses.dataclass(frozen=True)
class Start:
    """A command in front of the program's arguments, and additional environment variables."""

    words: tuple
    environment: dict


class NoSuchSetting(Exception):
    """The library does not have this network."""


def conduit_of(setting):
    return "udp" if setting.startswith("veth") else setting


def aqueduct(program, setting, ranks, bin_folder, hosts=None):
    environment = {}
    if setting != "smp":
        environment = {"AQUEDUCT_NEAR": "off", "AQUEDUCT_CONDUIT": conduit_of(setting)}
    if setting == "ofi":
        environment["AQUEDUCT_OFI_PROVIDER"] = PROVIDER
    if setting == "ucx":
        environment["AQUEDUCT_UCX_TRANSPORTS"] = TRANSPORTS
    words = [bin_folder / "aqrun", "-n", ranks]
    if hosts:
        words += ["--hosts", hosts.file, "--remote", "ip netns exec {host} {command}", "--bind", "none"]
    return Start((*words, program), environment)


def gasnet(program, setting, ranks, hosts=None):
    environment = {"GASNET_QUIET": "1", "GASNET_MAX_SEGSIZE": "16M/P"}
    if setting == "smp":
        return Start((program,), {**environment, "GASNET_PSHM_NODES": str(ranks)})
    # Without its own shared memory, because the network is compared.
    environment["GASNET_SUPERNODE_MAXSIZE"] = "1"
    if hosts:
        environment |= {"GASNET_SPAWNFN": "C", "GASNET_CSPAWN_CMD": f"{hosts.spawner} %C", "GASNET_MASTERIP": hosts.addresses[0],
                        "GASNET_WORKERIP": hosts.network}
        return Start((*hosts.enter(0), program, ranks), environment)
    if setting == "udp":
        return Start((program, ranks), {**environment, "GASNET_SPAWNFN": "L"})
    if setting == "ofi":
        environment["FI_PROVIDER"] = PROVIDER
    if setting == "ucx":
        environment["UCX_TLS"] = TRANSPORTS
    environment[f"GASNET_{setting.upper()}_SPAWNER"] = "mpi"
    return Start(_openmpi(ranks, ["--mca", "pml", "ob1", "--mca", "btl", "tcp,self"]) + (program,),
                 {**environment, **RANKS_IN_MPIRUN})


def _openmpi(ranks, flags=()):
    yielding = ["--mca", "mpi_yield_when_idle", "1"] if ranks > CORES else []
    return ("mpirun.openmpi", "-n", ranks, "--oversubscribe", "--bind-to", "none", *yielding, *flags)


def openmpi(program, setting, ranks, hosts=None):
    over_tcp = ["--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "osc", "pt2pt"]
    environment = dict(RANKS_IN_MPIRUN)
    if setting == "smp":
        return Start((*_openmpi(ranks), program), environment)
    if hosts:
        flags = [*over_tcp, "--mca", "plm_rsh_agent", hosts.agent, "--host", ",".join(f"{name}:1" for name in hosts.names),
                 "--mca", "btl_tcp_if_include", hosts.link, "--mca", "oob_tcp_if_include", hosts.link]
        return Start((*hosts.enter(0), *_openmpi(ranks, flags), program), environment)
    if setting == "ucx":
        flags = ["--mca", "pml", "ucx", "--mca", "osc", "ucx", "--mca", "opal_common_ucx_tls", "any", "--mca",
                 "opal_common_ucx_devices", "any", "-x", f"UCX_TLS={TRANSPORTS}"]
        return Start((*_openmpi(ranks, flags), program), environment)
    if setting == "ofi":
        raise NoSuchSetting("Debian's Open MPI has no component for libfabric over TCP with windows")
    return Start((*_openmpi(ranks, [*over_tcp, "--mca", "btl_tcp_if_include", "lo"]), program), environment)


def mpich(program, setting, ranks, hosts=None):
    environment = {}
    words = ["mpirun.mpich", "-n", ranks]
    if ranks > CORES:
        environment["MPIR_CVAR_POLLS_BEFORE_YIELD"] = "1"
    if setting == "ofi":
        raise NoSuchSetting("Debian's MPICH is built for UCX")
    if setting != "smp":
        environment |= {"MPIR_CVAR_NOLOCAL": "1", "UCX_TLS": TRANSPORTS}
    if hosts:
        words = [*hosts.enter(0), *words, "-launcher", "ssh", "-launcher-exec", hosts.agent, "-iface", hosts.link, "-hosts",
                 ",".join(hosts.names), "-ppn", "1"]
        environment["UCX_NET_DEVICES"] = hosts.link
    elif setting != "smp":
        environment["UCX_NET_DEVICES"] = "lo"
    return Start((*words, program), environment)


class Hosts:
    """Two network namespaces that stand for hosts, joined by a veth pair. Needs root; removed at the end."""

    def __init__(self, mtu):
        tag = f"peers{os.getpid()}"
        self.names = [f"{tag}a", f"{tag}b"]
        self.link = "eth0"
        self.addresses = ["10.83.0.1", "10.83.0.2"]
        self.network = "10.83.0.0"
        self._mtu = mtu
        self._folder = None

    def __enter__(self):
        try:
            self._make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)
        if self._folder:
            shutil.rmtree(self._folder)

    def enter(self, number):
        """The words in front of a command that run it on a host, under that host's name."""
        return ("ip", "netns", "exec", self.names[number], "unshare", "--uts", "sh", "-c",
                f'hostname {self.names[number]}; exec "$@"', "sh")

    def _make(self):
        for name in self.names:
            _command("ip", "netns", "add", name)
        _command("ip", "link", "add", self.link, "netns", self.names[0], "type", "veth", "peer", "name", self.link, "netns",
                 self.names[1])
        for name, address in zip(self.names, self.addresses):
            inside = ("ip", "netns", "exec", name, "ip")
            _command(*inside, "addr", "add", f"{address}/24", "dev", self.link)
            _command(*inside, "link", "set", self.link, "mtu", str(self._mtu), "up")
            _command(*inside, "link", "set", "lo", "up")
        deadline = time.monotonic() + 10
        for name in self.names:
            while "state UP" not in _command("ip", "netns", "exec", name, "ip", "-o", "link", "show", self.link):
                if time.monotonic() > deadline:
                    raise NoSuchSetting("the cable between two namespaces does not come up")
                time.sleep(0.05)
        self._folder = pathlib.Path(tempfile.mkdtemp(prefix="peers-hosts-"))
        self.file = self._folder / "hosts"
        self.file.write_text("\n".join(self.names) + "\n", encoding="utf-8")
        # MPI's launchers call it instead of ssh: perhaps options, a host's name, then a command for a shell.
        self.agent = self._script("agent", 'while [ "${1#-}" != "$1" ]; do shift; done\nhost=$1; shift\n'
                                  'exec ip netns exec "$host" unshare --uts sh -c "hostname $host; $*"\n')
        # GASNet's launcher calls it: it runs the command once on each host, and returns when both have ended.
        self.spawner = self._script("spawn", "".join(f'ip netns exec {name} "$@" &\n' for name in self.names) + "wait\n")

    def _script(self, name, text):
        path = self._folder / name
        path.write_text("#!/bin/sh\n" + text, encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path


def _command(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise NoSuchSetting(f"{' '.join(words)}: {done.stderr.strip()}")
    return done.stdout
