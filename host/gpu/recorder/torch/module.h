// How tensors go into a registered function and come out of it, and a module that names functions.
#pragma once

#include <array>
#include <string>

#include "../entry.h"
#include "tensor.h"

namespace assay {

template <>
struct Take<at::Tensor> {
    static at::Tensor take(const Call& call, int at) {
        const Value& value = call.values[at];
        if (value.kind == Kind::absent) return at::Tensor();
        if (value.kind != Kind::tensor) {
            mismatch("parameter %d of `%s` is a tensor, and %s is given", at + 1, call.entry, name_of(value.kind));
        }
        return at::Tensor(std::make_shared<Storage>(value.address, false), 0, scalar_of(value.dtype),
                          std::vector<int64_t>(value.shape, value.shape + value.dims));
    }
};

template <class T>
struct Take<std::optional<T>> {
    static std::optional<T> take(const Call& call, int at) {
        if (call.values[at].kind == Kind::absent) return std::nullopt;
        return Take<T>::take(call, at);
    }
};

template <class T>
struct Take<std::vector<T>> {
    static std::vector<T> take(const Call& call, int at) {
        const Value& value = call.values[at];
        if (value.kind != Kind::list) {
            mismatch("parameter %d of `%s` is a list, and %s is given", at + 1, call.entry, name_of(value.kind));
        }
        std::vector<T> taken;
        const Call items{call.entry, value.items, value.item_count};
        for (int item = 0; item < items.count; item++) taken.push_back(Take<T>::take(items, item));
        return taken;
    }
};

// What it refers to is never given back: the process makes one call.
template <class T>
struct Take<c10::ArrayRef<T>> {
    static c10::ArrayRef<T> take(const Call& call, int at) {
        return *new std::vector<T>(Take<std::vector<T>>::take(call, at));
    }
};

template <>
struct Give<at::Tensor> {
    static void give(const at::Tensor& tensor) {
        if (!tensor.defined()) unsupported("it returns a tensor that is not defined");
        add_returned(tensor.data_ptr(), dtype_of(tensor.scalar_type()), static_cast<int>(tensor.dim()),
                     tensor.sizes().data());
    }
};

template <class T>
struct Give<std::vector<T>> {
    static void give(const std::vector<T>& list) {
        for (const T& one : list) Give<T>::give(one);
    }
};

template <class T, std::size_t N>
struct Give<std::array<T, N>> {
    static void give(const std::array<T, N>& list) {
        for (const T& one : list) Give<T>::give(one);
    }
};

template <class... T>
struct Give<std::tuple<T...>> {
    static void give(const std::tuple<T...>& list) {
        std::apply([](const T&... each) { (Give<T>::give(each), ...); }, list);
    }
};

template <class A, class B>
struct Give<std::pair<A, B>> {
    static void give(const std::pair<A, B>& both) {
        Give<A>::give(both.first);
        Give<B>::give(both.second);
    }
};

}  // namespace assay

namespace pybind11 {

// Names and defaults of parameters, which a call by position does without.
struct arg {
    explicit arg(const char*) {}
    template <class T>
    arg& operator=(T&&) {
        return *this;
    }
};

inline namespace literals {
inline arg operator""_a(const char* name, size_t) { return arg(name); }
}  // namespace literals

class module_ {
public:
    template <class R, class... A, class... Extra>
    module_& def(const char* name, R (*function)(A...), const Extra&...) {
        assay::add_function(name, function);
        return *this;
    }
    template <class F, class... Extra, class = decltype(&F::operator())>
    module_& def(const char* name, const F& callable, const Extra&...) {
        assay::add_callable(name, callable, &F::operator());
        return *this;
    }
    std::string& doc() { return doc_; }

private:
    std::string doc_;
};
using module = module_;

}  // namespace pybind11

namespace assay {

struct Module {
    explicit Module(void (*fill)(pybind11::module_&)) {
        pybind11::module_ module;
        fill(module);
    }
};

}  // namespace assay

#ifndef TORCH_EXTENSION_NAME
#define TORCH_EXTENSION_NAME extension
#endif

#define PYBIND11_MODULE(name, variable)                         \
    static void assay_fill_module(pybind11::module_& variable); \
    static const assay::Module assay_module(assay_fill_module); \
    static void assay_fill_module(pybind11::module_& variable)

#define TORCH_LIBRARY(...) static_assert(false, "assay: unsupported: TORCH_LIBRARY")
#define TORCH_LIBRARY_IMPL(...) static_assert(false, "assay: unsupported: TORCH_LIBRARY_IMPL")
#define TORCH_LIBRARY_FRAGMENT(...) static_assert(false, "assay: unsupported: TORCH_LIBRARY_FRAGMENT")
