// Reads the order from standard input before anything of the candidate runs, and calls the function
// that it names.

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <exception>

#include "runtime.h"

namespace assay {
namespace {

struct Named {
    const char* name;
    Invoke invoke;
    const void* state;
};

int device_capability;
uint32_t kernel_count;
Kernel* kernels;
uint32_t given_buffers;
void** given;
char* wanted;
int value_count;
Value* values;
uint32_t entry_count;
Named entries[ENTRIES_MAX];

uint64_t read_number() {
    unsigned long long number;
    if (scanf("%llu", &number) != 1) fail("the order makes no sense: a number is missing");
    return number;
}

uint64_t read_bits() {
    unsigned long long bits;
    if (scanf("%llx", &bits) != 1) fail("the order makes no sense: bits are missing");
    return bits;
}

char* read_word() {
    char* word;
    if (scanf("%ms", &word) != 1) fail("the order makes no sense: a word is missing");
    return word;
}

template <class T>
T* make(uint64_t count) {
    T* made = static_cast<T*>(calloc(count + 1, sizeof(T)));
    if (!made) fail("no memory is left");
    return made;
}

void read_kernels() {
    kernel_count = read_number();
    kernels = make<Kernel>(kernel_count);
    for (uint32_t at = 0; at < kernel_count; at++) {
        Kernel& kernel = kernels[at];
        kernel.number = at;
        kernel.name = read_word();
        kernel.registers = read_number();
        kernel.shared_bytes = read_number();
        kernel.params = read_number();
        kernel.param_bytes = make<uint32_t>(kernel.params);
        for (uint32_t param = 0; param < kernel.params; param++) kernel.param_bytes[param] = read_number();
    }
}

void read_buffers() {
    given_buffers = read_number();
    given = make<void*>(given_buffers);
    for (uint32_t at = 0; at < given_buffers; at++) given[at] = add_given_buffer(read_number());
}

void read_value(Value& value) {
    value.kind = static_cast<Kind>(read_number());
    if (value.kind == Kind::absent) return;
    if (value.kind == Kind::list) {
        value.item_count = read_number();
        Value* items = make<Value>(value.item_count);
        for (int at = 0; at < value.item_count; at++) read_value(items[at]);
        value.items = items;
        return;
    }
    if (value.kind != Kind::tensor) {
        value.integer = static_cast<int64_t>(read_bits());
        memcpy(&value.real, &value.integer, sizeof value.real);
        return;
    }
    const uint64_t number = read_number();
    if (number >= given_buffers) fail("the order makes no sense: no such buffer");
    value.address = static_cast<char*>(given[number]) + read_number();
    value.dtype = static_cast<Dtype>(read_number());
    value.dims = read_number();
    int64_t* shape = make<int64_t>(value.dims);
    for (int dim = 0; dim < value.dims; dim++) shape[dim] = read_number();
    value.shape = shape;
}

void on_fault(int number, siginfo_t* info, void*) {
    if (is_device_address(info->si_addr)) unsupported("it reads or writes a buffer on the host");
    // Once more, with what the signal does by itself.
    signal(number, SIG_DFL);
}

void catch_faults() {
    static char stack[1 << 16];
    stack_t other{};
    other.ss_sp = stack;
    other.ss_size = sizeof stack;
    sigaltstack(&other, nullptr);
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGSEGV, &action, nullptr);
}

// Constructors without a priority run after this one.
__attribute__((constructor(101))) void begin() {
    catch_faults();
    device_capability = read_number();
    read_kernels();
    read_buffers();
    wanted = read_word();
    value_count = read_number();
    values = make<Value>(value_count);
    for (int at = 0; at < value_count; at++) read_value(values[at]);
}

}  // namespace

int capability() { return device_capability; }

const Kernel* find_kernel(const char* name) {
    for (uint32_t at = 0; at < kernel_count; at++) {
        if (!strcmp(kernels[at].name, name)) return &kernels[at];
    }
    return nullptr;
}

void add_entry(const char* name, Invoke invoke, const void* state) {
    if (entry_count == ENTRIES_MAX) unsupported("more functions than can be registered");
    entries[entry_count++] = {name, invoke, state};
}

void run() {
    for (uint32_t at = 0; at < entry_count; at++) {
        if (!strcmp(entries[at].name, wanted)) {
            entries[at].invoke(entries[at].state, Call{wanted, values, value_count});
            return;
        }
    }
    mismatch("no function `%s` is registered", wanted);
}

}  // namespace assay

int main() {
    try {
        assay::run();
    } catch (const std::exception& thrown) {
        assay::end_with("threw", thrown.what());
    } catch (...) {
        assay::end_with("threw", "something that is no std::exception");
    }
    assay::end_with_plan();
}
