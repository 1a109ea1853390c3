// Types of elements: their names in PyTorch, and the two halves as types of C++.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstddef>
#include <cstdint>

#include "../record.h"

#define ASSAY_BOTH __host__ __device__ __forceinline__

// A float of 16 bits that computes in 32; `bits` is CUDA's type for it.
#define ASSAY_HALF(name, bits, from_float, to_float)                                                      \
    struct alignas(2) name {                                                                              \
        unsigned short x;                                                                                 \
        name() = default;                                                                                 \
        ASSAY_BOTH name(float value) : name(from_float(value)) {}                                         \
        ASSAY_BOTH name(const bits& value) : x(reinterpret_cast<const unsigned short&>(value)) {}         \
        ASSAY_BOTH operator float() const { return to_float(reinterpret_cast<const bits&>(*this)); }      \
        ASSAY_BOTH operator bits() const { return reinterpret_cast<const bits&>(*this); }                 \
        ASSAY_BOTH name& operator+=(float other) { return *this = name(float(*this) + other); }           \
        ASSAY_BOTH name& operator-=(float other) { return *this = name(float(*this) - other); }           \
        ASSAY_BOTH name& operator*=(float other) { return *this = name(float(*this) * other); }           \
        ASSAY_BOTH name& operator/=(float other) { return *this = name(float(*this) / other); }           \
    };                                                                                                    \
    ASSAY_HALF_OPERATOR(name, +)                                                                          \
    ASSAY_HALF_OPERATOR(name, -)                                                                          \
    ASSAY_HALF_OPERATOR(name, *)                                                                          \
    ASSAY_HALF_OPERATOR(name, /)                                                                          \
    ASSAY_HALF_COMPARISON(name, <)                                                                        \
    ASSAY_HALF_COMPARISON(name, <=)                                                                       \
    ASSAY_HALF_COMPARISON(name, >)                                                                        \
    ASSAY_HALF_COMPARISON(name, >=)                                                                       \
    ASSAY_HALF_COMPARISON(name, ==)                                                                       \
    ASSAY_HALF_COMPARISON(name, !=)                                                                       \
    ASSAY_BOTH name operator-(name value) { return name(-float(value)); }

// Two halves give a half, a half and a wider number give the wider one, as in PyTorch.
#define ASSAY_HALF_OPERATOR(name, sign)                                                       \
    ASSAY_BOTH name operator sign(name a, name b) { return name(float(a) sign float(b)); }    \
    ASSAY_BOTH float operator sign(name a, float b) { return float(a) sign b; }               \
    ASSAY_BOTH float operator sign(float a, name b) { return a sign float(b); }               \
    ASSAY_BOTH double operator sign(name a, double b) { return float(a) sign b; }             \
    ASSAY_BOTH double operator sign(double a, name b) { return a sign float(b); }             \
    ASSAY_BOTH name operator sign(name a, int b) { return name(float(a) sign float(b)); }     \
    ASSAY_BOTH name operator sign(int a, name b) { return name(float(a) sign float(b)); }

#define ASSAY_HALF_COMPARISON(name, sign)                                                \
    ASSAY_BOTH bool operator sign(name a, name b) { return float(a) sign float(b); }     \
    ASSAY_BOTH bool operator sign(name a, float b) { return float(a) sign b; }           \
    ASSAY_BOTH bool operator sign(float a, name b) { return a sign float(b); }           \
    ASSAY_BOTH bool operator sign(name a, int b) { return float(a) sign float(b); }      \
    ASSAY_BOTH bool operator sign(name a, double b) { return float(a) sign b; }

