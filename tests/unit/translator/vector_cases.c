/* SPDX-License-Identifier: Apache-2.0
 *
 * See vector_cases.h.
 */
#include "vector_cases.h"

const struct vector_type vector_types[] = {
    {"1", "i1", "i1", 1, 1, 0},
    {"8", "i8", "i8", 1, 1, 0},
    {"16", "i16", "i16", 2, 1, 0},
    {"32", "i32", "i32", 4, 1, 0},
    {"64", "i64", "i64", 8, 1, 0},
    {"h", "half", "f16", 2, 1, 5},
    {"b", "bfloat", "bf16", 2, 1, 8},
    {"f", "float", "f32", 4, 1, 8},
    {"d", "double", "f64", 8, 1, 11},
    {"p", "ptr", "p0", 8, 1, 0},
    {"v32", "<2 x i32>", "v2i32", 4, 2, 0},
    {"v64", "<2 x i64>", "v2i64", 8, 2, 0},
    {"v16", "<4 x i16>", "v4i16", 2, 4, 0},
    {"v8", "<16 x i8>", "v16i8", 1, 16, 0},
    {"vf", "<4 x float>", "v4f32", 4, 4, 8},
    {"vh", "<2 x half>", "v2f16", 2, 2, 5},
    {"v1", "<4 x i1>", "v4i1", 1, 1, 0},
    {"128", "i128", "i128", 16, 1, 0},
};

#define INTS   "8 16 32 64"
#define FLOATS "h f d"

/* Threads from the 11th of a row on. */
#define FROM_10  "%m = icmp ugt i32 %i, 10"
#define NON_ZERO "%m = icmp ne $T $b, 0"
#define DIVIDES  "%n0 = icmp ne $T $b, 0\n %n1 = icmp ne $T $b, -1\n %m = and i1 %n0, %n1"

