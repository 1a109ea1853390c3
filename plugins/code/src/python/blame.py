# Tells which exceptions of a judge's program are a word about the answer, since answers can cause them:
# otherwise a bad answer would escape its verdict. Some can only be a failure of the judge, and the rest
# may be either. This file stands before `judge.py` and `dmoj_checker.py`.
import os

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

CAUSED_BY_JUDGES = (ImportError, NameError, OSError)


def is_caused_by_answer(error, trace):
    """The trace begins in the judge's own code: None if the error came before it, as from compiling it."""
    if trace is None or not isinstance(error, CAUSED_BY_ANSWERS):
        return False
    # A text that the judge evaluates is no such file.
    return not (isinstance(error, SyntaxError) and str(error.filename).endswith(".py"))


def end_if_unclear(error, trace):
    """Any other exception may be due to the output: the judge is then tried on the expected one, like any
    that is ended by a signal."""
    if trace is not None and not isinstance(error, CAUSED_BY_ANSWERS + CAUSED_BY_JUDGES):
        os.abort()


