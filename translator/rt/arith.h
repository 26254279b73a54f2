/* SPDX-License-Identifier: Apache-2.0
 *
 * Arithmetic whose PTX meaning no single LLVM instruction has. The functions are compiled to
 * bitcode, inlined into kernels and widened to lanes there: pure, loop-free wherever possible, and
 * without any use of the floating-point environment beyond round-to-nearest.
 *
 * f16 and bf16 travel as the low 16 bits of a uint32_t, pairs as the whole of it.
 * `mode`, `clamp` and the like are constants at every call and fold away.
 */
#ifndef PTXRUN_TRANSLATOR_RT_ARITH_H
#define PTXRUN_TRANSLATOR_RT_ARITH_H

#include <stdint.h>

enum rt_round {
    RT_ROUND_NEAREST, /* ties to even */
    RT_ROUND_ZERO,
    RT_ROUND_DOWN,
    RT_ROUND_UP,
    RT_ROUND_AWAY /* nearest, ties away from zero; tf32 only */
};

enum rt_prmt_mode {
    RT_PRMT_INDEX,
    RT_PRMT_F4E,
    RT_PRMT_B4E,
    RT_PRMT_RC8,
    RT_PRMT_ECL,
    RT_PRMT_ECR,
    RT_PRMT_RC16
};

enum rt_testp {
    RT_TESTP_FINITE,
    RT_TESTP_INFINITE,
    RT_TESTP_NUMBER,
    RT_TESTP_NOTANUMBER,
    RT_TESTP_NORMAL,
    RT_TESTP_SUBNORMAL
};

/* The two 16-bit formats. */
enum rt_half { RT_HALF_F16, RT_HALF_BF16 };

/* Formats of 8, 6 and 4 bits. */
enum rt_small { RT_SMALL_E4M3, RT_SMALL_E5M2, RT_SMALL_E2M3, RT_SMALL_E3M2, RT_SMALL_E2M1 };

/* What a min or max does besides choosing. */
enum rt_minmax {
    RT_MINMAX_MAX = 1,     /* the larger one; else the smaller */
    RT_MINMAX_NAN = 2,     /* .NaN: a NaN operand gives NaN */
    RT_MINMAX_XORSIGN = 4, /* .xorsign */
    RT_MINMAX_ABS = 8      /* .abs: magnitudes are compared, and are the result */
};

/* Operations of video instructions. */
enum rt_video {
    RT_VIDEO_ADD,
    RT_VIDEO_SUB,
    RT_VIDEO_ABSDIFF,
    RT_VIDEO_MIN,
    RT_VIDEO_MAX,
    RT_VIDEO_AVRG,
    RT_VIDEO_EQ,
    RT_VIDEO_NE,
    RT_VIDEO_LT,
    RT_VIDEO_LE,
    RT_VIDEO_GT,
    RT_VIDEO_GE
};

enum rt_vmad {
    RT_VMAD_SIGNED = 1, /* of the final result, and of c */
    RT_VMAD_NEGATE_PRODUCT = 2,
    RT_VMAD_NEGATE_ADDEND = 4,
    RT_VMAD_PLUS_ONE = 8,
    RT_VMAD_SATURATE = 16
};

