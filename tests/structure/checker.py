"""The command line that the checks of the source tree share."""

import pathlib
import sys


def run(doc, check, self_test):
    """Runs `check(root)`, which returns the violations as lines of text and the number of files read, or `self_test()`.

    Returns the exit status: 1 if there is a violation or nothing was read, 2 and `doc` if the arguments are wrong.
    """
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) != 2:
        print(doc)
        return 2
    found, files = check(pathlib.Path(sys.argv[1]).resolve())
    for line in found:
        print(line)
    print(f"{files} files, {len(found)} violations")
    return bool(found) or files == 0
