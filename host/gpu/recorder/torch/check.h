// Checks, which throw what becomes the end of the recording, and the choice of a type by a tensor's.
#pragma once

#include <cuda_runtime.h>

#include <sstream>
#include <stdexcept>
#include <string>

#include "scalar.h"

namespace c10 {

class Error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

template <class... Parts>
std::string str(const Parts&... parts) {
    std::ostringstream text;
    (void)(text << ... << parts);
    return text.str();
}

}  // namespace c10

namespace assay {

template <class... Parts>
[[noreturn]] void throw_error(const char* condition, const Parts&... parts) {
    if constexpr (sizeof...(parts) == 0) {
        throw c10::Error(c10::str("Expected ", condition, " to be true, but got false."));
    } else {
        throw c10::Error(c10::str(parts...));
    }
}

inline void check_status(cudaError_t status) {
    if (status != cudaSuccess) throw c10::Error(c10::str("CUDA error: ", cudaGetErrorString(status)));
}

}  // namespace assay

#define TORCH_CHECK(condition, ...)                                        \
    do {                                                                   \
        if (!(condition)) ::assay::throw_error(#condition, ##__VA_ARGS__); \
    } while (false)
#define TORCH_INTERNAL_ASSERT(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)
#define TORCH_CHECK_VALUE(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)
#define TORCH_CHECK_TYPE(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)
#define TORCH_CHECK_EQ(a, b) TORCH_CHECK((a) == (b))
#define TORCH_CHECK_NE(a, b) TORCH_CHECK((a) != (b))
#define TORCH_CHECK_GE(a, b) TORCH_CHECK((a) >= (b))
#define TORCH_CHECK_GT(a, b) TORCH_CHECK((a) > (b))
#define TORCH_CHECK_LE(a, b) TORCH_CHECK((a) <= (b))
#define TORCH_CHECK_LT(a, b) TORCH_CHECK((a) < (b))
#define AT_ASSERTM(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)
#define AT_ASSERT(condition, ...) TORCH_CHECK(condition, ##__VA_ARGS__)
#define AT_ERROR(...) ::assay::throw_error("false", ##__VA_ARGS__)
#define TORCH_WARN(...) \
    do {                \
    } while (false)

#define C10_CUDA_CHECK(expression) ::assay::check_status(expression)
#define AT_CUDA_CHECK(expression) ::assay::check_status(expression)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() ::assay::check_status(cudaGetLastError())

#define AT_DISPATCH_CASE(enum_type, ...)                                        \
    case enum_type: {                                                           \
        using scalar_t [[maybe_unused]] = c10::ScalarTypeToCPPTypeT<enum_type>; \
        return __VA_ARGS__();                                                   \
    }
#define AT_DISPATCH_SWITCH(type, name, ...)                                                        \
    [&] {                                                                                          \
        const c10::ScalarType assay_type = type;                                                   \
        switch (assay_type) {                                                                      \
            __VA_ARGS__                                                                            \
            default:                                                                               \
                ::assay::throw_error("", "\"", name, "\" not implemented for '", assay_type, "'"); \
        }                                                                                          \
    }()

#define ASSAY_FLOATING(...)                                \
    AT_DISPATCH_CASE(c10::ScalarType::Double, __VA_ARGS__) \
    AT_DISPATCH_CASE(c10::ScalarType::Float, __VA_ARGS__)
#define ASSAY_INTEGRAL(...)                              \
    AT_DISPATCH_CASE(c10::ScalarType::Byte, __VA_ARGS__) \
    AT_DISPATCH_CASE(c10::ScalarType::Char, __VA_ARGS__) \
    AT_DISPATCH_CASE(c10::ScalarType::Int, __VA_ARGS__)  \
    AT_DISPATCH_CASE(c10::ScalarType::Long, __VA_ARGS__) \
    AT_DISPATCH_CASE(c10::ScalarType::Short, __VA_ARGS__)

#define AT_DISPATCH_FLOATING_TYPES(type, name, ...) AT_DISPATCH_SWITCH(type, name, ASSAY_FLOATING(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(type, name, ...) \
    AT_DISPATCH_FLOATING_TYPES_AND(c10::ScalarType::Half, type, name, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND(one, type, name, ...) \
    AT_DISPATCH_SWITCH(type, name, ASSAY_FLOATING(__VA_ARGS__) AT_DISPATCH_CASE(one, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND2(one, two, type, name, ...) \
    AT_DISPATCH_SWITCH(                                            \
        type, name,                                                \
        ASSAY_FLOATING(__VA_ARGS__) AT_DISPATCH_CASE(one, __VA_ARGS__) AT_DISPATCH_CASE(two, __VA_ARGS__))
#define AT_DISPATCH_REDUCED_FLOATING_TYPES(type, name, ...)                     \
    AT_DISPATCH_SWITCH(type, name,                                              \
                       AT_DISPATCH_CASE(c10::ScalarType::Half, __VA_ARGS__)     \
                       AT_DISPATCH_CASE(c10::ScalarType::BFloat16, __VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES(type, name, ...) AT_DISPATCH_SWITCH(type, name, ASSAY_INTEGRAL(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES(type, name, ...) \
    AT_DISPATCH_SWITCH(type, name, ASSAY_FLOATING(__VA_ARGS__) ASSAY_INTEGRAL(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND(one, type, name, ...) \
    AT_DISPATCH_SWITCH(                                 \
        type, name,                                     \
        ASSAY_FLOATING(__VA_ARGS__) ASSAY_INTEGRAL(__VA_ARGS__) AT_DISPATCH_CASE(one, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND2(one, two, type, name, ...)                                \
    AT_DISPATCH_SWITCH(                                                                      \
        type, name,                                                                          \
        ASSAY_FLOATING(__VA_ARGS__) ASSAY_INTEGRAL(__VA_ARGS__)                              \
        AT_DISPATCH_CASE(one, __VA_ARGS__) AT_DISPATCH_CASE(two, __VA_ARGS__))
