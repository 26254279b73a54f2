# SPDX-License-Identifier: Apache-2.0
"""The kernels of Triton's tutorials, as PTX in the style in which Triton writes it: a block of 4 warps, accesses of
four words under predicates, reductions by shuffles and shared memory, products by mma with ldmatrix and asynchronous
copies. Each is compared with NumPy. Attention is tests/cuda/attention.cu. Needs NumPy."""

import unittest

import numpy
import ptxrun

WARPS = 4
NOTHING = {"max": "0xff800000", "add": "0x00000000"}  # what is read outside: minus infinity, 0


class Text:
    """PTX that grows; registers are counted."""

    def __init__(self):
        self.lines = []
        self.count = 0

    def put(self, line):
        self.lines.append("\t" + line)

    def register(self, operation=None, kind="r"):
        self.count += 1
        name = f"%{kind}{self.count}"
        if operation:
            instruction, operands = operation.split(" ", 1)
            self.put(f"{instruction} {name}, {operands};")
        return name

    def load(self, address, guard, other):
        """Four words; `other` where the guard is false."""
        names = [self.register(f"mov.u32 {other}") for _ in range(4)]
        self.put(f"@{guard} ld.global.v4.b32 {{ {', '.join(names)} }}, [ {address} + 0 ];")
        return names

    def store(self, address, guard, values):
        self.put(f"@{guard} st.global.v4.b32 [ {address} + 0 ], {{ {', '.join(values)} }};")

    def reduce(self, operation, values):
        """Over all threads."""
        value = values[0]
        for other in values[1:]:
            value = self.register(f"{operation}.f32 {value}, {other}")
        for distance in (16, 8, 4, 2, 1):
            other = self.register(f"shfl.sync.bfly.b32 {value}, {distance}, 31, -1")
            value = self.register(f"{operation}.f32 {value}, {other}")
        thread = self.register("mov.u32 %tid.x")
        base = self.register("mov.b32 global_smem")
        warp = self.register(f"bfe.u32 {thread}, 5, 2")
        place = self.register(f"mad.lo.u32 {warp}, 4, {base}")
        lane = self.register(f"and.b32 {thread}, 31")
        first = self.register(f"setp.eq.b32 {lane}, 0", "p")
        self.put("bar.sync 0;")
        self.put(f"@{first} st.shared.b32 [ {place} + 0 ], {value};")
        self.put("bar.sync 0;")
        parts = [self.register() for _ in range(WARPS)]
        self.put(f"ld.shared.v4.b32 {{{', '.join(parts)}}}, [global_smem];")
        value = parts[0]
        for other in parts[1:]:
            value = self.register(f"{operation}.f32 {value}, {other}")
        return value

    def kernel(self, name, pointers, numbers):
        parameters = [f".param .u64 .ptr .global .align 1 {name}_param_{i}" for i in range(pointers)]
        parameters += [f".param .u32 {name}_param_{pointers + i}" for i in range(numbers)]
        parameters += [f".param .u64 .ptr .global .align 1 {name}_param_{pointers + numbers + i}" for i in range(2)]
        loads = [f"\tld.param.b64 %in{i}, [{name}_param_{i}];" for i in range(pointers)]
        loads += [f"\tld.param.b32 %n{i}, [{name}_param_{pointers + i}];" for i in range(numbers)]
        return "\n".join(
            [".version 8.7", ".target sm_80", ".address_size 64", ".extern .shared .align 16 .b8 global_smem[];",
             f".visible .entry {name}(", ",\n".join("\t" + p for p in parameters), ")", f".reqntid {32 * WARPS}", "{",
             f"\t.reg .pred %p<{self.count + 1}>;", f"\t.reg .b32 %r<{self.count + 1}>;",
             f"\t.reg .b64 %rd<{self.count + 1}>;", "\t.reg .b64 %in<8>;", "\t.reg .b32 %n<8>;"]
            + loads + self.lines + ["\tret;", "}", ""])


def place(text, pointer, index):
    return text.register(f"mad.wide.s32 {index}, 4, {pointer}", "rd")


