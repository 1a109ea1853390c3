// Reference kernels of an imported task: plain, slow, one thread an element. The same text is CUDA, and C++ in which the
// import runs it on this machine's processor beside PyTorch.
//
// Tensors are read through views: the offset of the first element, and the distance of two elements in each dimension.
// What a kernel writes is contiguous, except for `copy_into`. Sums are taken in double precision and rounded once.
#ifdef ASSAY_ON_CPU
#include <cmath>
#include <cstdlib>
using namespace std;
#define __global__
#define __device__
static long long assay_thread;
#define LAUNCH(count, kernel, ...) \
    for (assay_thread = 0; assay_thread < (long long)(count); ++assay_thread) kernel((long long)(count), __VA_ARGS__)
#define THREAD assay_thread
static char* scratch(long long bytes) { return (char*)calloc(bytes + 1, 1); }
#else
#include <cuda_runtime.h>
#define LAUNCH(count, kernel, ...) kernel<<<(unsigned)(((count) + 127) / 128), 128>>>((long long)(count), __VA_ARGS__)
#define THREAD ((long long)blockIdx.x * blockDim.x + threadIdx.x)
static char* scratch(long long bytes) {
    void* memory = nullptr;
    cudaMalloc(&memory, bytes + 1);
    return (char*)memory;
}
#endif

typedef long long i64;
typedef unsigned char ui8;
constexpr int RANK = 6;

struct View {
    i64 offset, stride[RANK];
};
struct Shape {
    int rank;
    i64 size[RANK];
};

// The place of element `index`, the last dimension fastest.
__device__ i64 place(const Shape& shape, const View& view, i64 index) {
    i64 at = view.offset;
    for (int d = shape.rank - 1; d > 0; --d) {
        at += index % shape.size[d] * view.stride[d];
        index /= shape.size[d];
    }
    return shape.rank > 0 ? at + index * view.stride[0] : at;
}

template <class F, class R, class A>
__global__ void map1(i64 count, R* out, const A* a, Shape shape, View va) {
    const i64 i = THREAD;
    if (i < count) out[i] = (R)F::of(a[place(shape, va, i)]);
}

template <class F, class R, class A, class B>
__global__ void map2(i64 count, R* out, const A* a, const B* b, Shape shape, View va, View vb) {
    const i64 i = THREAD;
    if (i < count) out[i] = (R)F::of(a[place(shape, va, i)], b[place(shape, vb, i)]);
}

template <class F, class R, class A, class B, class C>
__global__ void map3(i64 count, R* out, const A* a, const B* b, const C* c, Shape shape, View va, View vb, View vc) {
    const i64 i = THREAD;
    if (i < count) out[i] = (R)F::of(a[place(shape, va, i)], b[place(shape, vb, i)], c[place(shape, vc, i)]);
}

template <class R>
__global__ void fill(i64 count, R* out, R value) {
    const i64 i = THREAD;
    if (i < count) out[i] = value;
}

// begin, begin + step, and so on.
template <class R>
__global__ void range(i64 count, R* out, double begin, double step) {
    const i64 i = THREAD;
    if (i < count) out[i] = (R)(begin + (double)i * step);
}

template <class R, class A>
__global__ void copy_into(i64 count, R* out, const A* a, Shape shape, View vout, View va) {
    const i64 i = THREAD;
    if (i < count) out[place(shape, vout, i)] = (R)a[place(shape, va, i)];
}

// Reductions: `parts` threads take turns with the elements of one result, and one thread joins what they found.
struct Sum {
    double sum = 0;
    __device__ void add(double value, i64) { sum += value; }
    __device__ void join(const Sum& other) { sum += other.sum; }
    __device__ double end(i64) const { return sum; }
};
struct Mean : Sum {
    __device__ double end(i64 count) const { return sum / (double)count; }
};
struct Product {
    double product = 1;
    __device__ void add(double value, i64) { product *= value; }
    __device__ void join(const Product& other) { product *= other.product; }
    __device__ double end(i64) const { return product; }
};
// The largest (sign 1) or smallest (sign -1), and the first place of it.
template <int sign, bool place>
struct Extreme {
    double value = 0;
    i64 at = -1;
    __device__ void take(double other, i64 other_at) {
        const bool nan = other != other, had_nan = value != value;
        const bool better = at < 0 || (nan && !had_nan) || (!had_nan && sign * other > sign * value);
        const bool same = at >= 0 && (other == value || (nan && had_nan)) && other_at < at;
        if (better || same) value = other, at = other_at;
    }
    __device__ void add(double other, i64 index) { take(other, index); }
    __device__ void join(const Extreme& other) {
        if (other.at >= 0) take(other.value, other.at);
    }
    __device__ double end(i64) const { return place ? (double)at : value; }
};
// Welford's sums of squares; `less` is taken off the count.
template <int less>
struct Variance {
    double count = 0, mean = 0, squares = 0;
    __device__ void add(double value, i64) {
        count += 1;
        const double far = value - mean;
        mean += far / count;
        squares += far * (value - mean);
    }
    __device__ void join(const Variance& other) {
        if (other.count == 0) return;
        const double all = count + other.count, far = other.mean - mean;
        squares += other.squares + far * far * count * other.count / all;
        mean += far * other.count / all;
        count = all;
    }
    __device__ double end(i64) const { return squares / (count - less); }
};

