#!/usr/bin/env python3
"""Checks in the generated code that puts and gets of a word and atomics on a mapped peer make no call.

  check_hot_path.py ROOT COMPILER [C_COMPILER]

Compiles hot_path.cpp at -O2, and hot_path.c if there is a compiler for it, and disassembles them. Looks in each function for a path from its entry to a `ret` that does
the function's work (for example, stores eight bytes outside the stack) and contains no call. Each atomic has several call
sites, because compilers inline a function that is called once. Exit status 77: not an x86-64 host.
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
# The instruction that does a function's work, as "mnemonic operands", not on the stack.
STORE = re.compile(r"^movq? %r(?:[a-d]x|[sd]i|bp|[89]|1[0-5]),(?!%)[^%]*\(%(?!rsp)")  # mov %rax,(%rdx,%rcx,8)
STORE4 = re.compile(r"^movl? %(?:e[a-d]x|e[sd]i|ebp|r(?:[89]|1[0-5])d),(?!%)[^%]*\(%(?!rsp)")
LOAD = re.compile(r"^movq? [^%$]*\(%(?!rsp)[^)]*\),%r")
ADD = re.compile(r"^lock (?:xadd|add|inc)q? ")
SWAP = re.compile(r"^xchg (?:%r\w+,[^%]*\(|[^%]*\(.*\),%r)")
COMPARE = re.compile(r"^lock cmpxchg ")
WANTED = {  # what the call-free path must contain; None: there must be no such path
    "hot_put": STORE, "hot_get": STORE, "hot_put_span": STORE4,
    "hot_fetch_add": ADD, "hot_fetch_add_again": ADD, "hot_fetch_add_general": ADD, "hot_add_nbi": ADD, "hot_add_nb": ADD,
    "hot_domain_add": ADD, "hot_domain_add_again": ADD,
    "hot_swap": SWAP, "hot_swap_again": SWAP, "hot_store": SWAP, "hot_store_again": SWAP,
    "hot_load": LOAD, "hot_load_again": LOAD,
    "hot_compare_swap": COMPARE, "hot_compare_swap_again": COMPARE,
    "hot_fetch_max": COMPARE, "hot_fetch_max_again": COMPARE,
    "cold_put": None, "cold_atomic": None,
}

WANTED_C = {"hot_c_put": STORE, "hot_c_put_nb": STORE, "hot_c_put_bytes": STORE, "hot_c_get": LOAD, "hot_c_fetch_add": ADD,
            "hot_c_compare_swap": COMPARE, "cold_c_put": None}


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


def shortest_way(code, purpose):
    """The instructions of the shortest call-free path to a ret that contains the wanted one; None if there is no such path."""
    index = {instruction[0]: i for i, instruction in enumerate(code)}
    todo, seen = deque([(0, False, ())]), set()  # position, whether the instruction was found, path
    while todo:
        i, done, way = todo.popleft()
        if i >= len(code) or (i, done) in seen:
            continue
        seen.add((i, done))
        _, name, operands, relocated = code[i]
        way += (f"{name} {operands}".strip(),)
        done = done or purpose.match(way[-1]) is not None
        if name.startswith("ret"):
            if done:
                return way
        elif name.startswith("j"):
            target = operands.split()[0]
            # A jump with a relocation leaves the function, to cold code or to another function.
            if not relocated and re.fullmatch("[0-9a-f]+", target) and int(target, 16) in index:
                todo.append((index[int(target, 16)], done, way))
            if name != "jmp":
                todo.append((i + 1, done, way))
        elif not name.startswith(("call", "ud2", "hlt")):
            todo.append((i + 1, done, way))
    return None


def compiled(command):
    """The functions of a source, which the command compiles to the file that is appended."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "hot_path.o")
        subprocess.run([*command, "-o", out], check=True)
        return disassemble(out)


def check(functions, wanted, purpose, mangled):
    """Prints what the function does; returns whether that is wrong."""
    names = [n for n in functions if n.startswith(mangled) and ".cold" not in n]
    if len(names) != 1:
        print(f"{wanted}: {len(names)} functions of that name in the object file")
        return True
    purposes = [purpose] if purpose else [STORE, SWAP]
    way = next((way for one in purposes if (way := shortest_way(functions[names[0]], one))), None)
    if (way is not None) != (purpose is not None):
        print(f"{wanted}: " + ("no way without a call" if purpose else "the check did not see its calls"))
        for address, name, operands, _ in functions[names[0]]:
            print(f"  {address:6x}: {name} {operands}")
        return True
    print(f"{wanted}: " + (f"{len(way)} instructions, no call" if way else "calls, as it should here"))
    if way:
        print("  " + "\n  ".join(way))
    return False


def main():
    if len(sys.argv) not in (3, 4):
        print(__doc__)
        return 2
    if platform.machine() != "x86_64":
        print(f"skipped: reads x86-64 code only, this is {platform.machine()}")
        return 77
    root = pathlib.Path(sys.argv[1]).resolve()
    flags = ["-O2", "-DNDEBUG", f"-I{root}/include", "-c"]
    here = pathlib.Path(__file__)
    functions = compiled([sys.argv[2], "-std=c++20", *flags, here.with_name("hot_path.cpp")])
    wrong = sum(check(functions, wanted, purpose, f"_Z{len(wanted)}{wanted}") for wanted, purpose in WANTED.items())
    for compiler in sys.argv[3:]:
        functions = {f"{name}!": code for name, code in
                     compiled([compiler, "-std=c11", *flags, here.with_name("hot_path.c")]).items()}
        wrong += sum(check(functions, wanted, purpose, f"{wanted}!") for wanted, purpose in WANTED_C.items())
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
