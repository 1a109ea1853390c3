// The interface between a candidate's translation unit and the recording runtime.
//
// The runtime owns all state. This file must never name a type of CUDA's or of a stand-in's, so
// that the runtime compiles without them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay {

// In the order of `assay:gpu/types.dtype`.
enum class Dtype : int { fp64, fp32, fp16, bf16, i64, i32, i16, i8, ui64, ui32, ui16, ui8 };

enum class Kind { tensor, i32, i64, fp32, fp64, boolean, absent, list };

// One argument of a call, as the order gives it.
struct Value {
    Kind kind;
    // For a tensor.
    Dtype dtype;
    void* address;
    int dims;
    const int64_t* shape;
    // For numbers: integers and booleans, or the others.
    int64_t integer;
    double real;
    // For a list.
    const Value* items;
    int item_count;
};

// How messages call a value.
inline const char* name_of(Kind kind) {
    switch (kind) {
        case Kind::tensor: return "a tensor";
        case Kind::absent: return "None";
        case Kind::list: return "a list";
        default: return "a number";
    }
}

struct Call {
    const char* entry;
    const Value* values;
    int count;
};

// Calls the function behind `state` and hands over what it returned.
using Invoke = void (*)(const void* state, const Call& call);

// `name` and `state` must live as long as the process.
void add_entry(const char* name, Invoke invoke, const void* state);

// A tensor among what the function returned.
void add_returned(const void* address, Dtype dtype, int dims, const int64_t* shape);

// Memory of the device that is being pretended; null where there is none left.
void* allocate(uint64_t bytes);
// False where nothing is allocated there.
bool release(void* address);
// False where the bytes do not lie within one buffer.
bool set_bytes(void* to, int value, uint64_t bytes);
bool copy_bytes(void* to, const void* from, uint64_t bytes);

// The function asked for what cannot be replayed: the recording ends here.
[[noreturn]] void unsupported(const char* what);
// The function does not take what the task gives: the recording ends here.
[[noreturn]] void mismatch(const char* format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace assay
