#!/usr/bin/env python3
"""Shows in the generated code that an 8-byte put or get to a mapped peer makes no call.

  check_hot_path.py ROOT COMPILER

Compiles hot_path.cpp at -O2, disassembles it, and looks in each function for a way from its entry to a `ret` that
stores eight bytes outside the stack and meets no call. Exit status 77: not an x86-64 host.
"""

import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
from collections import deque

LABEL = re.compile(r"^[0-9a-f]+ <(.+)>:$")
INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\s+(?:bnd |notrack )?(\S+)\s*(.*)$")
RELOCATION = re.compile(r"^\s*[0-9a-f]+: R_X86_64_")
# mov %rax,(%rdx,%rcx,8), with a 64-bit register and not to the stack
STORE = re.compile(r"^%r(?:[a-d]x|[sd]i|bp|[89]|1[0-5]),(?!%)[^%]*\(%(?!rsp)")


def disassemble(object_file):
    """{function: [(address, mnemonic, operands, has a relocation)]}"""
    text = subprocess.run(["objdump", "-dr", "--no-show-raw-insn", object_file], text=True, check=True,
                          capture_output=True).stdout
    functions, current = {}, None
    for line in text.splitlines():
        if match := LABEL.match(line):
            current = functions.setdefault(match[1], [])
        elif RELOCATION.match(line) and current:
            current[-1] = current[-1][:3] + (True,)
        elif current is not None and (match := INSTRUCTION.match(line)):
            current.append((int(match[1], 16), match[2], match[3], False))
    return functions


def shortest_way(code):
    """Instructions of the shortest call-free way to a ret that stores eight bytes; None if there is none."""
    index = {instruction[0]: i for i, instruction in enumerate(code)}
    todo, seen = deque([(0, False, ())]), set()
    while todo:
        i, stored, way = todo.popleft()
        if i >= len(code) or (i, stored) in seen:
            continue
        seen.add((i, stored))
        _, name, operands, relocated = code[i]
        way += (f"{name} {operands}".strip(),)
        stored = stored or (name in ("mov", "movq") and STORE.match(operands) is not None)
        if name.startswith("ret"):
            if stored:
                return way
        elif name.startswith("j"):
            target = operands.split()[0]
            # With a relocation it leaves the function: to cold code, or to another function.
            if not relocated and re.fullmatch("[0-9a-f]+", target) and int(target, 16) in index:
                todo.append((index[int(target, 16)], stored, way))
            if name != "jmp":
                todo.append((i + 1, stored, way))
        elif not name.startswith(("call", "ud2", "hlt")):
            todo.append((i + 1, stored, way))
    return None


def main():
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    if platform.machine() != "x86_64":
        print(f"skipped: reads x86-64 code only, this is {platform.machine()}")
        return 77
    root, compiler = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    source = pathlib.Path(__file__).with_name("hot_path.cpp")
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "hot_path.o")
        subprocess.run([compiler, "-std=c++20", "-O2", "-DNDEBUG", f"-I{root}/include", "-c", source, "-o", out],
                       check=True)
        functions = disassemble(out)
    wrong = 0
    for wanted, call_free in (("hot_put", True), ("hot_get", True), ("cold_put", False)):
        names = [n for n in functions if f"{len(wanted)}{wanted}" in n and ".cold" not in n]
        way = shortest_way(functions[names[0]]) if len(names) == 1 else None
        if len(names) != 1:
            wrong += 1
            print(f"{wanted}: {len(names)} functions of that name in the object file")
        elif (way is not None) != call_free:
            wrong += 1
            print(f"{wanted}: " + ("no way without a call" if call_free else "the check did not see its calls"))
            for address, name, operands, _ in functions[names[0]]:
                print(f"  {address:6x}: {name} {operands}")
        else:
            print(f"{wanted}: " + (f"{len(way)} instructions, no call" if way else "calls, as it should here"))
            if way:
                print("  " + "\n  ".join(way))
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