const struct vector_case vector_cases[] = {
    /* arithmetic */
    {INTS " v32 128", NULL, "%r = add $T $a, $b", NULL},
    {INTS " v32 128", NULL, "%r = sub $T $a, $b", NULL},
    {INTS " v32", NULL, "%r = mul $T $a, $b", NULL},
    {INTS " 1 v32 v8 v1", NULL, "%r = and $T $a, $b", NULL},
    {INTS " 1 v32 v8 v1", NULL, "%r = or $T $a, $b", NULL},
    {INTS " 1 v32 v8 v1", NULL, "%r = xor $T $a, $b", NULL},
    {"8 16 32 64", NULL, "%s = and $T $b, 7\n %r = shl $T $a, %s", NULL},
    {"8 16 32 64", NULL, "%s = and $T $b, 7\n %r = lshr $T $a, %s", NULL},
    {"8 16 32 64", NULL, "%s = and $T $b, 7\n %r = ashr $T $a, %s", NULL},
    {INTS, NULL, "%r = udiv $T $a, $b", NON_ZERO},
    {INTS, NULL, "%r = urem $T $a, $b", NON_ZERO},
    {INTS, NULL, "%r = sdiv $T $a, $b", DIVIDES},
    {INTS, NULL, "%r = srem $T $a, $b", DIVIDES},
    {INTS, NULL, "%r = udiv $T $a, 7", NULL},
    {INTS, NULL, "%r = srem $T $a, -7", NULL},
    {"32 64", NULL, "%r = sdiv $T $a, -1", "%m = icmp sgt $T $a, 0"},
    {"v32", NULL, "%d = or <2 x i32> $b, splat(i32 1)\n %r = udiv $T $a, %d", NULL},
    {"v32", NULL, "%r = udiv $T $a, $b",
     "%e0 = extractelement $T $b, i64 0\n %e1 = extractelement $T $b, i64 1\n"
     " %n0 = icmp ne i32 %e0, 0\n %n1 = icmp ne i32 %e1, 0\n %m = and i1 %n0, %n1"},
    {"v64", NULL, "%r = sdiv $T $a, $b",
     "%e0 = extractelement $T $b, i64 0\n %e1 = extractelement $T $b, i64 1\n"
     " %n0 = icmp sgt i64 %e0, 0\n %n1 = icmp sgt i64 %e1, 0\n %m = and i1 %n0, %n1"},
    /* just below and at multiples of the divisor */
    {"32", NULL,
     "%e = and i32 $b, 65535\n %d = or i32 %e, 1\n %k = udiv i32 -1, %d\n"
     " %q = mul i32 %k, %d\n %o = zext i1 %a1 to i32\n %n = sub i32 %q, %o\n"
     " %r = udiv i32 %n, %d",
     NULL},
    {"32", NULL,
     "%e = and i32 $b, 255\n %d = or i32 %e, 1\n %k = ashr i32 $a, 8\n"
     " %q = mul nsw i32 %k, %d\n %o = sext i1 %a1 to i32\n %n = sub i32 %q, %o\n"
     " %r = sdiv i32 %n, %d",
     NULL},
    {FLOATS " vf vh", NULL, "%r = fadd $T $a, $b", NULL},
    {FLOATS " vf", NULL, "%r = fsub $T $a, $b", NULL},
    {FLOATS " vf", NULL, "%r = fmul $T $a, $b", NULL},
    {FLOATS " vf", NULL, "%r = fdiv $T $a, $b", NULL},
    {"f d", NULL, "%r = frem $T $a, $b", NULL},
    {FLOATS " vf vh", NULL, "%r = fneg $T $a", NULL},
    {"f", NULL, "%r = fadd $T $a, %f", NULL},
    {"32", NULL, "%n = and i32 $a, 65535\n %k = and i32 $b, 65535\n %r = add nuw nsw i32 %n, %k",
     NULL},
    {"32", NULL, "%n = shl i32 $a, 4\n %k = and i32 $b, 15\n %r = or disjoint i32 %n, %k", NULL},
    {"32", NULL, "%n = shl i32 $a, 4\n %r = ashr exact i32 %n, 2", NULL},
    /* conversions */
    {"8 16 32", "64", "%r = zext $T $a to i64", NULL},
    {"1 8 16 32", "64", "%r = sext $T $a to i64", NULL},
    {"1", "8", "%r = zext i1 $a to i8", NULL},
    {"16 32 64", "8", "%r = trunc $T $a to i8", NULL},
    {"8 16 32 64", "1", "%r = trunc $T $a to i1", NULL},
    {"32", "64", "%n = and i32 $a, 65535\n %r = zext nneg i32 %n to i64", NULL},
    {"8 16 32 64", "f", "%r = uitofp $T $a to float", NULL},
    {"8 16 32 64", "d", "%r = sitofp $T $a to double", NULL},
    {"16 32", "h", "%r = sitofp $T $a to half", NULL},
    {"f d", "32", "%n = sitofp i16 %a16 to $T\n %r = fptosi $T %n to i32", NULL},
    {"f d", "16", "%n = uitofp i16 %a16 to $T\n %r = fptoui $T %n to i16", NULL},
    {"d", "f", "%r = fptrunc double $a to float", NULL},
    {"f", "h", "%r = fptrunc float $a to half", NULL},
    {"h b f", "d", "%r = fpext $T $a to double", NULL},
    {"64", "p", "%r = inttoptr i64 $a to ptr", NULL},
    {"p", "64", "%r = ptrtoint ptr $a to i64", NULL},
    {"p", "32", "%r = ptrtoint ptr $a to i32", NULL},
    {"p", "64", "%r = ptrtoaddr ptr $a to i64", NULL},
    {"vh", "32", "%r = bitcast $T $a to i32", NULL},
    {"32", "vh", "%r = bitcast $T $a to <2 x half>", NULL},
    {"64", "v32", "%r = bitcast $T $a to <2 x i32>", NULL},
    {"v32", "v16", "%r = bitcast $T $a to <4 x i16>", NULL},
    {"v16", "64", "%r = bitcast $T $a to i64", NULL},
    {"vf", "128", "%r = bitcast $T $a to i128", NULL},
    {"v1", "8", "%n = bitcast $T $a to i4\n %r = zext i4 %n to i8", NULL},
    {"16", NULL,
     "%n = bitcast i16 $a to bfloat\n %k = fneg bfloat %n\n %r = bitcast bfloat %k to i16", NULL},
    {"h", "16", "%r = bitcast $T $a to i16", NULL},
    {"f", "32", "%r = bitcast $T $a to i32", NULL},
    {"vh", "vf",
     "%n = fpext $T $a to <2 x float>\n"
     " %r = shufflevector <2 x float> %n, <2 x float> poison, <4 x i32> <i32 0, i32 1, "
     "i32 1, i32 0>",
     NULL},
    {"p", "p",
     "%n = addrspacecast ptr $a to ptr addrspace(1)\n"
     " %r = addrspacecast ptr addrspace(1) %n to ptr",
     NULL},
    /* comparisons and choices */
    {INTS " p", "1", "%r = icmp eq $T $a, $b", NULL},
    {INTS, "1", "%r = icmp slt $T $a, $b", NULL},
    {INTS, "1", "%r = icmp uge $T $a, $b", NULL},
    {"32", "1", "%n = and i32 $a, 255\n %k = and i32 $b, 255\n %r = icmp samesign ult i32 %n, %k",
     NULL},
    {FLOATS, "1", "%r = fcmp olt $T $a, $b", NULL},
    {FLOATS, "1", "%r = fcmp une $T $a, $b", NULL},
    {FLOATS, "1", "%r = fcmp uno $T $a, $b", NULL},
    {"vf", "v1", "%r = fcmp ogt $T $a, $b", NULL},
    {"v16", "v1", "%r = icmp sle $T $a, $b", NULL},
    {INTS " " FLOATS " p v32 vf vh v1 128", NULL, "%r = select i1 %a1, $T $a, $T $b", NULL},
    {INTS " vf p", NULL, "%k = icmp slt i32 %u, 0\n %r = select i1 %k, $T $a, $T $b", NULL},
    {"v16", NULL, "%r = select <4 x i1> %av1, $T $a, $T $b", NULL},
    {"v16", NULL,
     "%n = insertelement <4 x i1> <i1 true, i1 false, i1 true, i1 false>, i1 true, i64 "
     "1\n %r = select <4 x i1> %n, $T $a, $T $b",
     NULL},
    {"1", NULL, "%r = select i1 $a, i1 $b, i1 false", NULL},
    {"32", NULL, "%r = select i1 %a1, $T $a, $T $a", NULL},
    {"32", NULL, "%n = add i32 %i, 3\n %r = select i1 %a1, i32 %n, i32 %n", NULL},
    {"32 vf", NULL, "%r = freeze $T $a", NULL},
    /* addresses */
    {"p", NULL, "%r = getelementptr i8, ptr $a, i64 %a64", NULL},
    {"p", NULL, "%r = getelementptr i32, ptr %p, i32 %a32", NULL},
    {"p", NULL, "%r = getelementptr {i32, [4 x i16]}, ptr $a, i64 %a64, i32 1, i32 %a32", NULL},
    {"p", NULL, "%n = and i64 %a64, 255\n %r = getelementptr inbounds i8, ptr %p, i64 %n", NULL},
    {"p", NULL, "%r = getelementptr i32, ptr $a, i32 %i", NULL},
    /* elements */
    {"v32", "32", "%r = extractelement $T $a, i64 1", NULL},
    {"vf", "f", "%r = extractelement $T $a, i32 2", NULL},
    {"v1", "1", "%r = extractelement $T $a, i32 3", NULL},
    {"v32", NULL, "%r = insertelement $T $a, i32 %a32, i64 1", NULL},
    {"v32", NULL, "%r = insertelement $T <i32 7, i32 9>, i32 %a32, i64 0", NULL},
    {"v32", NULL,
     "%n = insertelement $T poison, i32 %a32, i64 0\n"
     " %r = insertelement $T %n, i32 %i, i64 1",
     NULL},
    {"vf", NULL, "%r = insertelement $T $a, float %f, i64 3", NULL},
    {"vf", NULL, "%r = shufflevector $T $a, $T $b, <4 x i32> <i32 7, i32 0, i32 4, i32 3>", NULL},
    {"vf", "vh",
     "%n = shufflevector $T $a, $T $b, <2 x i32> <i32 5, i32 2>\n"
     " %r = fptrunc <2 x float> %n to <2 x half>",
     NULL},
    {"vf", NULL,
     "%n = shufflevector $T $a, $T poison, <4 x i32> <i32 1, i32 poison, i32 1, i32 0>\n"
     " %r = insertelement $T %n, float %f, i64 1",
     NULL},
    {"v32", "32", "%n = and i32 %a32, 1\n %r = extractelement $T $a, i32 %n", NULL},
    {"v32", NULL, "%n = and i32 %b32, 1\n %r = insertelement $T $a, i32 %a32, i32 %n", NULL},
    /* fields */
    {"32", NULL,
     "%n = insertvalue {i32, [2 x i32]} poison, i32 $a, 0\n"
     " %k = insertvalue {i32, [2 x i32]} %n, i32 $b, 1, 1\n"
     " %s = select i1 %a1, {i32, [2 x i32]} %k, {i32, [2 x i32]} {i32 1, [2 x i32] "
     "[i32 2, i32 3]}\n"
     " %s1 = extractvalue {i32, [2 x i32]} %s, 1, 1\n"
     " %s0 = extractvalue {i32, [2 x i32]} %s, 0\n %r = sub i32 %s1, %s0",
     NULL},
    {"32", NULL,
     "%n = insertvalue {i32, <2 x i32>} {i32 5, <2 x i32> <i32 6, i32 7>}, i32 $a, 0\n"
     " %s = extractvalue {i32, <2 x i32>} %n, 1\n"
     " %e = extractelement <2 x i32> %s, i64 1\n"
     " %s0 = extractvalue {i32, <2 x i32>} %n, 0\n %r = sub i32 %e, %s0",
     NULL},
    /* intrinsic functions */
    {INTS " v32", NULL, "%r = call $T @llvm.smin.$M($T $a, $T $b)", NULL},
    {INTS " v32", NULL, "%r = call $T @llvm.smax.$M($T $a, $T $b)", NULL},
    {INTS " v16", NULL, "%r = call $T @llvm.umin.$M($T $a, $T $b)", NULL},
    {INTS " v16", NULL, "%r = call $T @llvm.umax.$M($T $a, $T $b)", NULL},
    {INTS, NULL, "%r = call $T @llvm.abs.$M($T $a, i1 false)", NULL},
    {INTS, NULL, "%r = call $T @llvm.ctpop.$M($T $a)", NULL},
    {INTS, NULL, "%r = call $T @llvm.ctlz.$M($T $a, i1 false)", NULL},
    {INTS, NULL, "%r = call $T @llvm.cttz.$M($T $a, i1 false)", NULL},
    {"32", NULL, "%r = call i32 @llvm.ctlz.i32(i32 $a, i1 true)", "%m = icmp ne i32 $a, 0"},
    {INTS, NULL, "%r = call $T @llvm.bitreverse.$M($T $a)", NULL},
    {"16 32 64 v32", NULL, "%r = call $T @llvm.bswap.$M($T $a)", NULL},
    {INTS, NULL, "%r = call $T @llvm.fshl.$M($T $a, $T $b, $T $c)", NULL},
    {INTS, NULL, "%r = call $T @llvm.fshr.$M($T $a, $T $b, $T 5)", NULL},
    {INTS, NULL, "%r = call $T @llvm.sadd.sat.$M($T $a, $T $b)", NULL},
    {INTS, NULL, "%r = call $T @llvm.uadd.sat.$M($T $a, $T $b)", NULL},
    {INTS, NULL, "%r = call $T @llvm.ssub.sat.$M($T $a, $T $b)", NULL},
    {INTS, NULL, "%r = call $T @llvm.usub.sat.$M($T $a, $T $b)", NULL},
    {"32", "8", "%r = call i8 @llvm.scmp.i8.i32(i32 $a, i32 $b)", NULL},
    {"32", "8", "%r = call i8 @llvm.ucmp.i8.i32(i32 $a, i32 $b)", NULL},
    {INTS, NULL,
     "%s = call {$T, i1} @llvm.sadd.with.overflow.$M($T $a, $T $b)\n"
     " %s0 = extractvalue {$T, i1} %s, 0\n %s1 = extractvalue {$T, i1} %s, 1\n"
     " %r = select i1 %s1, $T 99, $T %s0",
     NULL},
    {INTS, NULL,
     "%s = call {$T, i1} @llvm.umul.with.overflow.$M($T $a, $T 19)\n"
     " %s0 = extractvalue {$T, i1} %s, 0\n %s1 = extractvalue {$T, i1} %s, 1\n"
     " %r = select i1 %s1, $T 99, $T %s0",
     NULL},
    {FLOATS " vf vh", NULL, "%r = call $T @llvm.fma.$M($T $a, $T $b, $T $c)", NULL},
    {"f d", NULL, "%r = call $T @llvm.fmuladd.$M($T $a, $T $b, $T $c)", NULL},
    {FLOATS " vf", NULL, "%r = call $T @llvm.sqrt.$M($T $a)", NULL},
    {FLOATS " vf", NULL, "%r = call $T @llvm.fabs.$M($T $a)", NULL},
    {FLOATS, NULL, "%r = call $T @llvm.copysign.$M($T $a, $T $b)", NULL},
    {FLOATS, NULL, "%r = call $T @llvm.floor.$M($T $a)", NULL},
    {FLOATS, NULL, "%r = call $T @llvm.ceil.$M($T $a)", NULL},
    {FLOATS, NULL, "%r = call $T @llvm.trunc.$M($T $a)", NULL},
    {FLOATS, NULL, "%r = call $T @llvm.rint.$M($T $a)", NULL},
    {FLOATS, NULL, "%r = call $T @llvm.nearbyint.$M($T $a)", NULL},
    {FLOATS, NULL, "%r = call $T @llvm.roundeven.$M($T $a)", NULL},
    {"f d", NULL, "%r = call $T @llvm.round.$M($T $a)", NULL},
    {"f d", NULL, "%r = call $T @llvm.minnum.$M($T $a, $T $b)", "%m = fcmp une $T $a, $b"},
    {"f d", NULL, "%r = call $T @llvm.maxnum.$M($T $a, $T $b)", "%m = fcmp une $T $a, $b"},
    {"f d", NULL, "%r = call $T @llvm.minimum.$M($T $a, $T $b)", NULL},
    {"f d", NULL, "%r = call $T @llvm.maximum.$M($T $a, $T $b)", NULL},
    {"f d", NULL, "%r = call $T @llvm.minimumnum.$M($T $a, $T $b)", NULL},
    {"f d", NULL, "%r = call $T @llvm.maximumnum.$M($T $a, $T $b)", NULL},
    {"f d", NULL, "%r = call $T @llvm.canonicalize.$M($T $a)", NULL},
    {"f d", "1", "%r = call i1 @llvm.is.fpclass.$M($T $a, i32 516)", NULL},
    {"f d", "32", "%r = call i32 @llvm.fptosi.sat.i32.$M($T $a)", NULL},
    {"f d", "64", "%r = call i64 @llvm.fptoui.sat.i64.$M($T $a)", NULL},
    {"f d", NULL, "%n = and i32 %a32, 15\n %r = call $T @llvm.ldexp.$M.i32($T $a, i32 %n)", NULL},
    {"f d", NULL,
     "%s = call {$T, i32} @llvm.frexp.$M.i32($T $a)\n"
     " %r = extractvalue {$T, i32} %s, 0",
     NULL},
    {"f d", NULL,
     "%r = call $T @llvm.experimental.constrained.fadd.$M($T $a, $T $b, metadata "
     "!\"round.tonearest\", metadata !\"fpexcept.ignore\")",
     NULL},
    {"d", "f",
     "%r = call float @llvm.experimental.constrained.fptrunc.f32.f64(double $a, metadata "
     "!\"round.tonearest\", metadata !\"fpexcept.ignore\")",
     NULL},
    {"f", "1",
     "%r = call i1 @llvm.experimental.constrained.fcmp.f32(float $a, float $b, metadata !\"olt\", "
     "metadata !\"fpexcept.ignore\")",
     NULL},
    {"32", NULL, "%r = call i32 @mix(i32 $a, i32 %i)", NULL},
    {"32", NULL, "call void @llvm.assume(i1 %a1)\n %r = add i32 $a, 1", "%m = or i1 %a1, false"},
    {"32", NULL, "fence seq_cst\n %r = add i32 $a, 1", NULL},
    /* the same in all threads */
    {"32", NULL, "%r = sdiv i32 %v, %u", NULL},
    {"32", NULL, "%r = urem i32 %v, %z", "%m0 = icmp ne i32 %z, 0\n %m = and i1 %m0, %a1"},
    {"v32", NULL,
     "%n = bitcast i64 %w to <2 x i32>\n %k = insertelement <2 x i32> %n, i32 %z, i64 0\n"
     " %r = udiv <2 x i32> %n, %k",
     "%m0 = icmp ne i32 %z, 0\n %m = and i1 %m0, %a1"},
    {"32", NULL, "%r = call i32 @quotient(i32 %v, i32 %z)",
     "%m0 = icmp ne i32 %z, 0\n %m = and i1 %m0, %a1"},
    {"32", NULL, "%r = call i32 @quotient(i32 %v, i32 %y)",
     "%m0 = icmp ne i32 %y, 0\n %m = and i1 %m0, %a1"},
    {"32", NULL, "%r = udiv i32 %v, %y", "%m0 = icmp ne i32 %y, 0\n %m = and i1 %m0, %a1"},
    {"32", NULL, "%r = call i32 @mix(i32 %v, i32 %u)", NULL},
    {"vf", NULL, "%r = insertelement <4 x float> zeroinitializer, float %f, i64 2", NULL},
    {"v32", NULL, "%r = bitcast i64 %w to <2 x i32>", NULL},
    {"v32", "32",
     "%n = bitcast i64 %w to <2 x i32>\n %k = and i32 %u, 1\n"
     " %r = extractelement <2 x i32> %n, i32 %k",
     NULL},
    {"32", NULL,
     "%s = call {i32, i1} @llvm.uadd.with.overflow.i32(i32 %u, i32 %v)\n"
     " %k = select i1 %a1, {i32, i1} %s, {i32, i1} poison\n"
     " %n = extractvalue {i32, i1} %k, 0\n %r = select i1 %a1, i32 %n, i32 $a",
     NULL},
    {"32", NULL, "%n = mul i32 %y, 5\n %r = xor i32 %n, $a", NULL},
    /* the same distance from thread to thread; in some cases the first lanes are not active, and
     * would be wrong */
    {"32", NULL, "%r = add nsw i32 %i, %u", NULL},
    {"32", NULL, "%r = add i32 %i, %v", NULL},
    {"32", NULL, "%n = mul i32 %i, 3\n %r = sub i32 %v, %n", NULL},
    {"32", NULL, "%r = xor i32 %i, -1", NULL},
    {"32", NULL, "%n = shl i32 %i, 1\n %r = or disjoint i32 %n, 1", NULL},
    {"64", NULL, "%n = shl nuw nsw i32 %i, 2\n %r = zext nneg i32 %n to i64", NULL},
    {"p", NULL, "%r = getelementptr i32, ptr %p, i32 %i", NULL},
    {"64", NULL, "%n = getelementptr i32, ptr %p, i32 %i\n %r = ptrtoint ptr %n to i64", NULL},
    {"p", NULL, "%n = sext i32 %i to i64\n %k = add i64 %w, %n\n %r = inttoptr i64 %k to ptr",
     NULL},
    {"8", NULL, "%r = trunc i32 %i to i8", NULL},
    {"1", NULL, "%r = trunc i32 %i to i1", NULL},
    {"32", NULL, "%n = mul i32 %i, 12\n %r = freeze i32 %n", NULL},
    {"32", NULL, "%k = icmp slt i32 %u, 0\n %n = add i32 %i, 3\n %r = select i1 %k, i32 %n, i32 %i",
     NULL},
    {"1", NULL, "%n = add nsw i32 %i, 3\n %r = icmp slt i32 %n, %i", NULL},
    {"1", NULL, "%n = add nsw i32 %i, %y\n %r = icmp sgt i32 %n, %i", NULL},
    {"64", NULL, "%n = add nsw i32 %i, -11\n %r = zext nneg i32 %n to i64", FROM_10},
    {"64", NULL, "%k = sub nsw i32 12, %i\n %n = add nsw i32 %v, %k\n %r = sext i32 %n to i64",
     FROM_10},
    {"64", NULL, "%k = sub nsw i32 12, %i\n %n = add nsw i32 %v, %k\n %r = sext i32 %n to i64",
     "%m0 = icmp ugt i32 %i, 10\n %m = and i1 %m0, %a1"},
    {"p", NULL,
     "%k = sub nsw i32 12, %i\n %n = add nsw i32 %v, %k\n"
     " %r = getelementptr inbounds i8, ptr %p, i32 %n",
     FROM_10},
    {"1", NULL,
     "%k = sub nsw i32 12, %i\n %n = add nsw i32 %v, %k\n %s = add nsw i32 %k, %y\n"
     " %r = icmp slt i32 %n, %s",
     FROM_10},
    {"1", NULL,
     "%k = sub nsw i32 12, %i\n %n = add nsw i32 %v, %k\n %s = add nsw i32 %k, %y\n"
     " %r = icmp eq i32 %n, %s",
     FROM_10},
    {"32", NULL, "%n = sub nuw i32 %i, 11\n %r = mul nuw i32 %n, 24", FROM_10},
    {"32", NULL, "%n = sub nuw i32 %i, 11\n %k = shl nuw i32 %n, 27\n %r = or disjoint i32 %k, 3",
     "%m0 = icmp ugt i32 %i, 10\n %m1 = icmp ult i32 %i, 40\n %m = and i1 %m0, %m1"},
    {"16", NULL, "%n = sub nuw i32 %i, 11\n %r = trunc nuw i32 %n to i16", FROM_10},
};

const size_t vector_type_count = sizeof vector_types / sizeof *vector_types;
const size_t vector_case_count = sizeof vector_cases / sizeof *vector_cases;
