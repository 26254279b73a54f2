# SPDX-License-Identifier: Apache-2.0
"""Promises of python/ptxrun.py: results, types, errors, kernels in the style of Triton and tinygrad.
Needs NumPy."""

import ctypes
import unittest

import numpy
import ptxrun

HEAD = ".version 8.7\n.target sm_90a\n.address_size 64\n"

# count, factor, a struct of two whole numbers; what comes out has all of them.
KERNELS = HEAD + """
.visible .global .align 4 .u32 counter;
.visible .entry scale(.param .u64 data, .param .u32 count, .param .f32 factor,
                      .param .align 4 .b8 pair[8])
{
    .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .f32 %f<5>;
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
    mad.lo.s32 %r1, %r2, %r3, %r1;
    ld.param.u32 %r4, [count]; setp.ge.u32 %p, %r1, %r4; @%p ret;
    ld.param.u64 %rd1, [data]; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;
    ld.param.f32 %f1, [factor]; ld.param.u32 %r5, [pair]; ld.param.u32 %r6, [pair+4];
    add.u32 %r5, %r5, %r6; cvt.rn.f32.u32 %f3, %r5;
    ld.global.f32 %f2, [%rd1]; fma.rn.f32 %f2, %f2, %f1, %f3; st.global.f32 [%rd1], %f2;
    atom.global.add.u32 %r7, [counter], 1;
    ret;
}
.visible .entry wild()
{
    .reg .b64 %rd1;
    mov.u64 %rd1, 16;
    st.global.u32 [%rd1], 1;
    ret;
}
"""

# As Triton writes it: sums of 1024 elements by a block of 4 warps, through shared memory.
TRITON = HEAD + """
	// .globl	sum_kernel              // -- Begin function sum_kernel
.extern .shared .align 16 .b8 global_smem[];
                                        // @sum_kernel
.visible .entry sum_kernel(
	.param .u64 .ptr .global .align 1 sum_kernel_param_0,
	.param .u64 .ptr .global .align 1 sum_kernel_param_1,
	.param .u32 sum_kernel_param_2,
	.param .u64 .ptr .global .align 1 sum_kernel_param_3,
	.param .u64 .ptr .global .align 1 sum_kernel_param_4
)
.reqntid 128
{
	.reg .pred 	%p<4>;
	.reg .b32 	%r<20>;
	.reg .b64 	%rd<8>;
	ld.param.b64 	%rd1, [sum_kernel_param_0];
	ld.param.b64 	%rd2, [sum_kernel_param_1];
	ld.param.b32 	%r1, [sum_kernel_param_2];
	mov.u32 	%r2, %ctaid.x;
	mov.u32 	%r3, %tid.x;
	shl.b32 	%r4, %r2, 7;
	or.b32 	%r5, %r4, %r3;
	setp.lt.s32 	%p1, %r5, %r1;
	mad.wide.s32 	%rd3, %r5, 4, %rd1;
	// begin inline asm
	mov.u32 %r6, 0x0;
	@%p1 ld.global.b32 { %r6 }, [ %rd3 + 0 ];
	// end inline asm
	shfl.sync.bfly.b32 	%r7, %r6, 16, 31, -1;
	add.f32 	%r8, %r6, %r7;
	shfl.sync.bfly.b32 	%r9, %r8, 8, 31, -1;
	add.f32 	%r10, %r8, %r9;
	shfl.sync.bfly.b32 	%r11, %r10, 4, 31, -1;
	add.f32 	%r12, %r10, %r11;
	shfl.sync.bfly.b32 	%r13, %r12, 2, 31, -1;
	add.f32 	%r14, %r12, %r13;
	shfl.sync.bfly.b32 	%r15, %r14, 1, 31, -1;
	add.f32 	%r16, %r14, %r15;
	shr.u32 	%r17, %r3, 5;
	shl.b32 	%r18, %r17, 2;
	mov.b32 	%r19, global_smem;
	add.s32 	%r18, %r19, %r18;
	and.b32 	%r17, %r3, 31;
	setp.eq.b32 	%p2, %r17, 0;
	@%p2 st.shared.b32 [ %r18 + 0 ], %r16;
	bar.sync 	0;
	ld.shared.v4.b32 	{%r4, %r5, %r6, %r7}, [global_smem];
	add.f32 	%r4, %r4, %r5;
	add.f32 	%r6, %r6, %r7;
	add.f32 	%r4, %r4, %r6;
	setp.eq.b32 	%p3, %r3, 0;
	mad.wide.s32 	%rd4, %r2, 4, %rd2;
	@%p3 st.global.b32 [ %rd4 + 0 ], { %r4 };
	ret;
                                        // -- End function
}
"""

# As tinygrad writes it.
TINYGRAD = """.version 7.5
.target sm_80
.address_size 64
.visible .entry E_4_4(
	.param .u64 data0,
	.param .u64 data1,
	.param .u32 offset
)
{
.reg .u32 %gidx<1>; .reg .s32 %val<4>; .reg .u64 %dat<2>; .reg .s64 %alu<1>; .reg .s32 %lidx<1>;
	ld.param.u64	%dat0, [data0+0];
	ld.param.u64	%dat1, [data1+0];
	ld.param.s32	%val2, [offset+0];
	mov.u32	%gidx0, %ctaid.x;
	mov.s32	%lidx0, %tid.x;
	mad.lo.s32	%lidx0, %gidx0, 4, %lidx0;
	mul.wide.s32	%alu0, %lidx0, 4;
	add.s64	%dat1, %dat1, %alu0;
	add.s64	%dat0, %dat0, %alu0;
	ld.global.s32	%val0, [%dat1+0];
	add.s32	%val1, %val0, %val2;
	st.global.s32	[%dat0+0], %val1;
	ret;
}
"""


