// The text of the trace, which is written once, as the last thing that the process does.
//
// It is built in the candidate's process, which may corrupt it or leave a trace of its own making:
// whoever reads it must take it for the candidate's word.

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime.h"

namespace assay {
namespace {

struct Text {
    char* data;
    size_t length;
    size_t room;
};

// Three texts and what is round them stay below what is read.
constexpr size_t TEXT_BYTES_MAX = TRACE_BYTES_MAX / 4;

Text steps;
uint32_t step_count;
Text returns;
uint32_t return_count;

using Long = unsigned long long;

void append(Text& text, const char* format, ...) __attribute__((format(printf, 2, 3)));

void append(Text& text, const char* format, ...) {
    char piece[256];
    va_list values;
    va_start(values, format);
    const size_t length = vsnprintf(piece, sizeof piece, format, values);
    va_end(values);
    if (length >= sizeof piece) fail("a piece of the trace is too long");
    if (text.length + length > TEXT_BYTES_MAX) unsupported("more arguments than a plan can have");
    if (text.length + length > text.room) {
        text.room = (text.room + length) * 2;
        text.data = static_cast<char*>(realloc(text.data, text.room));
        if (!text.data) fail("no memory is left");
    }
    memcpy(text.data + text.length, piece, length);
    text.length += length;
}

void write_all(int file, const char* data, size_t length) {
    while (length > 0) {
        const ssize_t written = write(file, data, length);
        if (written <= 0) _exit(EXIT_FAILED);
        data += written;
        length -= written;
    }
}

void write_text(int file, const char* text) { write_all(file, text, strlen(text)); }

int open_trace() {
    const int file = open("trace", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0644);
    if (file < 0) _exit(EXIT_FAILED);
    return file;
}

void begin_step() {
    if (step_count == STEPS_MAX) unsupported("more steps than a plan can have");
    append(steps, "%s", step_count++ ? "," : "");
}

void append_place(Text& text, const Place& place) {
    append(text, "[%u,%llu]", place.buffer, static_cast<Long>(place.offset));
}

uint64_t word_at(const unsigned char* bytes) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

// Addresses are found by their values, at any place: structs may be packed.
void append_bytes(Text& text, const unsigned char* bytes, uint32_t length) {
    append(text, "{\"bytes\":[\"");
    for (uint32_t at = 0; at < length; at++) append(text, "%02x", bytes[at]);
    append(text, "\",[");
    const char* comma = "";
    for (uint32_t at = 0; at + sizeof(uint64_t) <= length;) {
        Place place;
        if (!find_place(word_at(bytes + at), 0, &place)) {
            at++;
            continue;
        }
        append(text, "%s[%u,", comma, at);
        append_place(text, place);
        append(text, "]");
        comma = ",";
        at += sizeof(uint64_t);
    }
    append(text, "]]}");
}

void append_argument(Text& text, const unsigned char* bytes, uint32_t length) {
    Place place;
    if (length != sizeof(uint64_t)) return append_bytes(text, bytes, length);
    const uint64_t word = word_at(bytes);
    if (find_place(word, 0, &place)) {
        append(text, "{\"address\":");
        append_place(text, place);
        append(text, "}");
        return;
    }
    if (is_device_address(reinterpret_cast<const void*>(word))) {
        unsupported("a kernel's argument points outside of all buffers");
    }
    append_bytes(text, bytes, length);
}

}  // namespace

void add_launch(const Launch& launch) {
    begin_step();
    append(steps, "{\"launch\":{\"kernel\":%u,\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],",
           launch.kernel->number, launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0],
           launch.block[1], launch.block[2]);
    append(steps, "\"cooperative\":%s,\"shared\":%u,\"args\":[", launch.cooperative ? "true" : "false",
           launch.shared_bytes);
    for (uint32_t at = 0; at < launch.kernel->params; at++) {
        append(steps, "%s", at ? "," : "");
        append_argument(steps, static_cast<const unsigned char*>(launch.args[at]),
                        launch.kernel->param_bytes[at]);
    }
    append(steps, "]}}");
}

bool set_bytes(void* to, int value, uint64_t bytes) {
    Place place;
    if (bytes == 0) return true;
    if (!find_place(reinterpret_cast<uint64_t>(to), bytes, &place)) return false;
    begin_step();
    append(steps, "{\"set\":{\"at\":");
    append_place(steps, place);
    append(steps, ",\"bytes\":%llu,\"value\":%d}}", static_cast<Long>(bytes), value & 0xff);
    return true;
}

bool copy_bytes(void* to, const void* from, uint64_t bytes) {
    Place target, source;
    if (bytes == 0) return true;
    if (!find_place(reinterpret_cast<uint64_t>(to), bytes, &target)) return false;
    if (!find_place(reinterpret_cast<uint64_t>(from), bytes, &source)) return false;
    begin_step();
    append(steps, "{\"copy\":{\"to\":");
    append_place(steps, target);
    append(steps, ",\"from\":");
    append_place(steps, source);
    append(steps, ",\"bytes\":%llu}}", static_cast<Long>(bytes));
    return true;
}

void add_returned(const void* address, Dtype dtype, int dims, const int64_t* shape) {
    Place place;
    if (!find_place(reinterpret_cast<uint64_t>(address), 0, &place)) {
        unsupported("it returns a tensor that has no memory of the device");
    }
    append(returns, "%s{\"at\":", return_count++ ? "," : "");
    append_place(returns, place);
    append(returns, ",\"dtype\":%d,\"shape\":[", static_cast<int>(dtype));
    for (int dim = 0; dim < dims; dim++) {
        append(returns, "%s%lld", dim ? "," : "", static_cast<long long>(shape[dim]));
    }
    append(returns, "]}");
}

void fail(const char* what) {
    fprintf(stderr, "assay: %s\n", what);
    _exit(EXIT_FAILED);
}

// Allocates nothing: it may run in a signal's handler.
void end_with(const char* how, const char* what) {
    char said[SENTENCE_BYTES_MAX];
    size_t length = 0;
    for (; what[length] && length + 1 < sizeof said; length++) {
        const char byte = what[length];
        const bool plain = byte >= ' ' && byte <= '~' && byte != '\\';
        said[length] = byte == '"' ? '\'' : (plain ? byte : ' ');
    }
    said[length] = 0;
    const int file = open_trace();
    write_text(file, "{\"");
    write_text(file, how);
    write_text(file, "\":\"");
    write_text(file, said);
    write_text(file, "\"}");
    _exit(0);
}

void end_with_plan() {
    Text scratch{};
    for (uint32_t at = 0; at < scratch_count(); at++) {
        append(scratch, "%s%llu", at ? "," : "", static_cast<Long>(scratch_bytes(at)));
    }
    const int file = open_trace();
    write_text(file, "{\"plan\":{\"steps\":[");
    write_all(file, steps.data, steps.length);
    write_text(file, "],\"scratch\":[");
    write_all(file, scratch.data, scratch.length);
    write_text(file, "],\"returned\":[");
    write_all(file, returns.data, returns.length);
    write_text(file, "]}}");
    _exit(0);
}

void unsupported(const char* what) { end_with("unsupported", what); }

void mismatch(const char* format, ...) {
    char said[SENTENCE_BYTES_MAX];
    va_list values;
    va_start(values, format);
    vsnprintf(said, sizeof said, format, values);
    va_end(values);
    end_with("mismatch", said);
}

}  // namespace assay
