"""More peers, as trainers write them with the usual libraries: FastAPI around Math-Verify, and FastAPI that runs each
program in a process of its own, as the light mode of SandboxFusion does. As in server.py nothing is kept or isolated.

    python -m uvicorn usual_servers:app --workers 2 --no-access-log
"""

import asyncio
import sys
import tempfile
from pathlib import Path

from pydantic import BaseModel
from server import REWARDS, Item, app

PIPE = asyncio.subprocess.PIPE


def math_verify(item: Item) -> float:
    """As its documentation says."""
    from math_verify import parse, verify

    return float(verify(parse(str(item.label)), parse(item.response)))


REWARDS["math_verify"] = math_verify


class Program(BaseModel):
    code: str
    language: str
    stdin: str = ""
    compile_timeout: float = 10
    run_timeout: float = 10


@app.post("/run_code")
async def run_code(program: Program) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "main.py"
        file.write_text(program.code)
        (Path(folder) / "stdin").write_text(program.stdin)
        with (Path(folder) / "stdin").open() as stdin:
            child = await asyncio.create_subprocess_exec(sys.executable, file, cwd=folder, stdin=stdin, stdout=PIPE, stderr=PIPE)
        try:
            said, complaints = await asyncio.wait_for(child.communicate(), program.run_timeout)
        except TimeoutError:
            child.kill()
            await child.wait()
            return {"status": "Failed", "run_result": {"status": "TimeLimitExceeded"}}
    return {"status": "Success", "run_result": {"status": "Finished", "return_code": child.returncode,
                                                "stdout": said.decode(), "stderr": complaints.decode()}}