def row_of(text, columns):
    """Of this block: its four columns of this thread, whether they are there, and where they are in the matrix."""
    thread = text.register("mov.u32 %tid.x")
    row = text.register("mov.u32 %ctaid.x")
    column = text.register(f"shl.b32 {thread}, 2")
    guard = text.register(f"setp.lt.s32 {column}, {columns}", "p")
    return column, guard, text.register(f"mad.lo.s32 {row}, {columns}, {column}")


def make_add():
    text = Text()
    block = text.register("mov.u32 %ctaid.x")
    thread = text.register("mov.u32 %tid.x")
    first = text.register(f"mad.lo.u32 {block}, 1024, 0")
    for half in (0, 512):
        offset = text.register(f"mad.lo.u32 {thread}, 4, {half}")
        index = text.register(f"or.b32 {first}, {offset}")
        guard = text.register(f"setp.lt.s32 {index}, %n0", "p")
        x = text.load(place(text, "%in0", index), guard, 0)
        y = text.load(place(text, "%in1", index), guard, 0)
        sums = [text.register(f"add.f32 {a}, {b}") for a, b in zip(x, y)]
        text.store(place(text, "%in2", index), guard, sums)
    return text.kernel("add_kernel", 3, 1)


def make_softmax():
    text = Text()
    _, guard, index = row_of(text, "%n0")
    values = text.load(place(text, "%in1", index), guard, NOTHING["max"])
    most = text.reduce("max", values)
    powers = []
    for value in values:
        less = text.register(f"sub.f32 {value}, {most}")
        scaled = text.register(f"mul.f32 {less}, 0f3FB8AA3B")
        powers.append(text.register(f"ex2.approx.f32 {scaled}"))
    whole = text.reduce("add", powers)
    text.store(place(text, "%in0", index), guard, [text.register(f"div.full.f32 {p}, {whole}") for p in powers])
    return text.kernel("softmax_kernel", 2, 1)


def make_layer_norm():
    text = Text()
    column, guard, index = row_of(text, "%n0")
    values = text.load(place(text, "%in0", index), guard, NOTHING["add"])
    count = text.register("cvt.rn.f32.s32 %n0")
    mean = text.register(f"div.full.f32 {text.reduce('add', values)}, {count}")
    centered = []
    for value in values:
        distance = text.register(f"sub.f32 {value}, {mean}")
        centered.append(text.register(f"selp.f32 {distance}, 0f00000000, {guard}"))
    variance = text.reduce("add", [text.register(f"mul.f32 {c}, {c}") for c in centered])
    variance = text.register(f"div.full.f32 {variance}, {count}")
    variance = text.register(f"add.f32 {variance}, 0f3727C5AC")
    scale = text.register(f"rsqrt.approx.f32 {variance}")
    weight = text.load(place(text, "%in1", column), guard, 0)
    bias = text.load(place(text, "%in2", column), guard, 0)
    out = []
    for c, w, b in zip(centered, weight, bias):
        normal = text.register(f"mul.f32 {c}, {scale}")
        out.append(text.register(f"fma.rn.f32 {normal}, {w}, {b}"))
    text.store(place(text, "%in3", index), guard, out)
    return text.kernel("layer_norm", 4, 1)


def make_dropout():
    """Philox, ten rounds; an element stays if its random number is above 0.5, and is doubled."""
    text = Text()
    block = text.register("mov.u32 %ctaid.x")
    thread = text.register("mov.u32 %tid.x")
    index = text.register(f"mad.lo.u32 {block}, 128, {thread}")
    guard = text.register(f"setp.lt.s32 {index}, %n0", "p")
    value = text.register("mov.u32 0x0")
    text.put(f"@{guard} ld.global.b32 {{ {value} }}, [ {place(text, '%in0', index)} + 0 ];")
    zero = text.register("mov.u32 0x0")
    c, key = [index, zero, zero, zero], ["%n1", zero]
    for _ in range(10):
        high = [text.register(f"mul.hi.u32 {c[2]}, -845247145"), text.register(f"mul.hi.u32 {c[0]}, -766435501")]
        mixed = [text.register(f"xor.b32 {high[0]}, {c[1]}"), text.register(f"xor.b32 {high[1]}, {c[3]}")]
        c = [text.register(f"xor.b32 {mixed[0]}, {key[0]}"), text.register(f"mul.lo.s32 {c[2]}, -845247145"),
             text.register(f"xor.b32 {mixed[1]}, {key[1]}"), text.register(f"mul.lo.s32 {c[0]}, -766435501")]
        key = [text.register(f"add.s32 {key[0]}, -1640531527"), text.register(f"add.s32 {key[1]}, -1150833019")]
    is_negative = text.register(f"setp.lt.s32 {c[0]}, 0", "p")
    flipped = text.register(f"not.b32 {c[0]}")
    number = text.register(f"selp.b32 {flipped}, {c[0]}, {is_negative}")
    number = text.register(f"cvt.rn.f32.s32 {number}")
    number = text.register(f"mul.f32 {number}, 0f30000000")
    stays = text.register(f"setp.gt.f32 {number}, 0f3F000000", "p")
    twice = text.register(f"add.f32 {value}, {value}")
    out = text.register(f"selp.f32 {twice}, 0f00000000, {stays}")
    text.put(f"@{guard} st.global.b32 [ {place(text, '%in1', index)} + 0 ], {{ {out} }};")
    return text.kernel("seeded_dropout", 2, 2)


