"""A graph of ATen's operators as launches of `reference.h`'s kernels."""

import math

import torch

from source import Unsupported

aten = torch.ops.aten
RANK = 6
TYPES = {
    torch.float32: "float",
    torch.float64: "double",
    torch.int64: "i64",
    torch.int32: "int",
    torch.bool: "ui8",
    torch.uint8: "ui8",
}
# How many threads share one result of a reduction, at most, and over how many elements each at least.
PARTS_MAX = 4096
PART_ELEMENTS = 64


class Value:
    """A tensor of the graph: the memory that it lies in, and how it lies there (a tensor of the device `meta`)."""

    def __init__(self, memory, layout):
        self.memory, self.layout = memory, layout

    @property
    def type(self):
        return TYPES[self.layout.dtype]


class Memory:
    """What an argument or a part of the scratch memory holds."""

    def __init__(self, text=None):
        self.text, self.bytes, self.born, self.last = text, 0, 0, 0


class Emitter:
    """The body of the function of one size; `functions` gathers element-wise functions of all sizes."""

    def __init__(self, functions):
        self.functions, self.lines, self.memories, self.step = functions, [], [], 0

    # Values.

    def new(self, like):
        """A contiguous result with the shape and type of a traced one."""
        layout = torch.empty(like.shape, dtype=like.dtype, device="meta")
        if like.dtype not in TYPES:
            raise Unsupported(f"it computes with {like.dtype}".replace("torch.", ""))
        memory = Memory()
        memory.bytes = layout.numel() * layout.element_size()
        memory.born = memory.last = self.step
        self.memories.append(memory)
        return Value(memory, layout)

    def pointer(self, value, kind=None):
        value.memory.last = self.step
        return (value.memory, kind or value.type)

    def launch(self, count, kernel, *arguments):
        if count:
            self.lines.append((count, kernel, arguments))

    def contiguous(self, value):
        if value.layout.is_contiguous() and value.layout.storage_offset() == 0:
            return value
        return self.elementwise("a", [value], value.layout)

    # Element-wise work.

    def elementwise(self, expression, operands, like, compute=None):
        out = self.new(like)
        kind = TYPES[compute] if compute else out.type
        name = self.function(expression, len(operands), kind, out.layout.dtype == torch.bool)
        layouts = [broadcast(value.layout, like.shape) for value in operands]
        shape, views = collapsed(list(like.shape), layouts)
        types = ", ".join([name, out.type, *[value.type for value in operands]])
        kernel = f"map{len(operands)}<{types}>"
        pointers = [self.pointer(value) for value in operands]
        self.launch(out.layout.numel(), kernel, self.pointer(out), *pointers, shape_text(shape), *map(view_text, views))
        return out

    def function(self, expression, count, kind, is_bool):
        key = (expression, count, kind, is_bool)
        name = self.functions.get(key)
        if name is None:
            name = self.functions[key] = f"F{len(self.functions)}"
        return name

    def copy_into(self, out, layout, value):
        """Copies into a part of `out`, which `layout` describes."""
        shape, views = collapsed(list(layout.shape), [layout_of(layout), broadcast(value.layout, layout.shape)])
        self.launch(layout.numel(), f"copy_into<{out.type}, {value.type}>", self.pointer(out), self.pointer(value),
                    shape_text(shape), *map(view_text, views))

    # Reductions.

    def reduce(self, state, value, dimensions, like):
        layout = value.layout
        rank = layout.dim()
        dimensions = sorted({d % rank for d in dimensions}) if dimensions else list(range(rank))
        kept = [d for d in range(rank) if d not in dimensions]
        pick = lambda which: ([layout.shape[d] for d in which], [layout.stride(d) for d in which])
        kept_shape, kept_stride = pick(kept)
        over_shape, over_stride = pick(dimensions)
        length = math.prod(over_shape)
        out = self.new(like)
        results = out.layout.numel()
        if length == 0:
            raise Unsupported("it reduces over nothing")
        parts = max(1, min(PARTS_MAX, length // PART_ELEMENTS, max(1, (1 << 20) // max(results, 1))))
        found = self.new(torch.empty(results * parts * 4, dtype=torch.float64, device="meta"))
        kept_shape, [kept_view] = collapsed(kept_shape, [(layout.storage_offset(), kept_stride)])
        over_shape, [over_view] = collapsed(over_shape, [(0, over_stride)])
        self.launch(results * parts, f"reduce_parts<{state}, {value.type}>", self.pointer(found, state),
                    self.pointer(value), parts, length, shape_text(kept_shape), view_text(kept_view),
                    shape_text(over_shape), view_text(over_view))
        self.launch(results, f"reduce_join<{state}, {out.type}>", self.pointer(out), self.pointer(found, state), parts,
                    length)
        return out

    # The text.

    def body(self):
        """Lines of C++, and the bytes of scratch memory: places are taken again once nobody reads them."""
        places, total = [], 0
        for memory in sorted((m for m in self.memories if m.text is None), key=lambda m: m.born):
            size = -(-max(memory.bytes, 1) // 256) * 256
            taken = sorted((begin, begin + held) for begin, held, last in places if last >= memory.born)
            at = 0
            for begin, end in taken:
                if begin - at >= size:
                    break
                at = max(at, end)
            places.append((at, size, memory.last))
            memory.text = f"s + {at}"
            total = max(total, at + size)
        lines = []
        for count, kernel, arguments in self.lines:
            text = [argument_text(argument) for argument in arguments]
            lines.append(f"    LAUNCH({count}LL, ({kernel}), {', '.join(text)});")
        return lines, total


def argument_text(argument):
    if isinstance(argument, tuple):
        memory, kind = argument
        return f"({kind}*)({memory.text})"
    return f"{argument}LL" if isinstance(argument, int) else argument


def layout_of(layout):
    return layout.storage_offset(), list(layout.stride())


def broadcast(layout, shape):
    wide = layout.expand(shape)
    return layout_of(wide)


def collapsed(shape, views):
    """The same elements in the same order, in as few dimensions as possible."""
    kept = [d for d in range(len(shape)) if shape[d] != 1]
    sizes, strides = [], [[] for _ in views]
    for d in kept:
        joins = sizes and all(kept_strides[-1] == view[1][d] * shape[d] for kept_strides, view in zip(strides, views))
        if joins:
            sizes[-1] *= shape[d]
            for kept_strides, view in zip(strides, views):
                kept_strides[-1] = view[1][d]
        else:
            sizes.append(shape[d])
            for kept_strides, view in zip(strides, views):
                kept_strides.append(view[1][d])
    if len(sizes) > RANK:
        raise Unsupported(f"it needs {len(sizes)} dimensions at once, {RANK} at most")
    return sizes, [(view[0], kept_strides) for view, kept_strides in zip(views, strides)]


def shape_text(shape):
    return f"Shape{{{len(shape)}, {{{', '.join(map(str, shape))}}}}}"


def view_text(view):
    offset, strides = view
    return f"View{{{offset}, {{{', '.join(map(str, strides))}}}}}"
