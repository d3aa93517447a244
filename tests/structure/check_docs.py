"""Checks statements of the documents that a program can check.

check_docs.py readme ROOT BUILD COMPILER [FLAGS…]   the program in README.md compiles, and runs on two ranks
check_docs.py template ROOT                         the code in docs/write-a-conduit.md is in the template
check_docs.py layer ROOT COMPILER                   the layer that docs/architecture.md shows compiles with its line in runtime/layers.cpp, and keeps to its arrows
check_docs.py settings ROOT BUILD                   docs/settings.md has every setting of that build, with its default, values and text
check_docs.py sentences ROOT                        the kit quotes each numbered sentence of docs/memory-model.md and progress.md
check_docs.py words ROOT                            the files, sections, settings, error codes and commands that are named exist,
                                                    an index names each page, and testing.md each suite of the kit
check_docs.py self-test                             the checks find the errors that they look for
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the source tree stays clean
import check_arrows  # noqa: E402

SKIPPED = 77
FOLDERS = "|".join(check_arrows.FOLDERS + check_arrows.PROGRAMS + ["cmake", "docs"])


def first_block(text, language):
    """The first fenced block in that language, or None."""
    found = re.search(r"^```" + language + r"\n(.*?)^```", text, re.S | re.M)
    return found.group(1) if found else ""


def run(command, seconds, **more):
    print("$", " ".join(map(str, command)), flush=True)
    return subprocess.run(command, timeout=seconds, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, **more)


def must(command, seconds, **more):
    try:
        done = run(command, seconds, **more)
    except subprocess.TimeoutExpired as late:
        said = late.output or ""
        said = said if isinstance(said, str) else said.decode(errors="replace")
        sys.exit(f"{said}\nit did not end within {seconds} s")
    if done.returncode != 0:
        sys.exit(f"{done.stdout}\nended with {done.returncode}")
    return done.stdout


def built(path):
    if not path.exists():
        print(f"skipped: {path} is not built")
        sys.exit(SKIPPED)
    return path


def check_readme(root, build, compiler, flags):
    launcher = built(build / "bin/aqrun")
    built(build / "lib/libaqueduct.so")
    program = first_block((root / "README.md").read_text(), "cpp")
    if "int main" not in program:
        sys.exit("README.md has no program in a ```cpp block")
    with tempfile.TemporaryDirectory() as work:
        source = pathlib.Path(work, "readme.cpp")
        source.write_text(program)
        must([compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-O1", *flags, f"-I{root}/include", source,
              f"-L{build}/lib", "-laqueduct", f"-Wl,-rpath,{build}/lib", "-o", f"{work}/readme"], 120)
        said = must([launcher, "-n", "2", "--timeout", "30", f"{work}/readme"], 60)
    for rank in range(2):
        if f"rank {rank} of 2: the ranks add up to 1\n" not in said:
            sys.exit(f"rank {rank} did not say what README.md promises:\n{said}")


def blocks(text, language):
    """All fenced blocks in that language."""
    return re.findall(r"^```" + language + r"\n(.*?)^```", text, re.S | re.M)


def check_template(root):
    sources = [path.read_text() for path in sorted((root / "examples/conduit-template").glob("*.?pp"))]
    shown = blocks((root / "docs/write-a-conduit.md").read_text(), "cpp")
    if not shown:
        sys.exit("docs/write-a-conduit.md shows nothing of examples/conduit-template")
    for block in shown:
        if not any(block in source for source in sources):
            sys.exit(f"docs/write-a-conduit.md shows what is not in examples/conduit-template:\n{block}")


def changed(text, before, after):
    """The text with its only match of the expression `before` replaced."""
    text, times = re.subn(before, after, text)
    if times != 1:
        sys.exit(f"{before} was found {times} times: check_docs.py must change the line of the new layer elsewhere")
    return text


def check_layer(root, compiler):
    document = (root / "docs/architecture.md").read_text()
    shown = dict(re.findall(r"^`(notice/[\w.]+)`.*?^```\w*\n(.*?)^```", document, re.S | re.M))
    if set(shown) != {"notice/arrows", "notice/notices.hpp", "notice/notices.cpp"}:
        sys.exit(f"docs/architecture.md shows the files {sorted(shown)} of the new layer")
    layers = '#include "notice/notices.hpp"\n' + (root / "runtime/layers.cpp").read_text()
    shown["runtime/layers.cpp"] = changed(layers, r"coll::Collectives>;", "coll::Collectives, notice::Notices>;")
    with tempfile.TemporaryDirectory() as work:
        for name, text in shown.items():
            file = pathlib.Path(work, name)
            file.parent.mkdir(exist_ok=True)
            file.write_text(text)
        must([compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-DSPDLOG_COMPILED_LIB",
              "-DSPDLOG_FMT_EXTERNAL", f"-I{work}", f"-I{root}", f"-I{root}/include",
              f"{work}/notice/notices.cpp", f"{work}/runtime/layers.cpp"], 200)
        # The arrows of the whole tree with the new layer, by a copy of the script: it looks for layers in its own tree.
        checks = pathlib.Path(work, "tests/structure")
        checks.mkdir(parents=True)
        for name in ("check_arrows.py", "checker.py"):
            shutil.copy(root / "tests/structure" / name, checks)
        for item in [*root.iterdir(), *(root / "runtime").iterdir()]:
            place = pathlib.Path(work, item.relative_to(root))
            if not place.exists():
                place.symlink_to(item.resolve())
        must([sys.executable, str(checks / "check_arrows.py"), work], 60)


# Numbered sentences without a case of the kit, and why.
UNTESTED = {
    "M-6": "what a failed put has written is not known", "M-9": "promises no order",
    "M-15": "says what plain loads do not do", "M-18": "promises nothing", "M-22": "says what a fence does not order",
    "M-29": "says what a call does not do", "P-1": "explains a word", "P-6": "says which calls make no progress",
}


def sentence_problems(documents, cases, untested):
    """What is wrong with the numbers: `documents` and `cases` are texts, `untested` the numbers that no case needs."""
    said = set(re.findall(r"^- \*\*([MP]-\d+)\*\*", documents, re.M))
    quoted = {f"{kind}-{number}" for kind, number in re.findall(r"\b([MP])-?(\d+)\b(?!\.\d)", cases.replace("_", " "))}
    return ([f"no case of the kit quotes {number}" for number in sorted(said - quoted - untested)] +
            [f"the kit quotes {number}, which no document has" for number in sorted(quoted - said)] +
            [f"UNTESTED has {number}, which the kit quotes or no document has" for number in sorted(untested - (said - quoted))])


def check_sentences(root):
    documents = "".join((root / "docs" / name).read_text() for name in ("memory-model.md", "progress.md"))
    cases = "".join(re.sub(r"^(?!//|TEST_P).*", "", file.read_text(), flags=re.M) for file in sorted((root / "tests/conformance").glob("*_test.cpp")))
    if problems := sentence_problems(documents, cases, set(UNTESTED)):
        sys.exit("\n".join(problems))


def error_rows(source):
    """name, meaning and advice of each entry of the registry in core/status.cpp, in order."""
    entry = re.compile(r'ErrorInfo\{ErrorCode::(\w+),\s*"(\w+)",\s*"([^"]*)",\s*"([^"]*)"\}')
    return [(name, meaning, advice) for _, name, meaning, advice in entry.findall(source)]


def missing_rows(rows, document):
    """The table rows that the registry implies and the document does not have."""
    wanted = [f"| {code} | {0 if code == 0 else code + 10} | `{name}` | {meaning} | {advice} |"
              for code, (name, meaning, advice) in enumerate(rows)]
    return [row for row in wanted if row not in document.splitlines()]


def setting_row(info):
    """The row of docs/settings.md for a setting of `aqinfo --json`."""
    allowed = info["allowed"]
    limits = re.search(r"(?:from (\S+) to (\S+)|(at least \S+))$", allowed)
    if info["type"] in ("number", "bytes", "duration"):
        values = "" if limits is None else limits[3] or f"{limits[1]} to {limits[2]}"
    else:
        values = {"text": "", "boolean": "on, off"}.get(info["type"], allowed.removeprefix("one of "))
    default = f"`{info['default']}`" if info["default"] else ""
    return "| " + " | ".join([f"`{info['variable']}`", default, values, info["help"].replace("|", "\\|")]) + " |"


def setting_problems(settings, document):
    """What docs/settings.md lacks of these settings of `aqinfo --json`."""
    lines = document.splitlines()
    twice = {name for name in re.findall(r"^\| `(\w+)`", document, re.M) if document.count(f"| `{name}` ") > 1}
    return ([f"docs/settings.md lacks the row\n  {row}" for row in map(setting_row, settings) if row not in lines] +
            [f"docs/settings.md has {name} twice" for name in sorted(twice)])


def check_settings(root, build):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AQUEDUCT_")}
    found = json.loads(subprocess.run([built(build / "bin/aqinfo"), "--json"], timeout=60, text=True, env=environment,
                                      stdout=subprocess.PIPE, check=False).stdout)
    if problems := setting_problems(found["settings"], (root / "docs/settings.md").read_text()):
        sys.exit("\n".join(problems))


def sections(text):
    """The names by which links reach the headings of a document."""
    found = {}
    for heading in re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M), re.M):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        found[name] = found.get(name, -1) + 1
    return {f"{name}-{number}" if number else name for name, most in found.items() for number in range(most + 1)}


def unreachable_pages(root):
    """Pages of docs/ that no index has: README.md, the README.md of their own folder, or the page that is named like it."""
    named = [page for page in (root / "docs").glob("*.md") if page.with_suffix("").is_dir()]
    linked = {(index.parent / link).resolve() for index in [root / "README.md", *(root / "docs").rglob("README.md"), *named]
              for link in re.findall(r"\]\(([^)#]+)", index.read_text())}
    return [page for page in sorted((root / "docs").rglob("*.md")) if page.resolve() not in linked]


def wrong_words(text, exists, settings, commands, has_section=lambda path, section: True):
    """Everything that the document names and that does not exist."""
    wrong = []
    prose = re.sub(r"^```cpp\n.*?^```", "", text, flags=re.S | re.M)  # a lambda in code looks like a link
    # A layer or conduit that a document shows as an example may have settings of its own.
    settings = settings | set(re.findall(r'"(AQUEDUCT_[A-Z0-9_]*[A-Z0-9])"', "".join(blocks(text, "cpp"))))
    for path in re.findall(rf"`((?:{FOLDERS})/[\w./-]*)`", text):
        if not exists(path):
            wrong.append(f"file {path}")
    for path in re.findall(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)", prose):
        if not exists(path, True):
            wrong.append(f"link to {path}")
    for path, section in re.findall(r"\]\((?!https?:)([^)#]*)#([^)]*)\)", prose):
        if not has_section(path, section):
            wrong.append(f"section {section} of {path or 'this page'}")
    for word in set(re.findall(r"\bAQUEDUCT_[A-Z0-9_]*[A-Z0-9]\b", text)):
        if word not in settings:
            wrong.append(f"setting {word}")
    for command in re.findall(r"\./aq ([a-z]+)", text):
        if command not in commands:
            wrong.append(f"command ./aq {command}")
    return wrong


def check_words(root):
    sources = [path for folder in check_arrows.FOLDERS + ["tools"]
               for path in (root / folder).rglob("*.?pp")]
    code = "\n".join(path.read_text() for path in sources)
    code += (root / "cmake/AqueductOptions.cmake").read_text()
    settings = set(re.findall(r"\bAQUEDUCT_[A-Z0-9_]*[A-Z0-9]\b", code))
    commands = set(re.findall(r"^\./aq ([a-z]+)", (root / "aq").read_text(), re.M))
    wrong = []
    for document in [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").rglob("*.md"))]:
        def exists(path, link=False):
            return ((document.parent if link else root) / path).exists()

        def has_section(path, section):
            target = document.parent / path if path else document
            return target.suffix != ".md" or not target.exists() or section in sections(target.read_text())
        wrong += [f"{document.relative_to(root)}: there is no {what}"
                  for what in wrong_words(document.read_text(), exists, settings, commands, has_section)]
    wrong += [f"{page.relative_to(root)}: no index has it (README.md, that of its folder, or the page named like its folder)" for page in unreachable_pages(root)]
    suites = {suite for file in (root / "tests/conformance").glob("*_test.cpp")
              for suite in re.findall(r"^TEST_P\((\w+),", file.read_text(), re.M)}
    testing = (root / "docs/testing.md").read_text()
    wrong += [f"docs/testing.md: the table of the kit lacks the suite {suite}" for suite in sorted(suites - {"Failing"})
              if f"`{suite}`" not in testing]
    rows = error_rows((root / "core/status.cpp").read_text())
    if len(rows) < 19:
        wrong.append(f"core/status.cpp: only {len(rows)} error codes could be read")
    wrong += [f"docs/errors.md lacks the row\n  {row}"
              for row in missing_rows(rows, (root / "docs/errors.md").read_text())]
    if wrong:
        sys.exit("\n".join(wrong))


def self_test():
    assert first_block("text\n```cpp\nint x;\n```\n```cpp\nno\n```\n", "cpp") == "int x;\n"
    assert first_block("```sh\nx\n```\n", "cpp") == ""
    assert blocks("```cpp\na\n```\n```sh\nb\n```\n```cpp\nc\n```\n", "cpp") == ["a\n", "c\n"]
    rows = error_rows('ErrorInfo{ErrorCode::ok, "ok", "fine",\n  "nothing"}, ErrorInfo{ErrorCode::a, "a", "b", "c"}')
    assert rows == [("ok", "fine", "nothing"), ("a", "b", "c")]
    assert missing_rows(rows, "| 0 | 0 | `ok` | fine | nothing |\n| 1 | 11 | `a` | b | c |") == []
    assert missing_rows(rows, "| 0 | 0 | `ok` | fine | nothing |") == ["| 1 | 11 | `a` | b | c |"]
    number = {"variable": "AQUEDUCT_A", "type": "number", "default": "1", "allowed": "a whole number from 1 to 8", "help": "B|C."}
    assert setting_row(number) == "| `AQUEDUCT_A` | `1` | 1 to 8 | B\\|C. |", setting_row(number)
    choice = {"variable": "AQUEDUCT_D", "type": "choice", "default": "", "allowed": "one of e, f", "help": "G."}
    assert setting_row(choice) == "| `AQUEDUCT_D` |  | e, f | G. |", setting_row(choice)
    assert setting_problems([number], setting_row(number)) == []
    assert setting_problems([number, choice], setting_row(number) + "\n" + setting_row(number)) == \
        ["docs/settings.md lacks the row\n  | `AQUEDUCT_D` |  | e, f | G. |", "docs/settings.md has AQUEDUCT_A twice"]
    text = "`core/no.hpp` `core/op.hpp` [x](gone.md) [y](https://a.b) AQUEDUCT_NEAR AQUEDUCT_FAR ./aq test ./aq fly"
    wrong = wrong_words(text, lambda path, link=False: path == "core/op.hpp", {"AQUEDUCT_NEAR"}, {"test"})
    assert wrong == ["file core/no.hpp", "link to gone.md", "setting AQUEDUCT_FAR", "command ./aq fly"], wrong
    headings = "# One `two`: three\n## [Four](x.md)\n```\n# no heading\n```\n## Four\n"
    assert sections(headings) == {"one-two-three", "four", "four-1"}, sections(headings)
    links = "[a](b.md#c) [d](#e) [f](b.md#g)"
    wrong = wrong_words(links, lambda path, link=False: True, set(), set(), lambda path, section: section == "c")
    assert wrong == ["section e of this page", "section g of b.md"], wrong
    code = '```cpp\nnumber("own", "AQUEDUCT_OWN"); [](int x) {}\n```\nAQUEDUCT_OWN AQUEDUCT_OTHER'
    assert wrong_words(code, lambda path, link=False: False, set(), set()) == ["setting AQUEDUCT_OTHER"]
    said = "- **M-1** One.\n- **M-2** Two.\n- **P-10** Ten.\n- **P-11** Eleven.\n"
    assert sentence_problems(said, "// M-1, M-2.\nTEST_P(A, P3_P10_Waits) {", {"P-11"}) == \
        ["the kit quotes P-3, which no document has"]
    assert sentence_problems(said, "TEST_P(A, M1_M2_Sees) {", {"M-2", "P-11", "P-12"}) == \
        ["no case of the kit quotes P-10"] + [f"UNTESTED has {n}, which the kit quotes or no document has" for n in ("M-2", "P-12")]


def main():
    what, *rest = sys.argv[1:] or ["?"]
    if what == "self-test":
        return self_test()
    if what == "words" and len(rest) == 1:
        return check_words(pathlib.Path(rest[0]))
    if what == "sentences" and len(rest) == 1:
        return check_sentences(pathlib.Path(rest[0]))
    if what == "settings" and len(rest) == 2:
        return check_settings(pathlib.Path(rest[0]), pathlib.Path(rest[1]))
    if what == "template" and len(rest) == 1:
        return check_template(pathlib.Path(rest[0]))
    if what == "layer" and len(rest) == 2:
        return check_layer(pathlib.Path(rest[0]), rest[1])
    if what == "readme" and len(rest) >= 3:
        return check_readme(pathlib.Path(rest[0]), pathlib.Path(rest[1]), rest[2], [flag for flag in rest[3:] if flag])
    sys.exit(__doc__)


if __name__ == "__main__":
    main()
