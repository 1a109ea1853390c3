// The judge's kernels: what `fill` and `compare` define, bit for bit, on a GPU; and a flush of its cache.
//
// judge.ptx is made of this by `scripts/gpu-ptx.sh`: for compute_70 and of PTX 8.4, which every driver
// from 550 on takes. Only instructions that `assay-ptx` simulates: its tests run judge.ptx.
// No variables in global or constant memory: a candidate's kernel in the same context could change them.

typedef unsigned int u32;
typedef unsigned short u16;
typedef unsigned char u8;
typedef unsigned long long u64;
typedef long long i64;

// As cases of `Dtype` are numbered in `judge.rs`.
enum { FP64, FP32, FP16, BF16, I64, I32, I16, I8, UI64, UI32, UI16, UI8 };
// As `fill` numbers its rules.
enum { ZEROS, UNIFORM, NORMAL, INTEGERS, PERMUTATION, POISON, GUARD };

struct Words {
    u32 r0, r1, r2, r3;
};

// `a` and `b`: low and high - low; mean and deviation; low and range; count and half the bits.
struct Fill {
    u64 seed;
    u64 a;
    u64 b;
    u32 stream;
    u32 rule;
    u32 dtype;
    u32 unused;
};

struct Counts {
    u64 mismatched;
    u64 never_written;
    u64 got_nonfinite;
    u64 absolute_max;
    u64 relative_max;
    u64 first_wrong;
};

