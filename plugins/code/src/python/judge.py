# Runs a judge's Python program as if it had been called itself. The command line begins with the status
# that means wrong in the judge's protocol, then the program's file. Python ends a program that failed with
# status 1, which is a judge's word in testlib's protocol: here a failure has a status that is no word in any
# protocol, and what an answer caused has the word for wrong.
import atexit
import os
import signal
import sys
import threading
import types

FAILED = 3
WRONG = int(sys.argv.pop(1))
# Nobody is left to talk with.
ALONE = (EOFError, BrokenPipeError)


def failed(kind, error, trace):
    try:
        # This file is no part of the program.
        while trace is not None and trace.tb_frame.f_code.co_filename == failed.__code__.co_filename:
            trace = trace.tb_next
        error.__traceback__ = trace
        sys.__excepthook__(kind, error, trace)
        sys.stderr.flush()
        if issubclass(kind, ALONE):
            end_alone()
        end_if_unclear(error, trace)
    finally:
        os._exit(WRONG if is_caused_by_answer(error, trace) else FAILED)


def failed_in_thread(args):
    # As in Python itself: a thread that exits ends nothing but itself.
    if args.exc_type is SystemExit:
        return
    # One in the background may only read on after a whole dialogue, of which the main thread knows.
    if issubclass(args.exc_type, ALONE) and args.thread.daemon:
        return
    failed(args.exc_type, args.exc_value, args.exc_traceback)


def end_alone():
    """Ends as a program in C does that nobody is left to talk with."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGPIPE)
    # Python lets no other thread choose what a signal does; the answer is wrong either way.
    os._exit(WRONG)


def flush():
    """Writes what is left; that nobody reads it must not change the status."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def main():
    sys.excepthook = failed
    threading.excepthook = failed_in_thread
    atexit.register(flush)
    folder = os.path.dirname(os.path.abspath(__file__))
    del sys.argv[0]
    path = os.path.join(folder, sys.argv[0])
    with open(path, "rb") as file:
        source = file.read()
    module = sys.modules["__main__"] = types.ModuleType("__main__")
    module.__file__ = path
    exec(compile(source, path, "exec"), module.__dict__)


main()