template <class F, class A>
__global__ void reduce_parts(i64 count, F* found, const A* a, i64 parts, i64 length, Shape kept, View vkept, Shape over,
                             View vover) {
    const i64 i = THREAD;
    if (i >= count) return;
    const i64 base = place(kept, vkept, i / parts);
    F all = F();
    for (i64 at = i % parts; at < length; at += parts) all.add((double)a[base + place(over, vover, at)], at);
    found[i] = all;
}

template <class F, class R>
__global__ void reduce_join(i64 count, R* out, const F* found, i64 parts, i64 length) {
    const i64 i = THREAD;
    if (i >= count) return;
    F all = found[i * parts];
    for (i64 part = 1; part < parts; ++part) all.join(found[i * parts + part]);
    out[i] = (R)all.end(length);
}

// out[b, i, j] = sum over k of a[b, i, k] * c[b, k, j]
template <class R, class A, class C>
__global__ void matmul(i64 count, R* out, const A* a, const C* c, i64 rows, i64 inner, i64 columns, View va, View vc) {
    const i64 i = THREAD;
    if (i >= count) return;
    const i64 column = i % columns, row = i / columns % rows, batch = i / columns / rows;
    const A* x = a + va.offset + batch * va.stride[0] + row * va.stride[1];
    const C* y = c + vc.offset + batch * vc.stride[0] + column * vc.stride[2];
    double sum = 0;
    for (i64 k = 0; k < inner; ++k) sum += (double)x[k * va.stride[2]] * (double)y[k * vc.stride[1]];
    out[i] = (R)sum;
}

// Convolutions and pools over three dimensions of space; those of fewer have sizes of one in front.
struct Window {
    i64 batch, in, out, groups;  // channels
    i64 from[3], to[3], kernel[3], stride[3], padding[3], dilation[3];
};

// The places of a kernel, in one dimension, that meet an element of the input: how many, the first one, and the distance to
// the next, in the kernel and in the input.
struct Taps {
    i64 count, kernel, kernel_step, input, input_step;
};

// Those of an element of a convolution's or a pool's output.
__device__ Taps taps(const Window& s, int d, i64 at) {
    const i64 dilation = s.dilation[d], start = at * s.stride[d] - s.padding[d];
    const i64 first = start < 0 ? (-start + dilation - 1) / dilation : 0;
    i64 end = (s.from[d] - start + dilation - 1) / dilation;
    if (end > s.kernel[d]) end = s.kernel[d];
    return {end > first ? end - first : 0, first, 1, start + first * dilation, dilation};
}

// Those of an element of a transposed convolution's output.
__device__ Taps transposed_taps(const Window& s, int d, i64 at) {
    Taps found = {0, 0, 0, 0, 0};
    for (i64 kernel = 0; kernel < s.kernel[d]; ++kernel) {
        const i64 from = at + s.padding[d] - kernel * s.dilation[d];
        if (from < 0) break;
        if (from % s.stride[d] || from / s.stride[d] >= s.from[d]) continue;
        const i64 input = from / s.stride[d];
        if (found.count == 0) found.kernel = kernel, found.input = input;
        if (found.count == 1) found.kernel_step = kernel - found.kernel, found.input_step = input - found.input;
        ++found.count;
    }
    return found;
}

// `a` and `w` begin at the first channel; a step leads to the next one.
template <class A, class W>
__device__ double sum_of_taps(const A* a, const W* w, i64 channels, i64 a_step, i64 w_step, const Taps* taps,
                              const View& va, const View& vw) {
    i64 a_steps[3], w_steps[3];
    for (int d = 0; d < 3; ++d) {
        a += taps[d].input * va.stride[2 + d], w += taps[d].kernel * vw.stride[2 + d];
        a_steps[d] = taps[d].input_step * va.stride[2 + d], w_steps[d] = taps[d].kernel_step * vw.stride[2 + d];
    }
    double sum = 0;
    for (i64 c = 0; c < channels; ++c)
        for (i64 x = 0; x < taps[0].count; ++x)
            for (i64 y = 0; y < taps[1].count; ++y) {
                const A* p = a + c * a_step + x * a_steps[0] + y * a_steps[1];
                const W* q = w + c * w_step + x * w_steps[0] + y * w_steps[1];
                for (i64 z = 0; z < taps[2].count; ++z) sum += (double)p[z * a_steps[2]] * (double)q[z * w_steps[2]];
            }
    return sum;
}

