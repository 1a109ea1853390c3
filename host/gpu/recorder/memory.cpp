// The memory that the recording pretends to have: addresses of buffers, and never a byte in them.

#include "runtime.h"

namespace assay {
namespace {

// Where no process of this machine can have memory: in the kernel's half of all addresses. Reading a
// buffer is caught by its address.
constexpr uint64_t FIRST_ADDRESS = 0xffffa5c300000000;
constexpr uint64_t END_OF_ADDRESSES = 0xffffb5c300000000;
// Behind each buffer, so that an address beyond one is not in the next.
constexpr uint64_t GAP = uint64_t{1} << 32;
constexpr uint64_t ALIGNMENT = uint64_t{1} << 21;

struct Buffer {
    uint64_t base;
    uint64_t bytes;
    bool live;
};

Buffer buffers[BUFFERS_MAX];
uint32_t buffer_count;
uint32_t given_count;
// So that an address before the first buffer is seen as well.
uint64_t next_base = FIRST_ADDRESS + GAP;
uint64_t bytes_in_use;

uint64_t number(const void* address) { return reinterpret_cast<uint64_t>(address); }

void* add_buffer(uint64_t bytes) {
    if (buffer_count == BUFFERS_MAX) unsupported("more buffers than a plan can have");
    Buffer& buffer = buffers[buffer_count++];
    buffer = {next_base, bytes, true};
    next_base += (bytes + GAP + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    bytes_in_use += bytes;
    return reinterpret_cast<void*>(buffer.base);
}

}  // namespace

void* add_given_buffer(uint64_t bytes) {
    given_count++;
    return add_buffer(bytes);
}

uint32_t scratch_count() { return buffer_count - given_count; }

uint64_t scratch_bytes(uint32_t at) { return buffers[given_count + at].bytes; }

bool is_device_address(const void* address) {
    return number(address) >= FIRST_ADDRESS && number(address) < END_OF_ADDRESSES;
}

bool find_place(uint64_t address, uint64_t bytes, Place* place) {
    if (address < FIRST_ADDRESS || address >= next_base) return false;
    uint32_t low = 0, high = buffer_count;
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        (buffers[middle].base <= address ? low : high) = middle;
    }
    const Buffer& buffer = buffers[low];
    const uint64_t offset = address - buffer.base;
    // An address just behind a buffer still is one of it: an end that nobody reads.
    if (offset > buffer.bytes || bytes > buffer.bytes - offset) return false;
    *place = {low, offset};
    return true;
}

// Released memory is used again: all work is in one order.
void* allocate(uint64_t bytes) {
    for (uint32_t at = given_count; at < buffer_count; at++) {
        Buffer& buffer = buffers[at];
        if (!buffer.live && buffer.bytes == bytes) {
            buffer.live = true;
            return reinterpret_cast<void*>(buffer.base);
        }
    }
    if (bytes > MEMORY_BYTES_MAX || bytes_in_use > MEMORY_BYTES_MAX - bytes) return nullptr;
    return add_buffer(bytes);
}

bool release(void* address) {
    for (uint32_t at = given_count; at < buffer_count; at++) {
        if (buffers[at].live && buffers[at].base == number(address)) {
            buffers[at].live = false;
            return true;
        }
    }
    return false;
}

}  // namespace assay
