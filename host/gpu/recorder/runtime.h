// The declarations that the parts of the recording runtime share.
#pragma once

#include "limits.h"
#include "record.h"

namespace assay {

// The exit status of the process when the recording itself fails.
constexpr int EXIT_FAILED = 70;

// A kernel of the image, as the order describes it.
struct Kernel {
    uint32_t number;
    char* name;
    uint32_t registers;
    uint32_t shared_bytes;
    uint32_t params;
    uint32_t* param_bytes;
};

struct Launch {
    const Kernel* kernel;
    uint32_t grid[3];
    uint32_t block[3];
    bool cooperative;
    uint32_t shared_bytes;
    void* const* args;
};

struct Place {
    uint32_t buffer;
    uint64_t offset;
};

// memory.cpp
void* add_given_buffer(uint64_t bytes);
uint32_t scratch_count();
uint64_t scratch_bytes(uint32_t at);
bool is_device_address(const void* address);
// False unless so many bytes from the address on lie in one buffer.
bool find_place(uint64_t address, uint64_t bytes, Place* place);

// order.cpp
// Such as 90 of `sm_90`.
int capability();
// Null where the image has no kernel of that name.
const Kernel* find_kernel(const char* name);

// trace.cpp
void add_launch(const Launch& launch);
[[noreturn]] void end_with(const char* how, const char* what);
[[noreturn]] void end_with_plan();
[[noreturn]] void fail(const char* what);

// launch.cpp
// What is known of a kernel by its host function; null where it is none of the image's.
const Kernel* kernel_of(const void* function);

}  // namespace assay
