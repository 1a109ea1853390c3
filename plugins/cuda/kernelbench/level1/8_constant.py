import torch
import torch.nn as nn


class Model(nn.Module):
    """Zero, whatever the inputs are: the mean of one number is that number."""

    def __init__(self, features):
        super().__init__()
        self.gemm = nn.Linear(features, features)

    def forward(self, x):
        most = torch.max(self.gemm(x), dim=1, keepdim=True).values
        return nn.functional.gelu(most - most.mean(dim=1, keepdim=True))


features = 64


def get_inputs():
    return [torch.rand(features, features)]


def get_init_inputs():
    return [features]
