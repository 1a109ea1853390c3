// Registers host functions, whatever their parameters are: their types are deduced, and each value of a
// call is turned into one of them.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "record.h"

namespace assay {

// Turns one value into a parameter; specialised for what a stand-in adds.
template <class T, class = void>
struct Take {
    [[noreturn]] static T take(const Call& call, int at) {
        mismatch("parameter %d of `%s` has a type that no argument can be turned into", at + 1, call.entry);
    }
};

template <class T>
struct Take<T*, std::enable_if_t<std::is_object_v<T> || std::is_void_v<T>>> {
    static T* take(const Call& call, int at) {
        const Value& value = call.values[at];
        if (value.kind != Kind::tensor) {
            mismatch("parameter %d of `%s` is a pointer, and %s is given", at + 1, call.entry,
                     name_of(value.kind));
        }
        return static_cast<T*>(value.address);
    }
};

template <class T>
struct Take<T, std::enable_if_t<std::is_arithmetic_v<T>>> {
    static T take(const Call& call, int at) {
        const Value& value = call.values[at];
        if (value.kind == Kind::tensor || value.kind == Kind::absent || value.kind == Kind::list) {
            mismatch("parameter %d of `%s` is a number, and %s is given", at + 1, call.entry, name_of(value.kind));
        }
        const bool real = value.kind == Kind::fp32 || value.kind == Kind::fp64;
        if constexpr (std::is_floating_point_v<T>) {
            return static_cast<T>(real ? value.real : static_cast<double>(value.integer));
        } else {
            if (real) {
                mismatch("parameter %d of `%s` is an integer, and a real number is given", at + 1,
                         call.entry);
            }
            const T converted = static_cast<T>(value.integer);
            const bool negative = std::is_unsigned_v<T> && value.integer < 0;
            if (negative || static_cast<int64_t>(converted) != value.integer) {
                mismatch("parameter %d of `%s` cannot hold %lld", at + 1, call.entry,
                         static_cast<long long>(value.integer));
            }
            return converted;
        }
    }
};

// Hands over what a function returned; specialised for what a stand-in adds. Status codes and the like
// say nothing.
template <class T>
struct Give {
    static void give(const T&) {}
};

template <class R, class... A>
struct Function {
    template <class F, std::size_t... I>
    static void call(const F& function, const Call& call, std::index_sequence<I...>) {
        constexpr int wanted = sizeof...(A);
        if (call.count != wanted) {
            mismatch("`%s` takes %d arguments, and %d are given", call.entry, wanted, call.count);
        }
        std::tuple<std::decay_t<A>...> taken{Take<std::decay_t<A>>::take(call, static_cast<int>(I))...};
        if constexpr (std::is_void_v<R>) {
            function(static_cast<A>(std::get<I>(taken))...);
        } else {
            Give<std::decay_t<R>>::give(function(static_cast<A>(std::get<I>(taken))...));
        }
    }

    template <class F>
    static void invoke(const void* state, const Call& with) {
        call(*static_cast<const F*>(state), with, std::index_sequence_for<A...>{});
    }
};

template <class R, class... A>
void add_function(const char* name, R (*function)(A...)) {
    using Pointer = R (*)(A...);
    add_entry(name, &Function<R, A...>::template invoke<Pointer>, new Pointer(function));
}

template <class F, class R, class... A>
void add_callable(const char* name, const F& callable, R (F::*)(A...) const) {
    add_entry(name, &Function<R, A...>::template invoke<F>, new F(callable));
}

// As a static object: registers a function before `main`.
struct Entry {
    template <class R, class... A>
    Entry(const char* name, R (*function)(A...)) {
        add_function(name, function);
    }
};

}  // namespace assay