def make_matmul():
    """c = a * b of f16, square; a block for each 32 by 32 part, a warp for each 16 by 16. Lines of b are columns."""
    text = Text()
    thread = text.register("mov.u32 %tid.x")
    base = text.register("mov.b32 global_smem")
    tile = []
    for side, pointer in (("%ctaid.y", "%in0"), ("%ctaid.x", "%in1")):
        first = text.register(f"mov.u32 {side}")
        line = text.register(f"shr.u32 {thread}, 2")
        line = text.register(f"mad.lo.u32 {first}, 32, {line}")
        piece = text.register(f"and.b32 {thread}, 3")
        piece = text.register(f"shl.b32 {piece}, 3")
        index = text.register(f"mad.lo.s32 {line}, %n0, {piece}")
        tile.append(text.register(f"mad.wide.s32 {index}, 2, {pointer}", "rd"))
    to = text.register(f"shl.b32 {thread}, 4")
    to = text.register(f"add.s32 {base}, {to}")
    warp = text.register(f"shr.u32 {thread}, 5")
    lane = text.register(f"and.b32 {thread}, 31")
    line = text.register(f"and.b32 {lane}, 15")
    half = text.register(f"shr.u32 {lane}, 4")
    part = [text.register(f"shr.u32 {warp}, 1"), text.register(f"and.b32 {warp}, 1")]
    rows = []
    for i, number in enumerate(part):
        row = text.register(f"mad.lo.u32 {number}, 16, {line}")
        row = text.register(f"mad.lo.u32 {row}, 64, {base}")
        row = text.register(f"mad.lo.u32 {half}, 16, {row}")
        rows.append(text.register(f"add.s32 {row}, {i * 2048}"))
    sums = [[text.register("mov.b32 0f00000000") for _ in range(4)] for _ in range(2)]
    k = text.register("mov.u32 0x0")
    text.put("$L__BB0_1:")
    text.put("bar.sync 0;")
    for i in range(2):
        text.put(f"cp.async.cg.shared.global [ {to} + {i * 2048} ], [ {tile[i]} + 0 ], 0x10, 0x10;")
    text.put("cp.async.commit_group;")
    text.put("cp.async.wait_group 0x0;")
    text.put("bar.sync 0;")
    for step in (0, 32):
        a = [text.register() for _ in range(4)]
        b = [text.register() for _ in range(4)]
        for names, row in ((a, rows[0]), (b, rows[1])):
            text.put(f"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{{', '.join(names)}}}, [{row}+{step}];")
        for column in range(2):
            d = ", ".join(sums[column])
            text.put(f"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {{ {d} }}, {{ {', '.join(a)} }}, "
                     f"{{ {b[column]}, {b[column + 2]} }}, {{ {d} }};")
    for pointer in tile:
        text.put(f"add.s64 {pointer}, {pointer}, 64;")
    text.put(f"add.s32 {k}, {k}, 32;")
    more = text.register(f"setp.lt.s32 {k}, %n0", "p")
    text.put(f"@{more} bra $L__BB0_1;")
    row = text.register("mov.u32 %ctaid.y")
    row = text.register(f"mad.lo.u32 {row}, 2, {part[0]}")
    row = text.register(f"shl.b32 {row}, 4")
    row = text.register(f"add.s32 {row}, {text.register(f'shr.u32 {lane}, 2')}")
    column = text.register("mov.u32 %ctaid.x")
    column = text.register(f"mad.lo.u32 {column}, 2, {part[1]}")
    column = text.register(f"shl.b32 {column}, 4")
    pair = text.register(f"and.b32 {lane}, 3")
    column = text.register(f"mad.lo.u32 {pair}, 2, {column}")
    for n in range(2):
        for upper in range(2):
            at = text.register(f"add.s32 {row}, {upper * 8}")
            index = text.register(f"mad.lo.s32 {at}, %n0, {column}")
            address = place(text, "%in2", index)
            d = sums[n][upper * 2:upper * 2 + 2]
            text.put(f"st.global.v2.b32 [ {address} + {n * 32} ], {{ {d[0]}, {d[1]} }};")
    return text.kernel("matmul_kernel", 3, 1)