static __device__ Words philox(u64 seed, u32 c0, u32 c1, u32 c2, u32 c3)
{
    u32 k0 = (u32)seed, k1 = (u32)(seed >> 32);
#pragma unroll 1
    for (int round = 0; round < 10; round++) {
        u64 first = (u64)c0 * 0xD2511F53u, second = (u64)c2 * 0xCD9E8D57u;
        u32 n0 = (u32)(second >> 32) ^ c1 ^ k0, n2 = (u32)(first >> 32) ^ c3 ^ k1;
        c1 = (u32)second;
        c3 = (u32)first;
        c0 = n0;
        c2 = n2;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return Words { c0, c1, c2, c3 };
}

static __device__ u64 permuted(const Fill& fill, u64 element)
{
    u32 half = (u32)fill.b;
    u64 low = (1ull << half) - 1;
    do {
        u64 left = element >> half, right = element & low;
        for (u32 round = 0; round < 4; round++) {
            u64 mixed = left ^ (philox(fill.seed, (u32)right, round, fill.stream, PERMUTATION).r0 & low);
            left = right;
            right = mixed;
        }
        element = left << half | right;
    } while (element >= fill.a);
    return element;
}

static __device__ u32 bits_of_half(float value)
{
    u16 bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}

static __device__ u64 bits_of_double(u32 dtype, double value)
{
    if (dtype == FP64)
        return (u64)__double_as_longlong(value);
    float single = __double2float_rn(value);
    u32 bits = __float_as_uint(single);
    if (dtype == FP32)
        return bits;
    if (dtype == FP16)
        return bits_of_half(single);
    // Nearest even; no rule but the poison, which does not come here, gives what is not a number.
    return (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
}

static __device__ u64 cut(u32 dtype, u64 bits)
{
    switch (dtype) {
    case FP32: case I32: case UI32: return (u32)bits;
    case FP16: case BF16: case I16: case UI16: return (u16)bits;
    case I8: case UI8: return (u8)bits;
    default: return bits;
    }
}

static __device__ u64 poison(u32 dtype, u64 random)
{
    switch (dtype) {
    case FP64: return random | 0x7ff8000000000000ull;
    case FP32: return (u32)random | 0x7fc00000u;
    case FP16: return (u16)random | 0x7e00u;
    case BF16: return (u16)random | 0x7fc0u;
    default: return cut(dtype, random);
    }
}

static __device__ u64 element_bits(const Fill& fill, u64 element)
{
    u32 dtype = fill.dtype;
    if (fill.rule == ZEROS)
        return 0;
    if (fill.rule == PERMUTATION) {
        u64 value = permuted(fill, element);
        return dtype <= BF16 ? bits_of_double(dtype, __ull2double_rn(value)) : cut(dtype, value);
    }
    Words words = philox(fill.seed, (u32)element, (u32)(element >> 32), fill.stream, fill.rule);
    u64 random = (u64)words.r1 << 32 | words.r0;
    double a = __longlong_as_double((i64)fill.a), b = __longlong_as_double((i64)fill.b);
    switch (fill.rule) {
    case UNIFORM: {
        double share = __dmul_rn((double)words.r0, 1.0 / 4294967296.0);
        return bits_of_double(dtype, __dadd_rn(a, __dmul_rn(share, b)));
    }
    case NORMAL: {
        u32 sum = (words.r0 & 0xffff) + (words.r0 >> 16) + (words.r1 & 0xffff) + (words.r1 >> 16)
            + (words.r2 & 0xffff) + (words.r2 >> 16) + (words.r3 & 0xffff) + (words.r3 >> 16);
        double scaled = __dmul_rn((double)((int)sum - 262140), 0x1.3988e1412ed76p-16);
        return bits_of_double(dtype, __dadd_rn(__dmul_rn(scaled, b), a));
    }
    case INTEGERS: {
        u64 value = fill.a + (fill.b == 0 ? random : __umul64hi(random, fill.b));
        return dtype <= BF16 ? bits_of_double(dtype, __ll2double_rn((i64)value)) : cut(dtype, value);
    }
    case POISON:
        return poison(dtype, random);
    default:
        return words.r0;
    }
}

static __device__ u32 bytes_of(u32 dtype)
{
    switch (dtype) {
    case FP64: case I64: case UI64: return 8;
    case FP32: case I32: case UI32: return 4;
    case FP16: case BF16: case I16: case UI16: return 2;
    default: return 1;
    }
}

static __device__ u64 loaded(const void* at, u32 bytes, u64 element)
{
    switch (bytes) {
    case 8: return ((const u64*)at)[element];
    case 4: return ((const u32*)at)[element];
    case 2: return ((const u16*)at)[element];
    default: return ((const u8*)at)[element];
    }
}

static __device__ u64 first_element()
{
    return (u64)blockIdx.x * blockDim.x + threadIdx.x;
}

static __device__ u64 stride()
{
    return (u64)gridDim.x * blockDim.x;
}

extern "C" __global__ void assay_fill(void* at, u64 count, Fill fill)
{
    u32 bytes = bytes_of(fill.dtype);
    for (u64 element = first_element(); element < count; element += stride()) {
        u64 bits = element_bits(fill, element);
        switch (bytes) {
        case 8: ((u64*)at)[element] = bits; break;
        case 4: ((u32*)at)[element] = (u32)bits; break;
        case 2: ((u16*)at)[element] = (u16)bits; break;
        default: ((u8*)at)[element] = (u8)bits; break;
        }
    }
}

static __device__ double value_of(u32 dtype, u64 bits)
{
    switch (dtype) {
    case FP64: return __longlong_as_double((i64)bits);
    case FP32: return (double)__uint_as_float((u32)bits);
    case FP16: {
        float value;
        asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"((u16)bits));
        return (double)value;
    }
    case BF16: return (double)__uint_as_float((u32)bits << 16);
    case I64: return __ll2double_rn((i64)bits);
    case I32: return (double)(int)bits;
    case I16: return (double)(short)bits;
    case I8: return (double)(signed char)bits;
    default: return __ull2double_rn(bits);
    }
}

static __device__ bool is_finite(double value)
{
    return ((u64)__double_as_longlong(value) >> 52 & 0x7ff) != 0x7ff;
}

static __device__ double magnitude(double value)
{
    return __longlong_as_double(__double_as_longlong(value) & 0x7fffffffffffffffll);
}

static __device__ bool is_close(double got, double want, double absolute, double relative, u32 allow_nonfinite)
{
    if (is_finite(want))
        return is_finite(got)
            && magnitude(__dadd_rn(got, -want)) <= __dadd_rn(absolute, __dmul_rn(relative, magnitude(want)));
    bool same = got == want || (got != got && want != want);
    return same || (allow_nonfinite && !is_finite(got));
}

static __device__ u64 greater(u64 one, u64 other)
{
    return one > other ? one : other;
}

static __device__ u64 shuffled(u64 value, u32 distance)
{
    u32 low = __shfl_down_sync(0xffffffffu, (u32)value, distance);
    u32 high = __shfl_down_sync(0xffffffffu, (u32)(value >> 32), distance);
    return (u64)high << 32 | low;
}

// A warp's counts into the result. Magnitudes of doubles are in the order of their bits.
static __device__ void gather(Counts counts, Counts* result)
{
#pragma unroll 1
    for (u32 distance = 16; distance > 0; distance /= 2) {
        counts.mismatched += shuffled(counts.mismatched, distance);
        counts.never_written += shuffled(counts.never_written, distance);
        counts.got_nonfinite += shuffled(counts.got_nonfinite, distance);
        counts.absolute_max = greater(counts.absolute_max, shuffled(counts.absolute_max, distance));
        counts.relative_max = greater(counts.relative_max, shuffled(counts.relative_max, distance));
        u64 first = shuffled(counts.first_wrong, distance);
        counts.first_wrong = first < counts.first_wrong ? first : counts.first_wrong;
    }
    if (threadIdx.x % 32 != 0)
        return;
    if (counts.mismatched) {
        atomicAdd(&result->mismatched, counts.mismatched);
        atomicAdd(&result->never_written, counts.never_written);
        atomicMin(&result->first_wrong, counts.first_wrong);
    }
    if (counts.got_nonfinite)
        atomicAdd(&result->got_nonfinite, counts.got_nonfinite);
    if (counts.absolute_max) {
        atomicMax(&result->absolute_max, counts.absolute_max);
        atomicMax(&result->relative_max, counts.relative_max);
    }
}

extern "C" __global__ void assay_compare(
    const void* got_at, const void* want_at, u64 count, Fill poisoned, double absolute, double relative,
    u32 allow_nonfinite, Counts* result)
{
    Counts counts = { 0, 0, 0, 0, 0, ~0ull };
    u32 dtype = poisoned.dtype, bytes = bytes_of(dtype);
    for (u64 element = first_element(); element < count; element += stride()) {
        u64 got_bits = loaded(got_at, bytes, element), want_bits = loaded(want_at, bytes, element);
        double got = value_of(dtype, got_bits), want = value_of(dtype, want_bits);
        counts.got_nonfinite += !is_finite(got);
        if (is_finite(got) && is_finite(want)) {
            double difference = magnitude(__dadd_rn(got, -want));
            counts.absolute_max = greater(counts.absolute_max, (u64)__double_as_longlong(difference));
            if (want != 0.0) {
                double ratio = __ddiv_rn(difference, magnitude(want));
                counts.relative_max = greater(counts.relative_max, (u64)__double_as_longlong(ratio));
            }
        }
        bool right = dtype <= BF16 ? is_close(got, want, absolute, relative, allow_nonfinite)
                                   : got_bits == want_bits;
        if (!right) {
            counts.mismatched += 1;
            counts.never_written += got_bits == element_bits(poisoned, element);
            counts.first_wrong = element < counts.first_wrong ? element : counts.first_wrong;
        }
    }
    gather(counts, result);
}

// Addresses are multiples of 8.
extern "C" __global__ void assay_equal(const u64* one, const u64* other, u64 bytes, u32* differs)
{
    u64 words = bytes / 8;
    bool same = true;
    for (u64 word = first_element(); word < words; word += stride())
        same = same && one[word] == other[word];
    u64 rest = words * 8 + first_element();
    if (rest < bytes)
        same = same && ((const u8*)one)[rest] == ((const u8*)other)[rest];
    if (!same)
        *differs = 1;
}

extern "C" __global__ void assay_flush(u64* at, u64 words, u64 value)
{
    for (u64 word = first_element(); word < words; word += stride())
        at[word] = value + word;
}
