# Tells which exceptions of a judge's program are a word about the answer, since answers can cause them:
# otherwise a bad answer would escape its verdict. Any other is a failure of the judge. This file stands
# before `judge.py` and `dmoj_checker.py`.
import os
import signal

CAUSED_BY_ANSWERS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    LookupError,
    RecursionError,
    StopIteration,
    SyntaxError,
    TypeError,
    UnboundLocalError,
    ValueError,
)


def is_caused_by_answer(error, trace):
    """The trace begins in the judge's own code: None if the error came before it, as from compiling it."""
    if trace is None or not isinstance(error, CAUSED_BY_ANSWERS):
        return False
    # A text that the judge evaluates is no such file.
    return not (isinstance(error, SyntaxError) and str(error.filename).endswith(".py"))


def end_by(number):
    """Ends as a program in C does that this signal ends."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def end_if_out_of_memory(error):
    """An output may be why: the judge is then tried on the expected one, like any that is ended by a signal."""
    if isinstance(error, MemoryError):
        end_by(signal.SIGABRT)


