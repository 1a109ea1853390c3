// Where tensors are and what they are made of; lists of numbers.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "check.h"

namespace c10 {

using std::nullopt;
using std::nullopt_t;
using std::optional;

// Numbers that somebody else keeps.
template <class T>
class ArrayRef {
public:
    ArrayRef() = default;
    ArrayRef(const T& one) : data_(&one), size_(1) {}
    ArrayRef(const T* data, size_t size) : data_(data), size_(size) {}
    ArrayRef(const std::vector<T>& list) : data_(list.data()), size_(list.size()) {}
    ArrayRef(const std::initializer_list<T>& list) : data_(list.begin()), size_(list.size()) {}

    const T* begin() const { return data_; }
    const T* end() const { return data_ + size_; }
    const T* data() const { return data_; }
    size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    const T& front() const { return at(0); }
    const T& back() const { return at(size_ - 1); }
    const T& operator[](size_t at) const { return data_[at]; }
    const T& at(size_t at) const {
        TORCH_CHECK(at < size_, "ArrayRef: invalid index ", at);
        return data_[at];
    }
    std::vector<T> vec() const { return std::vector<T>(begin(), end()); }
    bool equals(ArrayRef other) const { return vec() == other.vec(); }
    friend bool operator==(ArrayRef a, ArrayRef b) { return a.equals(b); }
    friend bool operator!=(ArrayRef a, ArrayRef b) { return !a.equals(b); }

private:
    const T* data_ = nullptr;
    size_t size_ = 0;
};
using IntArrayRef = ArrayRef<int64_t>;

template <class Stream, class T>
Stream& operator<<(Stream& stream, ArrayRef<T> list) {
    stream << "[";
    for (size_t at = 0; at < list.size(); at++) stream << (at ? ", " : "") << list[at];
    stream << "]";
    return stream;
}

enum class DeviceType : int8_t { CPU = 0, CUDA = 1 };
constexpr DeviceType kCPU = DeviceType::CPU;
constexpr DeviceType kCUDA = DeviceType::CUDA;
using DeviceIndex = int8_t;

struct Device {
    Device(DeviceType type, DeviceIndex index = -1) : type_(type), index_(index) {}
    DeviceType type() const { return type_; }
    DeviceIndex index() const { return index_; }
    bool is_cuda() const { return type_ == kCUDA; }
    bool is_cpu() const { return type_ == kCPU; }
    bool operator==(const Device& other) const { return type_ == other.type_ && index_ == other.index_; }
    bool operator!=(const Device& other) const { return !(*this == other); }

private:
    DeviceType type_;
    DeviceIndex index_;
};

template <class Stream>
Stream& operator<<(Stream& stream, const Device& device) {
    stream << (device.is_cuda() ? "cuda:0" : "cpu");
    return stream;
}

class TensorOptions {
public:
    TensorOptions() = default;
    TensorOptions(ScalarType type) : dtype_(type) {}
    TensorOptions(Device device) : device_(device) {}
    TensorOptions(DeviceType type) : device_(type) {}

    TensorOptions dtype(ScalarType type) const {
        TensorOptions changed = *this;
        changed.dtype_ = type;
        return changed;
    }
    TensorOptions device(Device device) const {
        TensorOptions changed = *this;
        changed.device_ = device;
        return changed;
    }
    TensorOptions device(DeviceType type, DeviceIndex index) const { return device(Device(type, index)); }
    TensorOptions requires_grad(bool) const { return *this; }

    ScalarType dtype() const { return dtype_; }
    Device device() const { return device_; }

private:
    ScalarType dtype_ = kFloat;
    Device device_ = Device(kCPU);
};

inline TensorOptions dtype(ScalarType type) { return TensorOptions(type); }
inline TensorOptions device(Device device) { return TensorOptions(device); }

}  // namespace c10
