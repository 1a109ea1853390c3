import torch
import torch.nn as nn


class Model(nn.Module):
    """Numbers that are smaller than KernelBench's tolerance: with it, zeros would be right."""

    def forward(self, x):
        return torch.softmax(x, dim=1) / x.shape[1]


rows = 64
cols = 512


def get_inputs():
    return [torch.randn(rows, cols)]


def get_init_inputs():
    return []
