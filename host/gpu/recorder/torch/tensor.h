// Tensors without data: always contiguous, always on the device. A call that would need a kernel of PyTorch's
// own is not here, and so ends as an error of the compiler that names it.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "accessor.h"
#include "options.h"

namespace assay {

// Memory that is given back with the last tensor in it, unless it is the caller's.
struct Storage {
    char* address;
    bool own;
    Storage(void* address, bool own) : address(static_cast<char*>(address)), own(own) {}
    Storage(const Storage&) = delete;
    Storage& operator=(const Storage&) = delete;
    ~Storage() {
        if (own && address) release(address);
    }
};

// The number of elements, or of bytes where it begins with those of one element.
inline int64_t count_of(c10::IntArrayRef shape, int64_t begin = 1) {
    int64_t count = begin;
    for (int64_t size : shape) {
        TORCH_CHECK(size >= 0, "Trying to create tensor with negative dimension ", size);
        TORCH_CHECK(!__builtin_mul_overflow(count, size, &count), "a tensor that is too large");
    }
    return count;
}

}  // namespace assay

namespace at {

using namespace c10;

// The result of the former `tensor.type()`.
struct DeprecatedTypeProperties {
    ScalarType type;
    ScalarType scalarType() const { return type; }
    bool is_cuda() const { return true; }
    operator ScalarType() const { return type; }
};

class Tensor {
public:
    Tensor() = default;
    // `offset` in bytes.
    Tensor(std::shared_ptr<assay::Storage> storage, int64_t offset, ScalarType dtype, std::vector<int64_t> shape)
        : storage_(std::move(storage)),
          offset_(offset),
          dtype_(dtype),
          sizes_(std::move(shape)),
          strides_(sizes_.size()),
          numel_(assay::count_of(sizes_)) {
        int64_t stride = 1;
        for (size_t at = sizes_.size(); at-- > 0;) {
            strides_[at] = stride;
            stride *= sizes_[at] > 0 ? sizes_[at] : 1;
        }
    }

    bool defined() const { return storage_ != nullptr; }
    int64_t dim() const { return static_cast<int64_t>(sizes_.size()); }
    int64_t ndimension() const { return dim(); }
    int64_t numel() const { return numel_; }
    int64_t size(int64_t at) const { return sizes_[wrap(at, dim())]; }
    int64_t stride(int64_t at) const { return strides_[wrap(at, dim())]; }
    IntArrayRef sizes() const { return sizes_; }
    IntArrayRef strides() const { return strides_; }
    int64_t element_size() const { return static_cast<int64_t>(elementSize(dtype_)); }
    int64_t itemsize() const { return element_size(); }
    int64_t nbytes() const { return numel_ * element_size(); }
    int64_t storage_offset() const { return offset_ / element_size(); }
    ScalarType scalar_type() const { return dtype_; }
    ScalarType dtype() const { return dtype_; }
    DeprecatedTypeProperties type() const { return {dtype_}; }
    Device device() const { return Device(kCUDA, 0); }
    int64_t get_device() const { return 0; }
    TensorOptions options() const { return TensorOptions(dtype_).device(device()); }
    bool is_cuda() const { return true; }
    bool is_cpu() const { return false; }
    bool is_contiguous() const { return true; }
    bool is_floating_point() const { return isFloatingType(dtype_); }
    bool requires_grad() const { return false; }

    void* data_ptr() const { return storage_ && storage_->address ? storage_->address + offset_ : nullptr; }
    const void* const_data_ptr() const { return data_ptr(); }
    void* mutable_data_ptr() const { return data_ptr(); }
    template <class T>
    T* data_ptr() const {
        constexpr ScalarType wanted = CppTypeToScalarType<std::remove_const_t<T>>::value;
        TORCH_CHECK(dtype_ == wanted, "expected scalar type ", wanted, " but found ", dtype_);
        return static_cast<T*>(data_ptr());
    }
    template <class T>
    T* mutable_data_ptr() const {
        return data_ptr<T>();
    }
    template <class T>
    const T* const_data_ptr() const {
        return data_ptr<std::remove_const_t<T>>();
    }
    template <class T>
    T* data() const {
        return data_ptr<T>();
    }

    Tensor contiguous() const { return *this; }
    Tensor detach() const { return *this; }
    Tensor cuda() const { return *this; }
    Tensor to(ScalarType type) const { return to(options().dtype(type)); }
    Tensor to(Device device) const { return to(options().device(device)); }
    Tensor to(DeviceType type) const { return to(Device(type)); }
    Tensor to(const TensorOptions& options) const {
        if (!options.device().is_cuda()) assay::unsupported("a tensor on the host");
        if (options.dtype() != dtype_) assay::unsupported("Tensor::to another type");
        return *this;
    }

