# task: softmax
# expect: unsupported or generation_failed
# cheat: another language
import triton
import triton.language as tl


@triton.jit
def softmax(x_ptr, y_ptr, rows, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + at, mask=at < cols, other=-float("inf"))
    power = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * cols + at, power / tl.sum(power, axis=0), mask=at < cols)
