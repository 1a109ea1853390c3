# Runs a checker of a DMOJ package: the function `check` of the file named first on the command line,
# its arguments as JSON second. Exit status 42: accepted, 43: wrong, also by an exception
# in `check` that an answer can cause; anything else: the checker failed.
import json
import os
import sys
import types

ACCEPTED, WRONG, FAILED = 42, 43, 3


class CheckerResult:
    def __init__(self, passed, points, feedback=None, extended_feedback=None):
        self.passed, self.points, self.feedback = passed, points, feedback


def utf8bytes(value):
    return value.encode("utf-8") if isinstance(value, str) else bytes(value)


def utf8text(value, errors="strict"):
    return value if isinstance(value, str) else bytes(value).decode("utf-8", errors)


# The modules that checkers import from the judge for which they were written.
MODULES = {
    "dmoj": {},
    "dmoj.result": {"CheckerResult": CheckerResult},
    "dmoj.utils": {},
    "dmoj.utils.unicode": {"utf8bytes": utf8bytes, "utf8text": utf8text},
}


def read(name):
    with open(name, "rb") as file:
        return file.read()


def main():
    for name, content in MODULES.items():
        module = types.ModuleType(name)
        module.__dict__.update(content)
        sys.modules[name] = module
    folder = os.path.dirname(os.path.abspath(__file__))
    source = read(os.path.join(folder, sys.argv[1]))
    space = {"__name__": "checker", "__file__": sys.argv[1]}
    exec(compile(source, sys.argv[1], "exec"), space)
    arguments = json.loads(sys.argv[2])
    output, answer, data = read("output"), read("answer"), read("input")
    check = space["check"]
    try:
        result = check(
            output,
            answer,
            judge_input=data,
            point_value=1.0,
            submission_source=b"",
            **arguments
        )
    except Exception as error:
        trace = error.__traceback__.tb_next
        sys.__excepthook__(type(error), error.with_traceback(trace), trace)
        sys.stderr.flush()
        end_if_unclear(error, trace)
        os._exit(WRONG if is_caused_by_answer(error, trace) else FAILED)
    passed = result.passed if isinstance(result, CheckerResult) else result
    if isinstance(result, CheckerResult) and result.feedback:
        sys.stderr.write(str(result.feedback))
        sys.stderr.flush()
    os._exit(ACCEPTED if passed else WRONG)


main()