namespace c10 {

ASSAY_HALF(Half, __half, __float2half, __half2float)
ASSAY_HALF(BFloat16, __nv_bfloat16, __float2bfloat16, __bfloat162float)

// With PyTorch's numbers.
enum class ScalarType : int8_t {
    Byte = 0,
    Char = 1,
    Short = 2,
    Int = 3,
    Long = 4,
    Half = 5,
    Float = 6,
    Double = 7,
    Bool = 11,
    BFloat16 = 15,
    UInt16 = 27,
    UInt32 = 28,
    UInt64 = 29,
};

// The type of C++ of each, its name, and what it is for the recording.
#define ASSAY_SCALARS(each)             \
    each(uint8_t, Byte, ui8)            \
    each(int8_t, Char, i8)              \
    each(int16_t, Short, i16)           \
    each(int32_t, Int, i32)             \
    each(int64_t, Long, i64)            \
    each(c10::Half, Half, fp16)         \
    each(float, Float, fp32)            \
    each(double, Double, fp64)          \
    each(c10::BFloat16, BFloat16, bf16) \
    each(uint16_t, UInt16, ui16)        \
    each(uint32_t, UInt32, ui32)        \
    each(uint64_t, UInt64, ui64)

template <class T>
struct CppTypeToScalarType;
template <ScalarType type>
struct ScalarTypeToCPPType;

#define ASSAY_EACH(cpp, name, dtype)                          \
    template <>                                               \
    struct CppTypeToScalarType<cpp> {                         \
        static constexpr ScalarType value = ScalarType::name; \
    };                                                        \
    template <>                                               \
    struct ScalarTypeToCPPType<ScalarType::name> {            \
        using type = cpp;                                     \
    };
ASSAY_SCALARS(ASSAY_EACH)
ASSAY_EACH(bool, Bool, ui8)
#undef ASSAY_EACH
template <>
struct CppTypeToScalarType<__half> : CppTypeToScalarType<Half> {};
template <>
struct CppTypeToScalarType<__nv_bfloat16> : CppTypeToScalarType<BFloat16> {};
template <ScalarType type>
using ScalarTypeToCPPTypeT = typename ScalarTypeToCPPType<type>::type;

inline const char* toString(ScalarType type) {
    switch (type) {
#define ASSAY_EACH(cpp, name, dtype) \
    case ScalarType::name: return #name;
        ASSAY_SCALARS(ASSAY_EACH)
#undef ASSAY_EACH
        case ScalarType::Bool: return "Bool";
    }
    return "Undefined";
}

inline size_t elementSize(ScalarType type) {
    switch (type) {
#define ASSAY_EACH(cpp, name, dtype) \
    case ScalarType::name: return sizeof(cpp);
        ASSAY_SCALARS(ASSAY_EACH)
#undef ASSAY_EACH
        case ScalarType::Bool: return 1;
    }
    return 0;
}

inline bool isFloatingType(ScalarType type) {
    return type == ScalarType::Half || type == ScalarType::Float || type == ScalarType::Double ||
           type == ScalarType::BFloat16;
}

template <class Stream>
Stream& operator<<(Stream& stream, ScalarType type) {
    stream << toString(type);
    return stream;
}

constexpr ScalarType kByte = ScalarType::Byte, kUInt8 = ScalarType::Byte;
constexpr ScalarType kChar = ScalarType::Char, kInt8 = ScalarType::Char;
constexpr ScalarType kShort = ScalarType::Short, kInt16 = ScalarType::Short;
constexpr ScalarType kInt = ScalarType::Int, kInt32 = ScalarType::Int;
constexpr ScalarType kLong = ScalarType::Long, kInt64 = ScalarType::Long;
constexpr ScalarType kHalf = ScalarType::Half, kFloat16 = ScalarType::Half;
constexpr ScalarType kFloat = ScalarType::Float, kFloat32 = ScalarType::Float;
constexpr ScalarType kDouble = ScalarType::Double, kFloat64 = ScalarType::Double;
constexpr ScalarType kBFloat16 = ScalarType::BFloat16;
constexpr ScalarType kBool = ScalarType::Bool;

}  // namespace c10

namespace assay {

inline Dtype dtype_of(c10::ScalarType type) {
    switch (type) {
#define ASSAY_EACH(cpp, name, dtype) \
    case c10::ScalarType::name: return Dtype::dtype;
        ASSAY_SCALARS(ASSAY_EACH)
#undef ASSAY_EACH
        case c10::ScalarType::Bool: return Dtype::ui8;
    }
    unsupported("a tensor of such a type");
}

inline c10::ScalarType scalar_of(Dtype type) {
    switch (type) {
#define ASSAY_EACH(cpp, name, dtype) \
    case Dtype::dtype: return c10::ScalarType::name;
        ASSAY_SCALARS(ASSAY_EACH)
#undef ASSAY_EACH
    }
    unsupported("a tensor of such a type");
}

}  // namespace assay
