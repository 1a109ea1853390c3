#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_fp16.h>
#include <vector>

#define CHECK_CUDA(x) TORCH_CHECK(x.device().is_cuda(), #x " must be a CUDA tensor")
#define CHECK_INPUT(x) \
    CHECK_CUDA(x);     \
    TORCH_CHECK(x.is_contiguous(), #x " must be contiguous")

namespace {

template <typename scalar_t>
__global__ void scale(const scalar_t* __restrict__ x, scalar_t* __restrict__ y, size_t n, float by) {
    const size_t at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < n) y[at] = x[at] * static_cast<scalar_t>(by) + scalar_t(1);
}

template <typename scalar_t>
__global__ void increment(torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> table) {
    table[blockIdx.x][threadIdx.x] += scalar_t(1.0f);
}

}  // namespace

torch::Tensor scaled(torch::Tensor x, double by) {
    CHECK_INPUT(x);
    const at::cuda::OptionalCUDAGuard guard(x.device());
    auto y = torch::empty_like(x);
    const int threads = 256;
    const int blocks = (x.numel() + threads - 1) / threads;
    AT_DISPATCH_FLOATING_TYPES_AND2(
        at::ScalarType::Half, at::ScalarType::BFloat16, x.scalar_type(), "scaled", ([&] {
            scale<scalar_t><<<blocks, threads, 0, at::cuda::getCurrentCUDAStream()>>>(
                x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), x.numel(), static_cast<float>(by));
        }));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}

std::vector<torch::Tensor> views(const torch::Tensor& x, c10::optional<torch::Tensor> bias) {
    TORCH_CHECK(x.dim() == 2, "x must have 2 dimensions, got ", x.dim());
    TORCH_CHECK(bias.has_value() && bias->sizes() == torch::IntArrayRef({x.size(1)}), "bias does not fit");
    auto zeros = torch::zeros({x.size(0), 4}, x.options());
    increment<float><<<x.size(0), 4>>>(zeros.packed_accessor32<float, 2, torch::RestrictPtrTraits>());
    auto other = torch::empty({2, 3}, torch::TensorOptions().dtype(torch::kInt64).device(torch::kCUDA));
    return {x.view({-1}), zeros[1].unsqueeze(0), other, x.flatten().reshape({x.size(1), x.size(0)}), zeros.clone()};
}

std::vector<torch::Tensor> given(const std::vector<int64_t>& sizes, std::vector<torch::Tensor> parts,
                                 const c10::optional<torch::Tensor>& bias, torch::Tensor mask,
                                 torch::IntArrayRef window) {
    TORCH_CHECK(!bias.has_value() && !mask.defined() && window.size() == sizes.size(), "something is given");
    parts.push_back(torch::zeros(sizes, parts[0].options()));
    return parts;
}

void in_place(torch::Tensor x) {
    {
        auto first = at::empty({100}, x.options());
        x.copy_(first.view_as(x));
    }
    auto second = torch::zeros_like(x);
    x.copy_(second);
}

torch::Tensor wrong_type(torch::Tensor x) {
    x.data_ptr<double>();
    return x;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.doc() = "a module";
    m.def("forward", &scaled, "scales (CUDA)", py::arg("x"), py::arg("by") = 2.0);
    m.def("views", &views);
    m.def("given", &given);
    m.def("in_place", in_place);
    m.def("wrong_type", &wrong_type);
    m.def("both", [](torch::Tensor x, int64_t k) { return std::make_tuple(scaled(x, k), x); });
}
