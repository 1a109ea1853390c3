// The part of <algorithm> that kernels use.
#pragma once

namespace std {
template <class T>
__device__ constexpr const T& min(const T& a, const T& b)
{
    return b < a ? b : a;
}

template <class T>
__device__ constexpr const T& max(const T& a, const T& b)
{
    return a < b ? b : a;
}

template <class T>
__device__ constexpr const T& clamp(const T& value, const T& low, const T& high)
{
    return value < low ? low : high < value ? high : value;
}

template <class T>
__device__ constexpr void swap(T& a, T& b)
{
    T kept = static_cast<T&&>(a);
    a = static_cast<T&&>(b);
    b = static_cast<T&&>(kept);
}
}
