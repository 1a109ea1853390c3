import torch
import torch.nn as nn


class Model(nn.Module):
    """A convolution, its bias, Swish, and the mean of each channel."""

    def __init__(self, channels, filters, window):
        super().__init__()
        self.conv = nn.Conv2d(channels, filters, window)
        self.scale = nn.Parameter(torch.randn(filters, 1, 1))

    def forward(self, x):
        x = self.conv(x)
        x = x * torch.sigmoid(x) * self.scale
        return x.mean(dim=(2, 3))


batch = 64
channels, filters = 16, 32
height = width = 96
window = 3


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [channels, filters, window]
