import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Convolutions and pools of every kind, one after the other."""

    def __init__(self, channels):
        super().__init__()
        self.grouped = nn.Conv2d(channels, channels, 3, stride=2, padding=2, dilation=2, groups=channels)
        self.norm = nn.BatchNorm2d(channels)
        self.wide = nn.ConvTranspose2d(channels, 4, (3, 5), stride=(2, 1), padding=1, output_padding=(1, 0))
        self.group_norm = nn.GroupNorm(2, 4)
        self.line = nn.Conv1d(4, 4, 3, padding=1)

    def forward(self, x):
        x = F.gelu(self.norm(self.grouped(x)))
        x = F.max_pool2d(self.wide(x), 3, stride=2, padding=1)
        x = F.avg_pool2d(F.mish(self.group_norm(x)), 2)
        x = F.hardtanh(self.line(x.flatten(2)))
        return torch.cat([x.cumsum(dim=2), x.flip(2), F.pad(x, (1, 0))], dim=2)


batch, channels, height, width = 16, 8, 64, 48


def get_inputs():
    return [torch.rand(batch, channels, height, width)]


def get_init_inputs():
    return [channels]
