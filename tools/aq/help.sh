# What `./aq COMMAND --help` says: arguments, defaults, what the command needs, and how long it takes. `aq` sources it.
# shellcheck shell=bash disable=SC2154,SC2034  # aq sets and reads these variables

# help_of COMMAND
help_of() {
  case $1 in
    demo)
      cat <<'END'
./aq demo

Builds the release preset, then shows nine programs running on several ranks here, their speed beside the machine's own
best, and a tuned broadcast. Writes to build/demo/.

Arguments:  none
Needs:      the packages of ./aq setup, which it installs as root or through sudo
Takes:      about a minute, and some 240 s of processor time more if nothing is built yet
END
      ;;
    test)
      cat <<'END'
./aq test

Builds the dev preset and runs every test but the stress tests. Fails also if a test is skipped that could run here.

Arguments:  none
Needs:      the packages of ./aq setup, ./aq setup tests and ./aq setup launchers: it installs those that it may, and skips
            the tests that lack theirs
Takes:      up to 15 minutes on two cores
END
      ;;
    bench)
      cat <<'END'
./aq bench         measures the table of docs/performance.md
./aq bench peers   compares with GASNet-EX, Open MPI and MPICH: it has options of its own, see ./aq bench peers --help

Builds the release preset, runs aqperf for each line of bench/table.txt, and prints a table. Writes build/bench-DATE.jsonl.

Arguments:  none
Needs:      the packages of ./aq setup, and a machine on which nothing else runs
Takes:      some minutes
END
      ;;
    stress)
      cat <<'END'
./aq stress [CONDUIT]

Builds the release preset, runs long random programs and compares them with a model. Each test prints its seed, and one that
fails the command that repeats it.

Arguments:  CONDUIT  only the tests of this conduit: smp, udp, ofi, ucx, ibv, loop or sim (default: all stress tests)
Needs:      the packages of ./aq setup; tests of a network that is missing are skipped
Takes:      tens of minutes without CONDUIT, less with it
END
      ;;
    nightly)
      cat <<'END'
./aq nightly

Runs what takes too long for .ci/run: each header and each source alone, builds without one library, the whole conformance
kit under sanitizers and the second compiler, and the stress tests. docs/testing.md has the list.

Arguments:  none
Needs:      the packages of ./aq setup clang
Takes:      an hour or two
END
      ;;
    fuzz)
      cat <<'END'
./aq fuzz [SECONDS]

Builds the fuzz preset and runs each target of fuzz/ on random inputs. Starts from fuzz/corpus/ and keeps new inputs in
build/fuzz/corpus/. Ends at the first input that fails, and names it.

Arguments:  SECONDS  for each target, a whole number from 1 to 9999999 (default: 300)
Needs:      the packages of ./aq setup clang
Takes:      SECONDS for each folder of fuzz/corpus/, and the build
END
      ;;
    rdma)
      cat <<END
./aq rdma [FABRIC…]   runs the conformance kit over RDMA devices, here or in a virtual machine; logs are in build/rdma/
./aq rdma faults      runs jobs over RDMA between two virtual machines that lose ranks, links and packets

Arguments:  FABRIC  of ${rdma_fabrics[*]}
                    (default: all of them)
Needs:      an RDMA device (ls /sys/class/infiniband), or the program ../shared/rdma-vm beside the checkout, which starts
            virtual machines; with \`faults\` that program
Takes:      some minutes for each fabric, 25 at most
END
      ;;
    build)
      cat <<END
./aq build [PRESET [TARGET…]]

Configures and builds a preset. Binaries are in build/PRESET/bin.

Arguments:  PRESET  of $(presets build | paste -sd ' ')
                    (default: release)
            TARGET  what to build of it (default: everything)
Needs:      the packages of ./aq setup, which it installs as root or through sudo; for presets with clang in their name, and
            for asan, tidy and fuzz, those of ./aq setup clang
Takes:      some minutes on two cores, and seconds with a filled compiler cache
END
      ;;
    run-tests)
      cat <<END
./aq run-tests PRESET [LABELS]

Runs the tests of a preset that is built; .ci/run does it so.

Arguments:  PRESET  of $(presets test | paste -sd ' ')
            LABELS  only tests with a label that this regular expression matches (default: all but stress)
Needs:      the preset built: ./aq build PRESET
Takes:      a minute with the label unit, up to 15 minutes for all
END
      ;;
    setup)
      cat <<'END'
./aq setup             installs the Debian packages that are missing for building
./aq setup clang       the second compiler, its sanitizers, clang-format and clang-tidy too
./aq setup tests       what some tests need too: network namespaces, nftables, valgrind
./aq setup launchers   only Open MPI, MPICH and Slurm, with which some tests start jobs

Arguments:  one of these words, or none
Needs:      Debian; root, or sudo without a password, if a package is missing: otherwise the command to type is printed
Takes:      a second, or as long as the packages take
END
      ;;
    doctor)
      cat <<'END'
./aq doctor

Checks this machine: packages, compilers, shared memory, limits, sockets, huge pages and cores. Says how to mend what is
missing, and changes nothing. Fails if something must be mended first.

Arguments:  none
Needs:      nothing
Takes:      a second
END
      ;;
    format)
      cat <<'END'
./aq format [--check]

Formats all C++ sources as .clang-format says.

Arguments:  --check  changes nothing: lists the files that would change, and fails if there are any
Needs:      clang-format (./aq setup clang)
Takes:      half a minute
END
      ;;
    clean)
      cat <<'END'
./aq clean

Removes build/, with all that was built, measured and logged there.

Arguments:  none
Needs:      nothing
Takes:      a second
END
      ;;
    *) usage ;;
  esac
}
