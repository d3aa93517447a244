#!/usr/bin/env python3
"""Checks that wrong uses of the API do not compile, and that the compiler's message gives the reason.

  check_refused.py ROOT COMPILER

Each case is a line inside a function that has an Endpoint `ep`, with a text that the compiler's message must contain. Lines
without a text must compile, which shows that the other snippets are not refused for unrelated reasons.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

# Precompiled, because every snippet includes it.
COMMON = "#include <aqueduct/aqueduct.hpp>\n#include <aqueduct/coll.hpp>\n\n#include <vector>\n"
HEAD = """#include "common.hpp"

using namespace aqueduct;
struct Args { int a; };
struct Other { int b; };
struct Made { explicit Made(int x) : c(x) {} int c; };
using Payload = std::span<std::byte>;
"""
FRAME = """
void use%d(Endpoint& ep, ShortRequest<Args> handler, ShortReply<Args> answer, GlobalPtr<int> there) {
  static_cast<void>(ep), static_cast<void>(handler), static_cast<void>(answer), static_cast<void>(there);
#line 1 "case%d"
  %s
}
"""
SHORT = "a short handler is called as body(context, args)"
LONGER = "a medium or long handler is called as body(context, args, payload)"
CASES = [
    ("static_cast<void>(on_short_request<Args>(ep, [](RequestContext&, const Args&) {}));", ""),
    ("static_cast<void>(on_short_request<Args>(ep, [](auto& context, auto& args) { return context.source() + args.a; }));",
     ""),
    ("static_cast<void>(on_long_reply<Args>(ep, [](ReplyContext&, Args, Payload) {}));", ""),
    ("static_cast<void>(on_short_request<Args>(ep, [](RequestContext&, const Other&) {}));", SHORT),
    ("static_cast<void>(on_short_request<Args>(ep, [](RequestContext&, Args&) {}));", SHORT),
    ("static_cast<void>(on_short_request<Args>(ep, [](RequestContext&, const Args&, Payload) {}));", SHORT),
    ("static_cast<void>(on_short_reply<Args>(ep, [](RequestContext&, const Args&) {}));", SHORT),
    ("static_cast<void>(on_medium_request<Args>(ep, [](RequestContext&, const Args&) {}));", LONGER),
    ("static_cast<void>(on_long_request<Args>(ep, [](RequestContext&, const Args&, std::span<int>) {}));", LONGER),
    ("static_cast<void>(on_medium_reply<Args>(ep, [](RequestContext&, const Args&, Payload) {}));", LONGER),
    # Arguments and values need no default constructor.
    ("static_cast<void>(on_short_request<Made>(ep, [](RequestContext&, const Made& one) { return one.c; }));", ""),
    ("static_cast<void>(on_medium_reply<Made>(ep, [](ReplyContext&, Made, Payload) {}));", ""),
    ("static_cast<void>(get_value(ep, there.as<Made>()));", ""),
    # Other calls that must not compile; the text is the part of the compilers' own message that g++ and clang share.
    ("static_cast<void>(request(ep, 0, handler, Args{1}));", ""),
    ("static_cast<void>(request(ep, 0, handler, Other{1}));", "error:"),
    ("static_cast<void>(request(ep, 0, answer, Args{1}));", "no matching function"),
    ("static_cast<void>(on_short_reply<Args>(ep, [=](auto& c, auto&) { static_cast<void>(c.reply(answer)); }));",
     "reply"),
    # The forms with one operand do not compare: they have no value to compare with.
    ("static_cast<void>(atomic_fetch<AtomicOp::add>(ep, there, 5));", ""),
    ("static_cast<void>(compare_swap(ep, there, 0, 5));", ""),
    ("static_cast<void>(atomic_fetch<AtomicOp::compare_swap>(ep, there, 5));", "no matching function"),
    ("static_cast<void>(atomic<AtomicOp::compare_swap>(ep, there, 5));", "no matching function"),
    ("static_cast<void>(atomic_nb<AtomicOp::compare_swap>(ep, there, 5));", "no matching function"),
    ("static_cast<void>(atomic_nbi<AtomicOp::compare_swap>(ep, there, 5));", "no matching function"),
    # Floats have no bits to combine; the other operations they have.
    ("static_cast<void>(atomic<AtomicOp::multiply>(ep, there.as<float>(), 5));", ""),
    ("static_cast<void>(compare_swap_nbi(ep, there.as<double>(), 0, 5));", ""),
    ("static_cast<void>(fetch_min(ep, there.as<float>(), 5));", ""),
    ("static_cast<void>(atomic<AtomicOp::bit_or>(ep, there.as<float>(), 5));", "no matching function"),
    ("static_cast<void>(fetch_xor(ep, there.as<double>(), 5));", "no matching function"),
    # Values have 1 to 8 bytes, or 16.
    ("static_cast<void>(put_value(ep, there.as<std::array<int, 4>>(), {1, 2, 3, 4}));", ""),
    ("static_cast<void>(put_value(ep, there.as<std::array<int, 3>>(), {1, 2, 3}));", "no matching function"),
    ("std::vector<int> mine(1); static_cast<void>(put_nbi(ep, there, mine));", ""),
    ("static_cast<void>(put_nbi(ep, there, std::vector<int>(1)));", "deleted function"),
    # Through a pointer to const there are only gets.
    ("std::vector<int> mine(1); static_cast<void>(get(ep, mine, GlobalPtr<const int>(there)));", ""),
    ("static_cast<void>(get_value(ep, GlobalPtr<const int>(there)));", ""),
    ("std::vector<int> mine(1); static_cast<void>(put(ep, GlobalPtr<const int>(there), mine));", "no matching function"),
    ("std::vector<int> mine(1); static_cast<void>(put_nb(ep, GlobalPtr<const int>(there), mine));",
     "no matching function"),
    ("std::vector<int> mine(1); static_cast<void>(put_signal_nbi(ep, GlobalPtr<const int>(there), mine));",
     "no matching function"),
    ("static_cast<void>(put_value(ep, GlobalPtr<const int>(there), 5));", "no matching function"),
    ("static_cast<void>(put_value_nb(ep, GlobalPtr<const int>(there), 5));", "no matching function"),
    # So it is with pieces.
    ("std::vector<int> mine(1); GlobalPtr<const int> from(there); "
     "static_cast<void>(get(ep, contiguous(mine.data(), 1), contiguous(from, 1))); "
     "static_cast<void>(get_nb(ep, contiguous(mine.data(), 1), pieces(from, Vector{})).done()); "
     "static_cast<void>(get_nbi(ep, contiguous(mine.data(), 1), section(view(from, {4}), {{0, 1}})));", ""),
    ("RemoteConstPieces from = contiguous(there, 1); static_cast<void>(from);", ""),
    ("std::vector<int> mine(1); static_cast<void>(put(ep, contiguous(there, 1), contiguous(mine.data(), 1)));", ""),
    ("std::vector<int> mine(1); "
     "static_cast<void>(put(ep, contiguous(GlobalPtr<const int>(there), 1), contiguous(mine.data(), 1)));",
     "no matching function"),
    ("std::vector<int> mine(1); "
     "static_cast<void>(put_nb(ep, pieces(GlobalPtr<const int>(there), Indexed{}), contiguous(mine.data(), 1)));",
     "no matching function"),
    ("std::vector<int> mine(1); "
     "static_cast<void>(put_nbi(ep, pieces(GlobalPtr<const int>(there), Strided(4, {})), contiguous(mine.data(), 1)));",
     "no matching function"),
    ("std::vector<int> mine(1); static_cast<void>(put_signal(ep, section(view(GlobalPtr<const int>(there), {4}), {{0, 1}}), "
     "contiguous(mine.data(), 1)));", "no matching function"),
    # Buffers of collectives outlive the call, have elements that can be copied as bytes, and are of one type.
    ("std::vector<int> mine(1); static_cast<void>(all_reduce_nb(ep.world(), mine, ReduceOp::sum));", ""),
    ("std::vector<int> mine(1); static_cast<void>(all_gather_plan(ep.world(), std::span(mine)));", ""),
    ("static_cast<void>(all_reduce_nb(ep.world(), std::vector<int>(1), ReduceOp::sum));", "no matching function"),
    ("const std::vector<int> mine(1); static_cast<void>(broadcast(ep.world(), mine));", "no matching function"),
    ("std::vector<std::vector<int>> mine(1); static_cast<void>(broadcast(ep.world(), mine));", "no matching function"),
    ("std::vector<int> mine(1), all(1); static_cast<void>(all_to_all(ep.world(), mine, all));", ""),
    ("std::vector<int> mine(1); std::vector<float> all(1); static_cast<void>(all_to_all(ep.world(), mine, all));",
     "input and output have elements of the same type"),
    # Blocks of different lengths lie in memory of the member.
    ("std::vector<int> mine(1), all(1); std::vector<std::uint64_t> counts(1); "
     "static_cast<void>(all_to_all_v(ep.world(), mine, {counts}, all, {counts}));", ""),
    ("OnAll<int> places; static_cast<void>(permute(ep.world(), places, places, 0));", "no matching function"),
    ("std::vector<int> mine(1); static_cast<void>(permute_nb(ep.world(), mine, std::vector<int>(1), 0));",
     "no matching function"),
    # Integers of 128 bits are moved as bytes: they are integers where the compiler's extensions are on.
    ("static_assert(std::is_integral_v<__int128> && detail::element_type<__int128>() == ElementType::bytes);", ""),
    ("static_assert(detail::element_type<unsigned __int128>() == ElementType::bytes);", ""),
    ("static_assert(detail::element_type<long long>() == ElementType::i64);", ""),
]


# With extensions, as CMake compiles a program that does not say otherwise.
FLAGS = ["-std=gnu++20", "-Wall", "-Wextra", "-Werror", "-fdiagnostics-color=never"]


def precompile(root, compiler, folder):
    """Precompiles the header that every snippet includes; returns the compile command."""
    header = pathlib.Path(folder, "common.hpp")
    header.write_text(f"#ifndef COMMON\n#define COMMON\n{COMMON}#endif\n")
    clang = "clang" in pathlib.Path(compiler).resolve().name
    made = header.with_suffix(".hpp.pch" if clang else ".hpp.gch")
    subprocess.run([compiler, *FLAGS, f"-I{root}/include", "-x", "c++-header", header, "-o", made], check=True,
                   timeout=120)
    return ["-include-pch", made] if clang else []


def compile_cases(root, compiler, folder, precompiled, numbers):
    """Compiles these cases as one source. Returns the exit status and the output."""
    source = pathlib.Path(folder, "cases.cpp")
    source.write_text(HEAD + "".join(FRAME % (number, number, CASES[number][0]) for number in numbers))
    done = subprocess.run([compiler, *FLAGS, *precompiled, "-fsyntax-only", f"-I{root}/include", source], text=True,
                          timeout=240, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def first_errors(said):
    """The first error of each case in the compiler's output, by the case's number. g++ says before an error inside a template
    from where it was needed; what another compiler says is found by compiling its case alone."""
    found, case = {}, None
    for line in said.splitlines():
        mention = re.match(r"case(\d+):", line)
        if mention:
            case = int(mention[1])
        if "error:" in line:
            if case is not None:
                found.setdefault(case, line)
            case = None
    return found


def complaint(case, status, said):
    """What is wrong with the compiler's answer to a case alone; None if nothing is."""
    line, wanted = case
    if not wanted:
        return f"must compile: {line}\n{said}" if status != 0 else None
    if status == 0:
        return f"compiles, and must not: {line}"
    errors = [one for one in said.splitlines() if "error:" in one]
    # The reason has to come first: a template's tenth error is not read.
    if not errors or wanted not in errors[0]:
        return f"does not say “{wanted}” first: {line}\n{said}"
    return None


def main():
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    root, compiler = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    legal = [number for number, (_, wanted) in enumerate(CASES) if not wanted]
    refused = [number for number, (_, wanted) in enumerate(CASES) if wanted]
    with tempfile.TemporaryDirectory() as folder:
        def compiled(numbers):
            return compile_cases(root, compiler, folder, precompiled, numbers)

        precompiled = precompile(root, compiler, folder)
        # Together first, which is many times as fast. What is not right then is compiled alone.
        doubtful = legal if compiled(legal)[0] != 0 else []
        errors = first_errors(compiled(refused)[1])
        doubtful = doubtful + [number for number in refused if CASES[number][1] not in errors.get(number, "")]
        wrong = [found for number in doubtful if (found := complaint(CASES[number], *compiled([number])))]
    print("\n".join(wrong + [f"{len(CASES)} snippets, {len(doubtful)} of them compiled alone, {len(wrong)} wrong"]))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