def philox(index, seed):
    c = [index.astype(numpy.uint64)] + [numpy.zeros(len(index), numpy.uint64)] * 3
    key = [seed, 0]
    word = numpy.uint64(0xffffffff)
    for _ in range(10):
        a, b = c[0] * numpy.uint64(0xd2511f53), c[2] * numpy.uint64(0xcd9e8d57)
        c = [b >> numpy.uint64(32) ^ c[1] ^ numpy.uint64(key[0]), b & word,
             a >> numpy.uint64(32) ^ c[3] ^ numpy.uint64(key[1]), a & word]
        key = [(key[0] + 0x9e3779b9) & 0xffffffff, (key[1] + 0xbb67ae85) & 0xffffffff]
    return c[0].astype(numpy.uint32).view(numpy.int32)


class Tutorials(unittest.TestCase):
    def setUp(self):
        self.random = numpy.random.default_rng(1)

    def numbers(self, *shape):
        return self.random.standard_normal(shape, numpy.float32)

    def run_kernel(self, text, grid, *arguments):
        ptxrun.TritonKernel(text, num_warps=WARPS, shared=4096)[grid](*arguments)

    def test_vector_add(self):
        x, y = self.numbers(5000), self.numbers(5000)
        out = numpy.zeros_like(x)
        self.run_kernel(make_add(), (5,), x, y, out, 5000)
        numpy.testing.assert_array_equal(out, x + y)

    def test_softmax(self):
        x = self.numbers(33, 396)
        out = numpy.zeros_like(x)
        self.run_kernel(make_softmax(), (33,), out, x, 396)
        powers = numpy.exp(x.astype(numpy.float64) - x.max(axis=1, keepdims=True))
        numpy.testing.assert_allclose(out, powers / powers.sum(axis=1, keepdims=True), rtol=2e-6)

    def test_layer_norm(self):
        x, weight, bias = self.numbers(20, 508), self.numbers(508), self.numbers(508)
        out = numpy.zeros_like(x)
        self.run_kernel(make_layer_norm(), (20,), x, weight, bias, out, 508)
        wide = x.astype(numpy.float64)
        normal = (wide - wide.mean(axis=1, keepdims=True)) / numpy.sqrt(wide.var(axis=1, keepdims=True) + 1e-5)
        numpy.testing.assert_allclose(out, normal * weight + bias, atol=2e-5)

    def test_dropout(self):
        x = self.numbers(1000)
        out = numpy.zeros_like(x)
        self.run_kernel(make_dropout(), (8,), x, out, 1000, 123)
        numbers = philox(numpy.arange(1000), 123)
        numbers = numpy.where(numbers < 0, ~numbers, numbers).astype(numpy.float32) * numpy.float32(2.0**-31)
        numpy.testing.assert_array_equal(out, numpy.where(numbers > 0.5, x + x, 0))
        self.assertTrue(400 < numpy.count_nonzero(out) < 600)

    def test_matmul(self):
        a, b = (self.numbers(128, 128).astype(numpy.float16) for _ in range(2))
        out = numpy.zeros((128, 128), numpy.float32)
        self.run_kernel(make_matmul(), (4, 4), a, b, out, 128)
        numpy.testing.assert_allclose(out, a.astype(numpy.float64) @ b.astype(numpy.float64).T, atol=2e-4)


if __name__ == "__main__":
    unittest.main()
