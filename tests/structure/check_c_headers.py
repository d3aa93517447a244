#!/usr/bin/env python3
"""Checks the headers for C: each compiles alone and twice, as C11 and as C++, with many warnings.

  check_c_headers.py ROOT C_COMPILER CXX_COMPILER
  check_c_headers.py --self-test   checks that a wrong header is found

It also checks that aqueduct.h includes all of them, and that their macros for definitions do not stay behind.
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FLAGS = ["-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]


def compile_alone(root, command, header):
    """The compiler's output; empty if it succeeds."""
    # A translation unit of headers alone is not empty: ISO C asks for a declaration.
    text = f"#include <{header}>\n" * 2 + "#ifdef AQ_DEFINE_VALUES\n#error a macro stays behind\n#endif\nint one;\n"
    done = subprocess.run([*command, *FLAGS, f"-I{root}/include", "-"], input=text, text=True, capture_output=True, check=False)
    return done.stderr if done.returncode else ""


def check(root, compilers):
    """All violations, as lines of text, and the number of headers."""
    headers = sorted(h.relative_to(root / "include").as_posix() for h in (root / "include").rglob("*.h"))
    whole = (root / "include/aqueduct/aqueduct.h").read_text(encoding="utf-8")
    found = [f"aqueduct/aqueduct.h does not include <{h}>" for h in headers
             if h not in ("aqueduct/aqueduct.h", "aqueduct/c/words.h") and f"#include <{h}>" not in whole]
    for header in headers:
        text = (root / "include" / header).read_text(encoding="utf-8")
        for macro in re.findall(r"^#define (AQ_DEFINE_\w+)", text, re.M):
            if f"#undef {macro}" not in text:
                found.append(f"{header}: {macro} stays behind")
    tasks = [(command, header) for command in compilers for header in headers]
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for (command, header), said in zip(tasks, pool.map(lambda task: compile_alone(root, *task), tasks)):
            if said:
                found.append(f"{header} does not compile alone by {' '.join(command)}:\n{said}")
    return found, len(headers)


def commands(c_compiler, cxx_compiler):
    return [[c_compiler, "-std=c11", "-x", "c"], [cxx_compiler, "-std=c++20", "-x", "c++"]]


def self_test():
    cases = {  # the text of a header besides aqueduct.h, and what the complaint says
        "#pragma once\n#include <stdint.h>\nuint32_t aq_x(void);\n": "",
        "#pragma once\nuint32_t aq_x(void);\n": "does not compile alone",
        "#pragma once\n#include <stdint.h>\nclass X;\n": "does not compile alone",
        "#pragma once\n#include <stdlib.h>\nstatic inline int* aq_x(void) { return malloc(4); }\n": "does not compile alone",
        "int aq_x;\nstatic int aq_y = 1;\n": "does not compile alone",
        "#pragma once\n#define AQ_DEFINE_X(t) t x\n": "AQ_DEFINE_X stays behind",
    }
    wrong = 0
    for text, says in cases.items():
        with tempfile.TemporaryDirectory() as folder:
            include = pathlib.Path(folder, "include/aqueduct")
            include.mkdir(parents=True)
            (include / "x.h").write_text(text)
            (include / "aqueduct.h").write_text("#pragma once\n#include <aqueduct/x.h>\n")
            found, _ = check(pathlib.Path(folder), commands("cc", "c++"))
        if bool(found) != bool(says) or not any(says in line for line in found + [""] * (not says)):
            wrong += 1
            print(f"self-test: {text!r}: expected {says!r}, found {found}")
    print(f"self-test: {len(cases)} headers, {wrong} wrong")
    return wrong != 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) != 4:
        print(__doc__)
        return 2
    found, count = check(pathlib.Path(sys.argv[1]).resolve(), commands(*sys.argv[2:]))
    print("\n".join(found + [f"{count} headers for C, {len(found)} violations"]))
    return bool(found) or count == 0


if __name__ == "__main__":
    sys.exit(main())