/* ---- int.c ---- */
int32_t rt_div_s32(int32_t a, int32_t b);
uint32_t rt_div_u32(uint32_t a, uint32_t b);
int64_t rt_div_s64(int64_t a, int64_t b);
uint64_t rt_div_u64(uint64_t a, uint64_t b);
int32_t rt_rem_s32(int32_t a, int32_t b);
uint32_t rt_rem_u32(uint32_t a, uint32_t b);
int64_t rt_rem_s64(int64_t a, int64_t b);
uint64_t rt_rem_u64(uint64_t a, uint64_t b);
uint32_t rt_bfe_u32(uint32_t a, uint32_t pos, uint32_t len);
int32_t rt_bfe_s32(int32_t a, uint32_t pos, uint32_t len);
uint64_t rt_bfe_u64(uint64_t a, uint32_t pos, uint32_t len);
int64_t rt_bfe_s64(int64_t a, uint32_t pos, uint32_t len);
uint32_t rt_bfi_b32(uint32_t field, uint32_t base, uint32_t pos, uint32_t len);
uint64_t rt_bfi_b64(uint64_t field, uint64_t base, uint32_t pos, uint32_t len);
uint32_t rt_bfind_u32(uint32_t a, uint32_t shiftamt);
uint32_t rt_bfind_s32(int32_t a, uint32_t shiftamt);
uint32_t rt_bfind_u64(uint64_t a, uint32_t shiftamt);
uint32_t rt_bfind_s64(int64_t a, uint32_t shiftamt);
uint32_t rt_fns(uint32_t mask, uint32_t base, int32_t offset);
uint32_t rt_bmsk(uint32_t a, uint32_t b, uint32_t clamp);
uint32_t rt_szext(uint32_t a, uint32_t b, uint32_t clamp, uint32_t is_signed);
uint32_t rt_prmt(uint32_t a, uint32_t b, uint32_t c, uint32_t mode);
uint32_t rt_dp4a(uint32_t a, uint32_t b, uint32_t c, uint32_t a_signed, uint32_t b_signed);
uint32_t rt_dp2a(uint32_t a, uint32_t b, uint32_t c, uint32_t a_signed, uint32_t b_signed,
                 uint32_t high);
uint32_t rt_minmax_u16x2(uint32_t a, uint32_t b, uint32_t is_max);
uint32_t rt_minmax_s16x2(uint32_t a, uint32_t b, uint32_t is_max, uint32_t relu);
uint32_t rt_add_u16x2(uint32_t a, uint32_t b);
uint32_t rt_cvt_pack(int32_t a, int32_t b, uint32_t c, uint32_t bits, uint32_t is_signed);

/* ---- float.c ---- */
float rt_ftz_f32(float a);
float rt_flush_reciprocal_f32(float reciprocal, float a);
float rt_sat_f32(float a);
double rt_sat_f64(double a);
float rt_minmax_f32(float a, float b, uint32_t flags);
double rt_minmax_f64(double a, double b, uint32_t flags);
uint32_t rt_testp_f32(float a, uint32_t test);
uint32_t rt_testp_f64(double a, uint32_t test);
/* The arithmetic below is for directed modes; rounding to nearest is the host's own. */
float rt_add_f32(float a, float b, uint32_t mode);
float rt_mul_f32(float a, float b, uint32_t mode);
float rt_fma_f32(float a, float b, float c, uint32_t mode);
float rt_div_f32(float a, float b, uint32_t mode);
float rt_sqrt_f32(float a, uint32_t mode);
double rt_add_f64(double a, double b, uint32_t mode);
double rt_mul_f64(double a, double b, uint32_t mode);
double rt_fma_f64(double a, double b, double c, uint32_t mode);
double rt_div_f64(double a, double b, uint32_t mode);
double rt_sqrt_f64(double a, uint32_t mode);

/* ---- approx.c ---- */
float rt_div_approx_f32(float a, float b);
float rt_rsqrt_f32(float a);
double rt_rsqrt_f64(double a);
double rt_rcp_ftz_f64(double a);
double rt_rsqrt_ftz_f64(double a);
float rt_sin_f32(float a);
float rt_cos_f32(float a);
float rt_lg2_f32(float a);
float rt_ex2_f32(float a);
float rt_tanh_f32(float a);

