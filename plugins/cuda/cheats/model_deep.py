# task: softmax
# expect: unsupported or generation_failed
# cheat: Python that is as deep as it may be, so that the judge's stack ends
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

extension = load_inline("deep", "", "__global__ void deep() {}", ["deep"])


def f0(x):
    return int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(f1(x))))))))))))))))))))))))))))))))))))))))))))))))))))))))


def f1(x):
    return int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(f2(x))))))))))))))))))))))))))))))))))))))))))))))))))))))))


def f2(x):
    return int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(f3(x))))))))))))))))))))))))))))))))))))))))))))))))))))))))


def f3(x):
    return int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(f4(x))))))))))))))))))))))))))))))))))))))))))))))))))))))))


def f4(x):
    return int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(f5(x))))))))))))))))))))))))))))))))))))))))))))))))))))))))


def f5(x):
    return int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(f6(x))))))))))))))))))))))))))))))))))))))))))))))))))))))))


def f6(x):
    return int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(f7(x))))))))))))))))))))))))))))))))))))))))))))))))))))))))


def f7(x):
    return int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(f8(x))))))))))))))))))))))))))))))))))))))))))))))))))))))))


def f8(x):
    return int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(f9(x))))))))))))))))))))))))))))))))))))))))))))))))))))))))


def f9(x):
    return int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(int(x.size(0))))))))))))))))))))))))))))))))))))))))))))))))))))))))


class ModelNew(nn.Module):
    def forward(self, x):
        y = [[[[[[[[[[[[[[x for a0 in [0]][0] for a1 in [0]][0] for a2 in [0]][0] for a3 in [0]][0] for a4 in [0]][0] for a5 in [0]][0] for a6 in [0]][0] for a7 in [0]][0] for a8 in [0]][0] for a9 in [0]][0] for a10 in [0]][0] for a11 in [0]][0] for a12 in [0]][0] for a13 in [0]][0]
        return f0(y)
