"""CUDA: compiled in boxes that need no GPU (`gpu.compiler`), run on a worker's own GPU or its simulation
(`gpu.device`): the capability `assay:gpu`, whose interface file says what each thing is.

    try:
        artifact = compiler.compile(request)
    except HostError as error:
        # The platform's faults leave from here, so that the host tries again.
        problem = compiler.fault(error)
        return Scored(0.0, "compile_failed", explanation=str(problem))

Importing one of the two is asking for it. Only a component has a host to call: natively their functions
raise `NotImplementedError`.
"""

from __future__ import annotations
