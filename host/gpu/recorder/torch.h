// A stand-in for PyTorch's C++ headers: what extensions with kernels of their own need of it, over
// tensors that have no data. Everything else of PyTorch is missing, so that the compiler names it.
#pragma once

#include <algorithm>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <unordered_map>

#include <cuda.h>

#include "torch/module.h"
#include "torch/stream.h"

namespace torch {
using namespace at;
using c10::device;
using c10::dtype;
namespace cuda = at::cuda;
}  // namespace torch

namespace py = pybind11;