template <class R, class A, class W>
__global__ void convolution(i64 count, R* out, const A* a, const W* w, Window s, View va, View vw) {
    i64 i = THREAD;
    if (i >= count) return;
    R* to = out + i;
    Taps met[3];
    for (int d = 2; d >= 0; --d) met[d] = taps(s, d, i % s.to[d]), i /= s.to[d];
    const i64 channel = i % s.out, batch = i / s.out;
    const i64 in = s.in / s.groups, group = channel / (s.out / s.groups);
    a += va.offset + batch * va.stride[0] + group * in * va.stride[1];
    w += vw.offset + channel * vw.stride[0];
    *to = (R)sum_of_taps(a, w, in, va.stride[1], vw.stride[1], met, va, vw);
}

template <class R, class A, class W>
__global__ void transposed_convolution(i64 count, R* out, const A* a, const W* w, Window s, View va, View vw) {
    i64 i = THREAD;
    if (i >= count) return;
    R* to = out + i;
    Taps met[3];
    for (int d = 2; d >= 0; --d) met[d] = transposed_taps(s, d, i % s.to[d]), i /= s.to[d];
    const i64 channel = i % s.out, batch = i / s.out;
    const i64 in = s.in / s.groups, each = s.out / s.groups, group = channel / each;
    a += va.offset + batch * va.stride[0] + group * in * va.stride[1];
    w += vw.offset + group * in * vw.stride[0] + channel % each * vw.stride[1];
    *to = (R)sum_of_taps(a, w, in, va.stride[1], vw.stride[0], met, va, vw);
}

// `divisor` 0: by what lies inside; -1: by what lies inside with the padding; else by itself.
template <bool largest, class R, class A>
__global__ void pool(i64 count, R* out, const A* a, Window s, View va, i64 divisor) {
    i64 i = THREAD;
    if (i >= count) return;
    R* to = out + i;
    Taps met[3];
    i64 padded = 1;
    for (int d = 2; d >= 0; --d) {
        const i64 at = i % s.to[d], begin = at * s.stride[d] - s.padding[d];
        i64 end = begin + s.kernel[d];
        if (end > s.from[d] + s.padding[d]) end = s.from[d] + s.padding[d];
        padded *= end - begin;
        met[d] = taps(s, d, at), i /= s.to[d];
    }
    a += va.offset + i / s.in * va.stride[0] + i % s.in * va.stride[1];
    double found = 0;
    bool any = false;
    for (i64 x = 0; x < met[0].count; ++x)
        for (i64 y = 0; y < met[1].count; ++y)
            for (i64 z = 0; z < met[2].count; ++z) {
                const double value = (double)a[(met[0].input + x * met[0].input_step) * va.stride[2] +
                                               (met[1].input + y * met[1].input_step) * va.stride[3] +
                                               (met[2].input + z * met[2].input_step) * va.stride[4]];
                if (!largest)
                    found += value;
                else if (!any || value > found || value != value)
                    found = value;
                any = true;
            }
    const i64 inside = met[0].count * met[1].count * met[2].count;
    if (!largest) found /= (double)(divisor > 0 ? divisor : divisor < 0 ? padded : inside);
    *to = (R)found;
}

// Sums or products up to each place of a line.
template <bool product, class R, class A>
__global__ void scan(i64 count, R* out, const A* a, i64 length, i64 inner, Shape lines, View va, i64 step) {
    const i64 i = THREAD;
    if (i >= count) return;
    const A* from = a + place(lines, va, i);
    R* to = out + i / inner * inner * length + i % inner;
    double all = product ? 1 : 0;
    for (i64 at = 0; at < length; ++at) {
        const double value = (double)from[at * step];
        all = product ? all * value : all + value;
        to[at * inner] = (R)all;
    }
}

// out[i] = a[where `va` says, and `index[i]` steps further]
template <class R, class A, class I>
__global__ void gather(i64 count, R* out, const A* a, const I* index, Shape shape, View va, View vindex, i64 step,
                       i64 size) {
    const i64 i = THREAD;
    if (i >= count) return;
    i64 at = (i64)index[place(shape, vindex, i)];
    if (at < 0) at += size;
    out[i] = a[place(shape, va, i) + at * step];
}

