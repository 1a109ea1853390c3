#include <torch/extension.h>

__global__ void relu(const float* x, float* y, int n) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < n) y[at] = fmaxf(x[at], 0.0f);
}

torch::Tensor forward(torch::Tensor x, int64_t k, bool twice) {
    auto y = torch::zeros(x.sizes(), x.options());
    for (int64_t turn = 0; turn < (twice ? 2 * k : k); turn++) {
        relu<<<x.size(0), x.size(1)>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
    }
    return y;
}
