import math

import torch
import torch.nn as nn


class Model(nn.Module):
    """Attention of several heads to what came before, with embedded tokens."""

    def __init__(self, tokens, width, heads):
        super().__init__()
        self.embedding = nn.Embedding(tokens, width)
        self.projection = nn.Linear(width, 3 * width)
        self.heads = heads

    def forward(self, tokens):
        x = self.embedding(tokens)
        n, length, width = x.shape
        q, k, v = self.projection(x).split(width, dim=2)
        q, k, v = (one.view(n, length, self.heads, -1).transpose(1, 2) for one in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(k.size(-1))
        later = torch.triu(torch.ones(length, length, dtype=torch.bool, device=x.device), diagonal=1)
        scores = scores.masked_fill(later, float("-inf"))
        return (torch.softmax(scores, dim=-1) @ v).transpose(1, 2).reshape(n, length, width)


batch, length = 8, 256
tokens, width, heads = 512, 64, 4


def get_inputs():
    return [torch.randint(0, tokens, (batch, length))]


def get_init_inputs():
    return [tokens, width, heads]
