# task: softmax
# expect: unsupported or generation_failed
# cheat: library fall-back
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=1)