    Tensor view(IntArrayRef shape) const {
        std::vector<int64_t> wanted = shape.vec();
        int64_t* open = nullptr;
        for (int64_t& size : wanted) {
            if (size != -1) continue;
            TORCH_CHECK(!open, "only one dimension can be inferred");
            open = &size;
            size = 1;
        }
        const int64_t known = assay::count_of(wanted);
        if (open) *open = known > 0 ? numel_ / known : 0;
        TORCH_CHECK(assay::count_of(wanted) == numel_, "shape '", shape, "' is invalid for input of size ", numel_);
        return Tensor(storage_, offset_, dtype_, std::move(wanted));
    }
    Tensor reshape(IntArrayRef shape) const { return view(shape); }
    Tensor view_as(const Tensor& other) const { return view(other.sizes()); }
    Tensor flatten(int64_t first = 0, int64_t last = -1) const {
        if (dim() == 0) return view({1});
        const int64_t from = wrap(first, dim()), to = wrap(last, dim());
        TORCH_CHECK(from <= to, "flatten() has invalid args: start_dim cannot come after end_dim");
        std::vector<int64_t> shape(sizes_.begin(), sizes_.begin() + from);
        shape.push_back(assay::count_of(IntArrayRef(&sizes_[from], to - from + 1)));
        shape.insert(shape.end(), sizes_.begin() + to + 1, sizes_.end());
        return view(shape);
    }
    Tensor squeeze() const {
        std::vector<int64_t> shape;
        for (int64_t size : sizes_) {
            if (size != 1) shape.push_back(size);
        }
        return view(shape);
    }
    Tensor squeeze(int64_t at) const {
        std::vector<int64_t> shape = sizes_;
        const int64_t place = wrap(at, dim());
        if (shape[place] == 1) shape.erase(shape.begin() + place);
        return view(shape);
    }
    Tensor unsqueeze(int64_t at) const {
        std::vector<int64_t> shape = sizes_;
        shape.insert(shape.begin() + wrap(at, dim() + 1), 1);
        return view(shape);
    }
    // A slice of the first dimension alone: the rest is contiguous.
    Tensor operator[](int64_t at) const {
        TORCH_CHECK(dim() > 0, "a tensor of no dimensions has no parts");
        const int64_t place = wrap(at, sizes_[0]);
        return Tensor(storage_, offset_ + place * strides_[0] * element_size(), dtype_,
                      std::vector<int64_t>(sizes_.begin() + 1, sizes_.end()));
    }
    Tensor select(int64_t dimension, int64_t at) const {
        if (wrap(dimension, dim()) != 0) assay::unsupported("Tensor::select of an inner dimension");
        return (*this)[at];
    }

    const Tensor& zero_() const {
        assay::set_bytes(data_ptr(), 0, static_cast<uint64_t>(nbytes()));
        return *this;
    }
    const Tensor& copy_(const Tensor& from) const {
        TORCH_CHECK(from.sizes() == sizes(), "copy_ of a tensor of another shape");
        if (from.dtype_ != dtype_) assay::unsupported("Tensor::copy_ from another type");
        assay::copy_bytes(data_ptr(), from.data_ptr(), static_cast<uint64_t>(nbytes()));
        return *this;
    }
    Tensor clone() const;
    Tensor new_empty(IntArrayRef shape) const;
    Tensor new_zeros(IntArrayRef shape) const;

    template <class T, size_t N, template <class> class Traits = DefaultPtrTraits, class Index = int64_t>
    GenericPackedTensorAccessor<T, N, Traits, Index> generic_packed_accessor() const {
        TORCH_CHECK(dim() == static_cast<int64_t>(N), "expected ", N, " dims but tensor has ", dim());
        return {data_ptr<T>(), sizes_.data(), strides_.data()};
    }
    template <class T, size_t N, template <class> class Traits = DefaultPtrTraits>
    PackedTensorAccessor32<T, N, Traits> packed_accessor32() const {
        return generic_packed_accessor<T, N, Traits, int32_t>();
    }
    template <class T, size_t N, template <class> class Traits = DefaultPtrTraits>
    PackedTensorAccessor64<T, N, Traits> packed_accessor64() const {
        return generic_packed_accessor<T, N, Traits, int64_t>();
    }

private:
    static int64_t wrap(int64_t at, int64_t size) {
        TORCH_CHECK(at >= -size && at < size, "Dimension out of range (", at, " of ", size, ")");
        return at < 0 ? at + size : at;
    }

    std::shared_ptr<assay::Storage> storage_;
    int64_t offset_ = 0;
    ScalarType dtype_ = kFloat;
    std::vector<int64_t> sizes_;
    std::vector<int64_t> strides_;
    int64_t numel_ = 0;
};

inline Tensor empty(IntArrayRef shape, const TensorOptions& options = {}) {
    if (!options.device().is_cuda()) assay::unsupported("a tensor on the host");
    const int64_t bytes = assay::count_of(shape, static_cast<int64_t>(elementSize(options.dtype())));
    void* address = bytes ? assay::allocate(static_cast<uint64_t>(bytes)) : nullptr;
    TORCH_CHECK(address || !bytes, "CUDA out of memory");
    return Tensor(std::make_shared<assay::Storage>(address, true), 0, options.dtype(), shape.vec());
}

inline Tensor zeros(IntArrayRef shape, const TensorOptions& options = {}) { return empty(shape, options).zero_(); }

inline Tensor empty_like(const Tensor& other) { return empty(other.sizes(), other.options()); }
inline Tensor empty_like(const Tensor& other, const TensorOptions& options) { return empty(other.sizes(), options); }
inline Tensor zeros_like(const Tensor& other) { return zeros(other.sizes(), other.options()); }
inline Tensor zeros_like(const Tensor& other, const TensorOptions& options) { return zeros(other.sizes(), options); }

inline Tensor Tensor::clone() const { return empty_like(*this).copy_(*this); }
inline Tensor Tensor::new_empty(IntArrayRef shape) const { return empty(shape, options()); }
inline Tensor Tensor::new_zeros(IntArrayRef shape) const { return zeros(shape, options()); }

}  // namespace at