/* ---- convert.c ---- */
float rt_f16_to_f32(uint32_t a);
float rt_bf16_to_f32(uint32_t a);
uint32_t rt_f32_to_f16(float a, uint32_t mode);
uint32_t rt_f32_to_bf16(float a, uint32_t mode);
uint32_t rt_f32_to_tf32(float a, uint32_t mode);
uint32_t rt_relu_tf32(uint32_t a);
uint32_t rt_satfinite_tf32(uint32_t a, uint32_t mode);
/* .rs: random bits are added below the result's last place. */
uint32_t rt_f32_to_f16_random(float a, uint32_t random);
uint32_t rt_f32_to_bf16_random(float a, uint32_t random);
uint32_t rt_f32_to_small_random(float a, uint32_t format, uint32_t relu, uint32_t random);
uint32_t rt_f64_to_f16(double a, uint32_t mode);
uint32_t rt_f64_to_bf16(double a, uint32_t mode);
float rt_f64_to_f32(double a, uint32_t mode);
/* To f32 and f64: directed modes only. */
float rt_s64_to_f32(int64_t a, uint32_t mode);
float rt_u64_to_f32(uint64_t a, uint32_t mode);
double rt_s64_to_f64(int64_t a, uint32_t mode);
double rt_u64_to_f64(uint64_t a, uint32_t mode);
uint32_t rt_s64_to_f16(int64_t a, uint32_t mode);
uint32_t rt_u64_to_f16(uint64_t a, uint32_t mode);
uint32_t rt_s64_to_bf16(int64_t a, uint32_t mode);
uint32_t rt_u64_to_bf16(uint64_t a, uint32_t mode);

/* ---- small.c: format is an enum rt_small ---- */
uint32_t rt_f32_to_small(float a, uint32_t format, uint32_t relu);
uint32_t rt_small_to_f16(uint32_t a, uint32_t format, uint32_t relu);
uint32_t rt_f32_to_ue8m0(float a, uint32_t mode, uint32_t satfinite);
uint32_t rt_ue8m0_to_bf16(uint32_t a);

/* ---- video.c: the results of the 64-bit ones are exact ---- */
int64_t rt_video_part(uint32_t a, uint32_t b, uint32_t position, uint32_t bits, uint32_t is_signed);
int64_t rt_video_operate(int64_t a, int64_t b, uint32_t op);
int64_t rt_video_shift(int64_t a, int64_t amount, uint32_t is_left, uint32_t clamps);
int64_t rt_video_saturate(int64_t value, uint32_t bits, uint32_t is_signed);
int64_t rt_video_saturate_scalar(int64_t value, uint32_t bits, uint32_t is_signed);
int64_t rt_video_saturate_shift(int64_t value, uint32_t is_signed);
int64_t rt_video_narrow(int64_t value, uint32_t bits);
uint32_t rt_video_second(int64_t value, uint32_t c, uint32_t op, uint32_t is_signed);
uint32_t rt_video_merge(int64_t value, uint32_t c, uint32_t position, uint32_t bits);
uint32_t rt_video_mad(int64_t a, int64_t b, uint32_t c, uint32_t flags, uint32_t shift);

/* ---- half.c: f16 and bf16; format is an enum rt_half ---- */
float rt_half_to_f32(uint32_t a, uint32_t format);
uint32_t rt_half_from_f32(float a, uint32_t format);
uint32_t rt_half_ftz(uint32_t a, uint32_t format);
uint32_t rt_half_sat(uint32_t a, uint32_t format);
uint32_t rt_half_relu(uint32_t a, uint32_t format);
uint32_t rt_half_satfinite(uint32_t a, uint32_t format);
uint32_t rt_half_oob(uint32_t result, uint32_t a, uint32_t b);
uint32_t rt_half_add(uint32_t a, uint32_t b, uint32_t format);
uint32_t rt_half_sub(uint32_t a, uint32_t b, uint32_t format);
uint32_t rt_half_mul(uint32_t a, uint32_t b, uint32_t format);
uint32_t rt_half_fma(uint32_t a, uint32_t b, uint32_t c, uint32_t format);
uint32_t rt_half_mad(uint32_t a, uint32_t b, uint32_t c, uint32_t format);
uint32_t rt_half_minmax(uint32_t a, uint32_t b, uint32_t format, uint32_t flags);
uint32_t rt_half_ex2(uint32_t a, uint32_t format);
uint32_t rt_half_tanh(uint32_t a, uint32_t format);

#endif