class Pair(ctypes.Structure):
    _fields_ = [("first", ctypes.c_uint32), ("second", ctypes.c_uint32)]


class Binding(unittest.TestCase):
    def setUp(self):
        self.module = ptxrun.Module(KERNELS)
        self.scale = self.module.kernel("scale")
        self.data = numpy.arange(1000, dtype=numpy.float32)

    def test_results(self):
        self.scale[(4,), 256](self.data, 1000, 2.0, Pair(3, 4))
        numpy.testing.assert_array_equal(self.data, numpy.arange(1000) * 2 + 7)
        counter = numpy.frombuffer(self.module.variable("counter"), numpy.uint32)
        self.assertEqual(counter[0], 1000)
        self.assertEqual(self.module.kernel_names(), ["scale", "wild"])

    def test_numbers_of_numpy_have_types(self):
        self.scale[4, 256](self.data, numpy.int32(10), numpy.float32(1), bytes(8))
        for count in (numpy.int64(10), numpy.float32(10), 10.0, "10", None, 1 << 32):
            with self.assertRaises((TypeError, OverflowError)):
                self.scale[4, 256](self.data, count, 1.0, bytes(8))
        for factor in (numpy.float64(1), numpy.int32(1)):
            with self.assertRaises(TypeError):
                self.scale[4, 256](self.data, 10, factor, bytes(8))
        for pair in (1, bytes(7)):
            with self.assertRaises(TypeError):
                self.scale[4, 256](self.data, 10, 1.0, pair)
        self.assertEqual(self.data[999], 999)

    def test_arrays_that_kernels_cannot_use(self):
        frozen = self.data.copy()
        frozen.flags.writeable = False
        for data in (frozen, self.data[::2], [1.0, 2.0]):
            with self.assertRaises(TypeError):
                self.scale[1, 32](data, 4, 1.0, bytes(8))
        with self.assertRaises(TypeError):
            self.scale[1, 32](self.data, self.data, 1.0, bytes(8))

    def test_shapes_and_numbers_of_arguments(self):
        with self.assertRaisesRegex(TypeError, "takes 4 arguments, not 1"):
            self.scale[1, 32](self.data)
        for grid in ((1, 1, 1, 1), 1.5, ()):
            with self.assertRaises(TypeError):
                self.scale[grid, 32](self.data, 1, 1.0, bytes(8))
        with self.assertRaises(ptxrun.Error) as caught:
            self.scale[1, 2048](self.data, 1, 1.0, bytes(8))
        self.assertEqual(caught.exception.status, "out of resources")

    def test_errors_of_the_library(self):
        with self.assertRaises(ptxrun.Error) as caught:
            ptxrun.Module(HEAD + ".bad x;\n")
        self.assertEqual((caught.exception.status, caught.exception.ptx_line), ("bad input", 4))
        with self.assertRaisesRegex(ptxrun.Error, "no kernel 'other'"):
            self.module.kernel("other")
        with self.assertRaises(ptxrun.Error) as caught:
            self.module.kernel("wild")[1, 1]()
        self.assertEqual(caught.exception.status, "kernel fault")
        with self.assertRaises(ptxrun.Error):
            ptxrun.Module(path="/nowhere.ptx")
        self.scale[1, 32](self.data, 4, 1.0, bytes(8))

    def test_closed_module(self):
        self.module.close()
        self.module.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            self.scale[1, 32](self.data, 4, 1.0, bytes(8))

    def test_triton(self):
        data = numpy.arange(1000, dtype=numpy.float32)
        out = numpy.zeros(8, numpy.float32)
        kernel = ptxrun.TritonKernel(TRITON, num_warps=4, shared=65536)
        kernel[(8,)](data, out, 1000)
        padded = numpy.zeros(1024, numpy.float32)
        padded[:1000] = data
        numpy.testing.assert_array_equal(out, padded.reshape(8, 128).sum(axis=1))
        with self.assertRaisesRegex(ValueError, "wants 128 threads"):
            ptxrun.TritonKernel(TRITON, num_warps=8)
        with self.assertRaisesRegex(TypeError, "takes 5 arguments"):
            kernel[(8,)](data)

    def test_tinygrad(self):
        data, out = numpy.arange(16, dtype=numpy.int32), numpy.zeros(16, numpy.int32)
        program = ptxrun.TinygradProgram("E_4_4", TINYGRAD.encode())
        seconds = program(out, data, global_size=(4, 1, 1), local_size=(4, 1, 1), vals=(-5,), wait=True)
        numpy.testing.assert_array_equal(out, data - 5)
        self.assertGreater(seconds, 0)
        with self.assertRaises(ptxrun.Error):
            ptxrun.TinygradProgram("bad", b".bad")()


if __name__ == "__main__":
    unittest.main()
