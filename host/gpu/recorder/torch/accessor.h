// A tensor as kernels index it: by value, with its sizes and strides.
#pragma once

#include <cstddef>
#include <cstdint>

namespace at {

template <class T>
struct DefaultPtrTraits {
    using PtrType = T*;
};
template <class T>
struct RestrictPtrTraits {
    using PtrType = T* __restrict__;
};

// The rest of an accessor after its first indices.
template <class T, size_t N, template <class> class Traits, class Index>
class TensorAccessor {
public:
    __host__ __device__ TensorAccessor(typename Traits<T>::PtrType data, const Index* sizes, const Index* strides)
        : data_(data), sizes_(sizes), strides_(strides) {}
    __host__ __device__ decltype(auto) operator[](Index at) const {
        if constexpr (N == 1) {
            return (data_[at * strides_[0]]);
        } else {
            return TensorAccessor<T, N - 1, Traits, Index>(data_ + at * strides_[0], sizes_ + 1, strides_ + 1);
        }
    }
    __host__ __device__ Index size(int at) const { return sizes_[at]; }
    __host__ __device__ Index stride(int at) const { return strides_[at]; }
    __host__ __device__ typename Traits<T>::PtrType data() const { return data_; }

private:
    typename Traits<T>::PtrType data_;
    const Index* sizes_;
    const Index* strides_;
};

template <class T, size_t N, template <class> class Traits = DefaultPtrTraits, class Index = int64_t>
class GenericPackedTensorAccessor {
public:
    GenericPackedTensorAccessor(T* data, const int64_t* sizes, const int64_t* strides) : data_(data) {
        for (size_t at = 0; at < N; at++) {
            sizes_[at] = static_cast<Index>(sizes[at]);
            strides_[at] = static_cast<Index>(strides[at]);
        }
    }
    __host__ __device__ decltype(auto) operator[](Index at) const {
        return TensorAccessor<T, N, Traits, Index>(data_, sizes_, strides_)[at];
    }
    __host__ __device__ Index size(int at) const { return sizes_[at]; }
    __host__ __device__ Index stride(int at) const { return strides_[at]; }
    __host__ __device__ typename Traits<T>::PtrType data() const { return data_; }

private:
    typename Traits<T>::PtrType data_;
    Index sizes_[N];
    Index strides_[N];
};

template <class T, size_t N, template <class> class Traits = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, Traits, int32_t>;
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, Traits, int64_t>;
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits, class Index = int64_t>
using PackedTensorAccessor = GenericPackedTensorAccessor<T, N, Traits, Index>;

}  // namespace at