struct F0 {
    __device__ static float of(float a, float b) { return a + b; }
};
struct F1 {
    __device__ static float of(float a) { return 1 / (1 + exp(-a)); }
};
struct F2 {
    __device__ static float of(float a, float b) { return a * b; }
};

static void size_0(const float* scale, const float* conv_weight, const float* conv_bias, const float* x, float* out0) {
    char* s = scratch(12288);
    LAUNCH(1024LL, (convolution<float, float, float>), (float*)(s + 0), (float*)(x), (float*)(conv_weight), Window{8, 8, 8, 1, {1, 6, 6}, {1, 4, 4}, {1, 3, 3}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}}, View{0, {288, 36, 0, 6, 1}}, View{0, {72, 9, 0, 3, 1}});
    LAUNCH(1024LL, (map2<F0, float, float, float>), (float*)(s + 4096), (float*)(s + 0), (float*)(conv_bias), Shape{3, {8, 8, 16}}, View{0, {128, 16, 1}}, View{0, {0, 1, 0}});
    LAUNCH(1024LL, (map1<F1, float, float>), (float*)(s + 0), (float*)(s + 4096), Shape{1, {1024}}, View{0, {1}});
    LAUNCH(1024LL, (map2<F2, float, float, float>), (float*)(s + 8192), (float*)(s + 4096), (float*)(s + 0), Shape{1, {1024}}, View{0, {1}}, View{0, {1}});
    LAUNCH(1024LL, (map2<F2, float, float, float>), (float*)(s + 0), (float*)(s + 8192), (float*)(scale), Shape{3, {8, 8, 16}}, View{0, {128, 16, 1}}, View{0, {0, 1, 0}});
    LAUNCH(64LL, (reduce_parts<Mean, float>), (Mean*)(s + 4352), (float*)(s + 0), 1LL, 16LL, Shape{1, {64}}, View{0, {16}}, Shape{1, {16}}, View{0, {1}});
    LAUNCH(64LL, (reduce_join<Mean, float>), (float*)(s + 4096), (Mean*)(s + 4352), 1LL, 16LL);
    LAUNCH(64LL, (copy_into<float, float>), (float*)(out0), (float*)(s + 4096), Shape{1, {64}}, View{0, {1}}, View{0, {1}});
}

static void size_1(const float* scale, const float* conv_weight, const float* conv_bias, const float* x, float* out0) {
    char* s = scratch(38400);
    LAUNCH(3168LL, (convolution<float, float, float>), (float*)(s + 0), (float*)(x), (float*)(conv_weight), Window{11, 8, 8, 1, {1, 8, 8}, {1, 6, 6}, {1, 3, 3}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}}, View{0, {512, 64, 0, 8, 1}}, View{0, {72, 9, 0, 3, 1}});
    LAUNCH(3168LL, (map2<F0, float, float, float>), (float*)(s + 12800), (float*)(s + 0), (float*)(conv_bias), Shape{3, {11, 8, 36}}, View{0, {288, 36, 1}}, View{0, {0, 1, 0}});
    LAUNCH(3168LL, (map1<F1, float, float>), (float*)(s + 0), (float*)(s + 12800), Shape{1, {3168}}, View{0, {1}});
    LAUNCH(3168LL, (map2<F2, float, float, float>), (float*)(s + 25600), (float*)(s + 12800), (float*)(s + 0), Shape{1, {3168}}, View{0, {1}}, View{0, {1}});
    LAUNCH(3168LL, (map2<F2, float, float, float>), (float*)(s + 0), (float*)(s + 25600), (float*)(scale), Shape{3, {11, 8, 36}}, View{0, {288, 36, 1}}, View{0, {0, 1, 0}});
    LAUNCH(88LL, (reduce_parts<Mean, float>), (Mean*)(s + 13312), (float*)(s + 0), 1LL, 36LL, Shape{1, {88}}, View{0, {36}}, Shape{1, {36}}, View{0, {1}});
    LAUNCH(88LL, (reduce_join<Mean, float>), (float*)(s + 12800), (Mean*)(s + 13312), 1LL, 36LL);
    LAUNCH(88LL, (copy_into<float, float>), (float*)(out0), (float*)(s + 12800), Shape{1, {88}}, View{0, {1}}, View{0, {1}});
}

extern "C" void reference(const float* scale, const float* conv_weight, const float* conv_bias, const float* x, float* out0, int size) {
    if (size == 0) size_0(scale, conv_weight, conv_bias, x, out0);
    if (size == 1) size_1(scale, conv_weight, conv_bias, x, out0);
}
