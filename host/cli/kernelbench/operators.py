"""Each operator of ATen that a reference can be made of."""

import math
import operator

import torch

from emit import TYPES, Emitter, Memory, Value, collapsed, layout_of, shape_text, view_text
from expressions import BINARY, COMPARISONS, UNARY, literal, literal_argument, promoted, substituted
from source import Unsupported

aten = torch.ops.aten

# Operators whose result is the same memory seen otherwise.
VIEWS = {
    "view", "_unsafe_view", "permute", "transpose", "t", "expand", "slice", "select", "unsqueeze", "squeeze", "alias",
    "detach", "split", "split_with_sizes", "unbind", "diagonal", "as_strided", "narrow", "unfold", "reshape", "chunk",
    "view_as", "expand_as", "movedim",
}
SAME = {"clone", "lift_fresh_copy", "lift_fresh", "contiguous"}

REDUCTIONS = {"sum": "Sum", "mean": "Mean", "prod": "Product", "amax": "Extreme<1, false>", "amin": "Extreme<-1, false>"}
ARGUMENTS = {"argmax": "Extreme<1, true>", "argmin": "Extreme<-1, true>"}


class Translator(Emitter):
    """Takes a graph's nodes in their order."""

    def run(self, graph, names):
        """`names` are the arguments of the function, in the order of the graph's (None: it has none); gives its results."""
        self.graph, self.values, names = graph, {}, iter(names)
        nodes = list(graph.graph.nodes)
        for self.step, node in enumerate(nodes):
            if node.op == "placeholder":
                memory = Memory(next(names) or "nullptr")
                fake = node.meta["val"]
                self.values[node] = Value(memory, like(fake))
                if not self.values[node].layout.is_contiguous():
                    raise Unsupported("an argument of the module is not contiguous")
            elif node.op == "get_attr":
                self.values[node] = self.constant(node)
            elif node.op == "call_function":
                self.values[node] = self.call(node)
                for used in node.all_input_nodes:
                    self.touch(used)
            elif node.op == "output":
                return [self.values[value] for value in node.args[0]]
        raise Unsupported("it returns nothing")

    def touch(self, node):
        value = self.values.get(node)
        for one in value if isinstance(value, (tuple, list)) else [value]:
            if isinstance(one, Value):
                one.memory.last = self.step

    def constant(self, node):
        tensor = getattr(self.graph, node.target)
        if tensor.numel() != 1:
            raise Unsupported(f"its module holds a constant tensor of {tensor.numel()} elements")
        return self.full(tensor, tensor.item())

    def full(self, fake, number):
        out = self.new(fake)
        number = int(number) if isinstance(number, bool) else number
        self.launch(out.layout.numel(), f"fill<{out.type}>", self.pointer(out), literal_argument(number, out.type))
        return out

    def call(self, node):
        if node.target is operator.getitem:
            return self.values[node.args[0]][node.args[1]]
        name = node.target.overloadpacket.__name__
        self.node, self.fake = node, node.meta.get("val")
        args = [self.argument(arg) for arg in node.args]
        kwargs = {key: self.argument(arg) for key, arg in node.kwargs.items()}
        if name in VIEWS:
            return self.view(node, args, kwargs)
        if name in SAME:
            return args[0]
        special = getattr(self, f"op_{name}", None)
        if special:
            return special(*args, **kwargs)
        if name in UNARY:
            return self.numbers(UNARY[name], args[:1], args[0].layout.dtype if name in ("isnan", "logical_not") else None)
        if name in BINARY:
            return self.numbers(BINARY[name], args[:2])
        if name in COMPARISONS:
            return self.numbers(f"a {COMPARISONS[name]} b", args[:2], promoted(args[:2]))
        if name in REDUCTIONS:
            dimensions = args[1] if len(args) > 1 and isinstance(args[1], (int, list, tuple)) else kwargs.get("dim")
            dimensions = [dimensions] if isinstance(dimensions, int) else dimensions
            return self.reduce(REDUCTIONS[name], args[0], dimensions, self.fake)
        if name in ARGUMENTS:
            dimension = args[1] if len(args) > 1 else kwargs.get("dim")
            return self.reduce(ARGUMENTS[name], args[0], None if dimension is None else [dimension], self.fake)
        raise Unsupported(f"no reference is made for aten.{name}")

    def argument(self, arg):
        if isinstance(arg, torch.fx.Node):
            return self.values[arg]
        if isinstance(arg, (list, tuple)):
            return [self.argument(one) for one in arg]
        return arg

    def view(self, node, args, kwargs):
        """The layout is what the operator makes of a tensor that has none but a layout."""
        value, meta = args[0], lambda arg: arg.layout if isinstance(arg, Value) else arg
        for attempt in (value, None):
            if attempt is None:
                attempt = self.contiguous(value)
            try:
                found = node.target(attempt.layout, *map(meta, args[1:]), **kwargs)
            except RuntimeError:
                continue
            if isinstance(found, (tuple, list)):
                return [Value(attempt.memory, one) for one in found]
            return Value(attempt.memory, found)
        raise Unsupported(f"{node.target} of such a tensor")

    def numbers(self, expression, operands, compute=None, fake=None):
        """An element-wise operator over tensors and numbers."""
        fake = self.fake if fake is None else fake
        kind = TYPES.get(compute or fake.dtype, "float")
        tensors, letters = [], {}
        for letter, operand in zip("abc", operands):
            if isinstance(operand, Value):
                letters[letter] = "abc"[len(tensors)]
                tensors.append(operand)
            else:
                letters[letter] = literal(operand, kind)
        text = "".join(substituted(expression, letters)).strip()
        if not tensors:
            raise Unsupported("an operator over numbers alone")
        return self.elementwise(text, tensors, fake, compute)

    # Arithmetic.

    def op_add(self, a, b, alpha=1):
        return self.numbers("a + b" if alpha == 1 else f"a + {literal(alpha, self.kind())} * b", [a, b])

    def op_sub(self, a, b, alpha=1):
        return self.numbers("a - b" if alpha == 1 else f"a - {literal(alpha, self.kind())} * b", [a, b])

    def kind(self):
        return TYPES.get(self.fake.dtype, "float")

    def op_div(self, a, b, rounding_mode=None):
        text = {None: "a / b", "floor": "floor(a / b)", "trunc": "trunc(a / b)"}[rounding_mode]
        return self.numbers(text, [a, b])

    def op_pow(self, a, b):
        if isinstance(b, (int, float)) and b in (2, 3):
            return self.numbers({2: "a * a", 3: "a * a * a"}[int(b)], [a])
        return self.numbers("pow(a, b)", [a, b])

    def op_remainder(self, a, b):
        return self.numbers("a - floor(a / b) * b" if self.fake.dtype.is_floating_point else "(a % b + b) % b", [a, b])

    def op_fmod(self, a, b):
        return self.numbers("fmod(a, b)", [a, b])

    def op_gelu(self, a, approximate="none"):
        if approximate == "tanh":
            inner = "tanh(0.7978845608028654f * (a + 0.044715f * a * a * a))"
            return self.numbers(f"0.5f * a * (1 + {inner})", [a])
        return self.numbers("0.5f * a * (1 + erf(a * 0.7071067811865476f))", [a])

    def op_clamp(self, a, min=None, max=None):
        return self.clamped(a, min, max)

    op_clamp_min = lambda self, a, low: self.clamped(a, low, None)
    op_clamp_max = lambda self, a, high: self.clamped(a, None, high)

    def clamped(self, a, low, high):
        if low is not None and high is not None:
            return self.numbers("a < b ? b : a > c ? c : a", [a, low, high])
        if low is not None:
            return self.numbers("a < b ? b : a", [a, low])
        return self.numbers("a > b ? b : a", [a, high])

    def op_where(self, condition, a, b):
        if self.fake.dtype.is_floating_point or self.fake.dtype == torch.bool:
            return self.numbers("a != 0 ? b : c", [condition, a, b])
        return self.numbers("a ? b : c", [condition, a, b])

    def op__to_copy(self, a, dtype=None, **_):
        if dtype is None or dtype == a.layout.dtype:
            return a
        if dtype == torch.bool:
            return self.numbers("a != 0", [a], a.layout.dtype)
        return self.numbers("a", [a], a.layout.dtype)

    def op_convert_element_type(self, a, dtype):
        return self.op__to_copy(a, dtype)

    # Tensors from nothing.

    def op_full(self, size, number, **_):
        return self.full(self.fake, number)

    def op_full_like(self, like, number, **_):
        return self.full(self.fake, number)

    def op_scalar_tensor(self, number, **_):
        return self.full(self.fake, number)

    op_zeros = op_zeros_like = op_new_zeros = lambda self, *_, **__: self.full(self.fake, 0)
    op_ones = op_ones_like = op_new_ones = lambda self, *_, **__: self.full(self.fake, 1)
    op_empty = op_empty_like = op_new_empty = lambda self, *_, **__: self.full(self.fake, 0)
    op_new_full = lambda self, _, size, number, **__: self.full(self.fake, number)

    def op_arange(self, *args, **_):
        begin, end, step = (*args, 1)[:3] if len(args) > 1 else (0, args[0], 1)
        return self.counted(begin, step)

    def op_iota(self, length, start=0, step=1, **_):
        return self.counted(start, step)

    def counted(self, begin, step):
        out = self.new(self.fake)
        self.launch(out.layout.numel(), f"range<{out.type}>", self.pointer(out), literal(begin, "double"),
                    literal(step, "double"))
        return out

    # Parts of tensors.

    def op_cat(self, tensors, dim=0):
        tensors = [value for value in tensors if value.layout.numel()]
        out, begin = self.new(self.fake), 0
        dim %= out.layout.dim()
        for value in tensors:
            length = value.layout.shape[dim]
            self.copy_into(out, out.layout.narrow(dim, begin, length), value)
            begin += length
        return out

    def op_constant_pad_nd(self, a, pad, value=0):
        out = self.full(self.fake, value)
        to, source = out.layout, a.layout
        for at in range(len(pad) // 2):
            d = source.dim() - 1 - at
            before, after = pad[2 * at], pad[2 * at + 1]
            if before < 0:
                source = source.narrow(d, -before, source.shape[d] + before)
            if after < 0:
                source = source.narrow(d, 0, source.shape[d] + after)
            to = to.narrow(d, max(before, 0), source.shape[d])
        self.copy_into(out, to, Value(a.memory, source))
        return out

    def op_flip(self, a, dims):
        offset, strides = layout_of(a.layout)
        for d in dims:
            offset += (a.layout.shape[d] - 1) * strides[d]
            strides[d] = -strides[d]
        out = self.new(self.fake)
        shape, [view] = collapsed(list(a.layout.shape), [(offset, strides)])
        name = self.function("a", 1, out.type, False)
        self.launch(out.layout.numel(), f"map1<{name}, {out.type}, {a.type}>", self.pointer(out), self.pointer(a),
                    shape_text(shape), view_text(view))
        return out

    def scattered(self, a, source, part):
        out = self.new(self.fake)
        self.copy_into(out, out.layout, a)
        self.copy_into(out, part(out.layout), source)
        return out

    def op_slice_scatter(self, a, source, dim=0, start=None, end=None, step=1):
        return self.scattered(a, source, lambda whole: aten.slice(whole, dim, start, end, step))

    def op_select_scatter(self, a, source, dim, index):
        return self.scattered(a, source, lambda whole: whole.select(dim, index))

    def op_copy(self, a, source, *_):
        out = self.new(self.fake)
        self.copy_into(out, out.layout, source)
        return out

    def op_gather(self, a, dim, index, **_):
        layout = a.layout
        dim %= layout.dim()
        strides = list(layout.stride())
        step, strides[dim] = strides[dim], 0
        return self.gathered(a, index, list(index.layout.shape), (layout.storage_offset(), strides),
                             layout_of(index.layout), step, layout.shape[dim])

    def op_embedding(self, weight, indices, *_):
        return self.indexed(weight, 0, indices)

    def op_index_select(self, a, dim, index):
        return self.indexed(a, dim % a.layout.dim(), index)

    def op_index(self, a, indices):
        given = [(d, index) for d, index in enumerate(indices) if index is not None]
        if len(given) != 1 or given[0][1].layout.dtype == torch.bool:
            raise Unsupported("it indexes by several tensors, or by a mask")
        return self.indexed(a, *given[0])

    def indexed(self, a, dim, index):
        layout, strides = a.layout, list(a.layout.stride())
        extra = index.layout.dim()
        rest = layout.dim() - dim - 1
        view = strides[:dim] + [0] * extra + strides[dim + 1 :]
        where = [0] * dim + list(index.layout.stride()) + [0] * rest
        shape = list(layout.shape[:dim]) + list(index.layout.shape) + list(layout.shape[dim + 1 :])
        return self.gathered(a, index, shape, (layout.storage_offset(), view), (index.layout.storage_offset(), where),
                             strides[dim], layout.shape[dim])

    def gathered(self, a, index, shape, view, where, step, size):
        out = self.new(self.fake)
        shape, [view, where] = collapsed(shape, [view, where])
        self.launch(out.layout.numel(), f"gather<{out.type}, {a.type}, {index.type}>", self.pointer(out), self.pointer(a),
                    self.pointer(index), shape_text(shape), view_text(view), view_text(where), step, size)
        return out

    # Reductions with more than one result, and lines.

    def op_max(self, a, dim=None, keepdim=False):
        return self.extreme(a, dim, 1)

    def op_min(self, a, dim=None, keepdim=False):
        return self.extreme(a, dim, -1)

    def extreme(self, a, dim, sign):
        if dim is None:
            return self.reduce(f"Extreme<{sign}, false>", a, None, self.fake)
        return [
            self.reduce(f"Extreme<{sign}, {'true' if place else 'false'}>", a, [dim], fake)
            for place, fake in enumerate(self.fake)
        ]

    def op_any(self, a, dim=None, keepdim=False):
        dimensions = [dim] if isinstance(dim, int) else dim
        return self.reduce("Extreme<1, false>", self.truth(a), dimensions, self.fake)

    def op_all(self, a, dim=None, keepdim=False):
        dimensions = [dim] if isinstance(dim, int) else dim
        return self.reduce("Extreme<-1, false>", self.truth(a), dimensions, self.fake)

    def truth(self, a):
        if a.layout.dtype == torch.bool:
            return a
        return self.numbers("a != 0", [a], a.layout.dtype, a.layout.to(torch.bool))

    def op_var(self, a, dim=None, correction=1, keepdim=False, **_):
        return self.reduce(f"Variance<{less(correction)}>", a, dim, self.fake)

    def op_var_mean(self, a, dim=None, correction=1, keepdim=False, **_):
        variance, mean = self.fake
        return [self.reduce(f"Variance<{less(correction)}>", a, dim, variance), self.reduce("Mean", a, dim, mean)]

    def op_cumsum(self, a, dim, **_):
        return self.scanned(a, dim, "false")

    def op_cumprod(self, a, dim, **_):
        return self.scanned(a, dim, "true")

    def scanned(self, a, dim, product):
        out, layout = self.new(self.fake), a.layout
        if layout.dim() == 0:
            return a
        dim %= layout.dim()
        inner = math.prod(layout.shape[dim + 1 :])
        others = [d for d in range(layout.dim()) if d != dim]
        shape, [view] = collapsed([layout.shape[d] for d in others],
                                  [(layout.storage_offset(), [layout.stride(d) for d in others])])
        length = layout.shape[dim]
        self.launch(out.layout.numel() // max(length, 1), f"scan<{product}, {out.type}, {a.type}>", self.pointer(out),
                    self.pointer(a), length, inner, shape_text(shape), view_text(view), layout.stride(dim))
        return out

    # Products.

    def op_mm(self, a, b):
        return self.product(a, b, (0, *a.layout.stride()), (0, *b.layout.stride()))

    def op_bmm(self, a, b):
        return self.product(a, b, a.layout.stride(), b.layout.stride())

    def product(self, a, b, left, right):
        out = self.new(self.fake)
        rows, inner, columns = a.layout.shape[-2], a.layout.shape[-1], b.layout.shape[-1]
        views = [view_text((value.layout.storage_offset(), list(strides))) for value, strides in ((a, left), (b, right))]
        self.launch(out.layout.numel(), f"matmul<{out.type}, {a.type}, {b.type}>", self.pointer(out), self.pointer(a),
                    self.pointer(b), rows, inner, columns, *views)
        return out

    def op_convolution(self, a, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
        out = self.new(self.fake)
        space = a.layout.dim() - 2
        channels = out.layout.shape[1]
        window = self.window(a, out, channels, groups, weight.layout.shape[2:], stride, padding, dilation)
        kernel = "transposed_convolution" if transposed else "convolution"
        self.launch(out.layout.numel(), f"{kernel}<{out.type}, {a.type}, {weight.type}>", self.pointer(out),
                    self.pointer(a), self.pointer(weight), window, spatial_view(a.layout, space),
                    spatial_view(weight.layout, space))
        if bias is None:
            return out
        wide = Value(bias.memory, bias.layout.view(-1, *[1] * space))
        return self.elementwise("a + b", [out, wide], self.fake)

    def window(self, a, out, channels, groups, kernel, stride, padding, dilation):
        space = a.layout.dim() - 2
        fill = lambda values, with_: [with_] * (3 - space) + list(each(values, space))
        lists = [
            fill(a.layout.shape[2:], 1), fill(out.layout.shape[2:], 1), fill(kernel, 1), fill(stride, 1),
            fill(padding, 0), fill(dilation, 1),
        ]
        text = ", ".join("{" + ", ".join(map(str, values)) + "}" for values in lists)
        return f"Window{{{a.layout.shape[0]}, {a.layout.shape[1]}, {channels}, {groups}, {text}}}"

    def pooled(self, a, fake, kernel, stride, padding, dilation, largest, divisor):
        single = a.layout.dim() == fake.dim() and a.layout.dim() in (2, 3) and len(kernel) == a.layout.dim() - 1
        if single:
            a, fake = Value(a.memory, a.layout.unsqueeze(0)), like(fake).unsqueeze(0)
        out = self.new(fake)
        space = a.layout.dim() - 2
        window = self.window(a, out, a.layout.shape[1], 1, kernel, stride or kernel, padding, dilation)
        self.launch(out.layout.numel(), f"pool<{largest}, {out.type}, {a.type}>", self.pointer(out), self.pointer(a),
                    window, spatial_view(a.layout, space), divisor)
        return Value(out.memory, out.layout.squeeze(0)) if single else out

    def op_max_pool2d_with_indices(self, a, kernel, stride=(), padding=0, dilation=1, ceil_mode=False):
        if any(user.args[1] != 0 for user in self.node.users):
            raise Unsupported("it uses the places of a maximum in a pool")
        return [self.pooled(a, self.fake[0], kernel, stride, padding, dilation, "true", 0), None]

    op_max_pool3d_with_indices = op_max_pool2d_with_indices

    def op_avg_pool2d(self, a, kernel, stride=(), padding=0, ceil_mode=False, count_include_pad=True, divisor=None):
        divisor = divisor if divisor else -1 if count_include_pad else 0
        return self.pooled(a, self.fake, kernel, stride, padding, 1, "false", divisor)

    op_avg_pool1d = op_avg_pool3d = op_avg_pool2d

    def op__adaptive_avg_pool2d(self, a, size):
        space = len(size)
        kernel = []
        for have, want in zip(a.layout.shape[-space:], size):
            if have % want:
                raise Unsupported("an adaptive pool whose windows differ")
            kernel.append(have // want)
        return self.pooled(a, self.fake, kernel, kernel, 0, 1, "false", 0)

    op__adaptive_avg_pool3d = op__adaptive_avg_pool2d


def like(fake):
    return torch.empty_strided(fake.shape, fake.stride(), dtype=fake.dtype, device="meta")


def less(correction):
    correction = 1 if correction is None else correction
    if correction != int(correction):
        raise Unsupported("a variance with a part of a degree of freedom")
    return int(correction)


def each(values, count):
    values = [values] if isinstance(values, int) else list(values)
    return values * count if len(values) == 1 else values


def spatial_view(layout, space):
    strides = list(layout.stride())
    return view_text((layout.storage_offset(), strides[:2] + [0] * (3 - space) + strides[2:]))
