"""Compiles the loops over each library that is installed, into build/peers; none of that is part of the tree.

GASNet-EX is built from a source that the user has unpacked, or is one that the user has built. This repository contains
none of its code, and nothing here downloads it.
"""

import dataclasses
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
OUT = ROOT / "build/peers"
OPTIMIZATION = ["-O2", "-DNDEBUG"]
CONDUITS = ("smp", "udp", "ofi", "ucx")  # of GASNet


@dataclasses.dataclass(frozen=True)
class Program:
    path: pathlib.Path
    flags: str  # for the report


class CannotBuild(Exception):
    """A library that is not installed or does not compile. The text says what to do."""


def _run(words, log, **more):
    with open(log, "a", encoding="utf-8") as file:
        file.write("$ " + " ".join(map(str, words)) + "\n")
        file.flush()
        done = subprocess.run(words, stdout=file, stderr=subprocess.STDOUT, check=False, **more)
    if done.returncode != 0:
        raise CannotBuild(f"{pathlib.Path(words[0]).name} failed: see {log}")


def _stale(target, sources):
    return not target.exists() or any(source.stat().st_mtime > target.stat().st_mtime for source in sources)


def _sources(layer):
    return [HERE / name for name in ("main.cpp", "loops.hpp", "layer.hpp", "control.hpp", f"layer_{layer}.hpp", "mpi.hpp")]


def _layer(name):
    return f'-DPEERS_LAYER="bench/peers/layer_{name}.hpp"'


def aqueduct(bin_folder):
    """The program of the release build, which CMake makes."""
    program = bin_folder / "peer_aqueduct"
    if not program.exists():
        raise CannotBuild(f"there is no {program}; ./aq build makes it")
    commit = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True, check=False)
    return Program(program, f"commit {commit.stdout.strip() or 'unknown'}, release preset")


def mpi(name):
    """The compiler wrapper of Open MPI or MPICH, to which Debian gives a suffix."""
    compiler = shutil.which(f"mpicxx.{name}")
    if compiler is None:
        package = {"openmpi": "libopenmpi-dev openmpi-bin", "mpich": "libmpich-dev mpich"}[name]
        raise CannotBuild(f"not installed; on Debian: apt-get install {package}")
    OUT.mkdir(parents=True, exist_ok=True)
    program = OUT / f"peer_{name}"
    if _stale(program, _sources("mpi")):
        words = [compiler, "-std=c++20", *OPTIMIZATION, f"-I{ROOT}", _layer("mpi"), HERE / "main.cpp", "-o", program]
        _run(words, OUT / f"{name}.log")
    return Program(program, f"mpicxx.{name} {' '.join(OPTIMIZATION)}")


def gasnet(source, conduit):
    """`source` is an unpacked GASNet-EX, or a folder in which one has been configured and built."""
    OUT.mkdir(parents=True, exist_ok=True)
    built = source if (source / "smp-conduit/conduit.mak").exists() else _gasnet_library(source)
    fragment = built / f"{conduit}-conduit/{conduit}-seq.mak"
    if not fragment.exists():
        raise CannotBuild(f"{built} has no {conduit} conduit")
    program = OUT / f"peer_gasnet_{conduit}"
    library = built / f"{conduit}-conduit/libgasnet-{conduit}-seq.a"
    flags = _fragment(fragment)
    if _stale(program, [*_sources("gasnet"), library]):
        log = OUT / f"gasnet_{conduit}.log"
        object_file = program.with_suffix(".o")
        compile_words = [*flags["GASNET_CXX"], "-std=c++20", *flags["GASNET_CXXCPPFLAGS"], *flags["GASNET_CXXFLAGS"], "-DNDEBUG",
                         f"-I{ROOT}", _layer("gasnet"), "-c", HERE / "main.cpp", "-o", object_file]
        _run(compile_words, log)
        _run([*flags["GASNET_LD"], *flags["GASNET_LDFLAGS"], object_file, "-o", program, *flags["GASNET_LIBS"], "-lstdc++"], log)
    return Program(program, "seq, " + " ".join(flag for flag in flags["GASNET_CXXFLAGS"] if flag.startswith("-O")))


def _gasnet_library(source):
    if not (source / "configure").exists():
        raise CannotBuild(f"{source} is no unpacked GASNet-EX: it has no file 'configure'")
    built = OUT / f"gasnet-{source.resolve().name}"
    log = OUT / "gasnet.log"
    if not (built / "built").exists():
        print(f"building GASNet-EX from {source} in {built}: some minutes, once", file=sys.stderr, flush=True)
        shutil.rmtree(built, ignore_errors=True)
        built.mkdir(parents=True)
        log.unlink(missing_ok=True)
        # As its README recommends: no debugging, and the compilers of the user's program. MPI only starts programs.
        wanted = ["--enable-smp", "--enable-udp", "--disable-ibv", "--disable-mpi", "--disable-auto-conduit-detect",
                  "--disable-par", "--disable-parsync", "CC=gcc", "CXX=g++"]
        if shutil.which("mpicc.openmpi"):
            wanted.append("MPI_CC=mpicc.openmpi")
        networks = ["--enable-ofi=probe", "--with-ofi-provider=generic", "--enable-ucx=probe"]
        _run([source.resolve() / "configure", *wanted, *networks], log, cwd=built)
        _run(["make", f"-j{os.cpu_count()}", "seq"], log, cwd=built)
        (built / "built").touch()
    return built


def _fragment(path):
    """The variables that GASNet supplies to its users' makefiles."""
    names = ("GASNET_CXX", "GASNET_CXXCPPFLAGS", "GASNET_CXXFLAGS", "GASNET_LD", "GASNET_LDFLAGS", "GASNET_LIBS")
    makefile = f"include {path.resolve()}\nshow:\n" + "".join(f"\t@echo '$({name})'\n" for name in names)
    said = subprocess.run(["make", "-s", "-f", "-", "show"], input=makefile, capture_output=True, text=True, check=False)
    if said.returncode != 0:
        raise CannotBuild(f"make cannot read {path}: {said.stderr.strip()}")
    return {name: line.split() for name, line in zip(names, said.stdout.split("\n"))}
