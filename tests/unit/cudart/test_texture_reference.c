/* SPDX-License-Identifier: Apache-2.0
 *
 * Texture and surface references of the driver API, with PTX as compilers before CUDA 12 made it.
 */
#include <string.h>

#include "driver_fixture.h"

#define FORMAT_U8    0x01
#define FORMAT_FLOAT 0x20
#define SIDE         8

static const char ptx[] =
    ".version 6.5\n.target sm_60\n.address_size 64\n"
    ".global .texref image;\n.global .texref line;\n.global .surfref surface;\n"
    ".global .u64 number;\n"
    ".visible .entry fetch(.param .u64 out, .param .f32 x, .param .f32 y)\n{\n"
    ".reg .f32 %f<7>;\n.reg .b64 %rd<2>;\n"
    "ld.param.u64 %rd0, [out];\nld.param.f32 %f5, [x];\nld.param.f32 %f6, [y];\n"
    "tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [image, {%f5, %f6}];\n"
    "st.global.v4.f32 [%rd0], {%f0, %f1, %f2, %f3};\nret;\n}\n"
    ".visible .entry fetch_moved(.param .u64 out, .param .f32 x, .param .f32 y)\n{\n"
    ".reg .f32 %f<7>;\n.reg .b64 %rd<3>;\n"
    "ld.param.u64 %rd0, [out];\nld.param.f32 %f5, [x];\nld.param.f32 %f6, [y];\n"
    "mov.u64 %rd2, image;\n"
    "tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%rd2, {%f5, %f6}];\n"
    "st.global.v4.f32 [%rd0], {%f0, %f1, %f2, %f3};\nret;\n}\n"
    ".visible .entry index(.param .u64 out, .param .u32 i)\n{\n"
    ".reg .b32 %r<6>;\n.reg .b64 %rd<2>;\n"
    "ld.param.u64 %rd0, [out];\nld.param.u32 %r5, [i];\n"
    "tex.1d.v4.u32.s32 {%r0, %r1, %r2, %r3}, [line, {%r5}];\n"
    "st.global.v4.u32 [%rd0], {%r0, %r1, %r2, %r3};\nret;\n}\n"
    ".visible .entry put(.param .u32 x, .param .u32 y, .param .u32 value)\n{\n"
    ".reg .b32 %r<4>;\n"
    "ld.param.u32 %r0, [x];\nld.param.u32 %r1, [y];\nld.param.u32 %r2, [value];\n"
    "sust.b.2d.b32.trap [surface, {%r0, %r1}], {%r2};\nret;\n}\n";

static CUmodule module;
static CUdeviceptr out;

static void load(void)
{
    make_context();
    OK(cuModuleLoadData(&module, ptx));
    OK(cuMemAlloc_v2(&out, 16));
}

static CUresult run(const char *name, void **params, void *result)
{
    CUfunction kernel;
    OK(cuModuleGetFunction(&kernel, module, name));
    OK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    CUresult status = cuCtxSynchronize();
    if (status == CRT_SUCCESS)
        OK(cuMemcpyDtoH_v2(result, out, 16));
    return status;
}

static float fetch(const char *kernel, float x, float y)
{
    float result[4];
    void *params[] = {&out, &x, &y};
    OK(run(kernel, params, result));
    return result[0];
}

static uint32_t look_up(uint32_t i)
{
    uint32_t result[4];
    void *params[] = {&out, &i};
    OK(run("index", params, result));
    return result[0];
}

/* Element (x, y) is first + 10 * y + x. */
static CUdeviceptr floats(float first)
{
    CUdeviceptr memory;
    float values[SIDE][SIDE];
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            values[y][x] = first + 10.0f * (float)y + (float)x;
    OK(cuMemAlloc_v2(&memory, sizeof values));
    OK(cuMemcpyHtoD_v2(memory, values, sizeof values));
    return memory;
}

static CUarray array_of(unsigned flags)
{
    CUarray array;
    CUDA_ARRAY3D_DESCRIPTOR shape = {
        .Width = SIDE, .Height = SIDE, .Format = FORMAT_FLOAT, .NumChannels = 1, .Flags = flags};
    OK(cuArray3DCreate_v2(&array, &shape));
    return array;
}

Test(texture_reference, fetches_go_to_what_is_bound, .init = load)
{
    CUtexref image;
    CUtexref again;
    const CUDA_ARRAY_DESCRIPTOR shape = {
        .Width = SIDE, .Height = SIDE, .Format = FORMAT_FLOAT, .NumChannels = 1};
    OK(cuModuleGetTexRef(&image, module, "image"));
    OK(cuModuleGetTexRef(&again, module, "image"));
    cr_expect_eq(image, again);
    OK(cuTexRefSetAddressMode(image, 0, 1));
    OK(cuTexRefSetAddressMode(image, 1, 1));
    OK(cuTexRefSetAddress2D_v3(image, &shape, floats(0), 4 * SIDE));
    cr_expect_eq(fetch("fetch", 3.5f, 2.5f), 23);
    cr_expect_eq(fetch("fetch_moved", 4.5f, 2.5f), 24);
    cr_expect_eq(fetch("fetch", 100, -1), 7);
    OK(cuTexRefSetFilterMode(image, 1));
    cr_expect_eq(fetch("fetch", 3.0f, 2.5f), 22.5f);
    OK(cuTexRefSetFlags(image, 2 /* normalised */));
    cr_expect_eq(fetch("fetch", 0.5f, 0.5f), 38.5f);
    OK(cuTexRefSetAddress2D_v3(image, &shape, floats(100), 4 * SIDE));
    cr_expect_eq(fetch("fetch", 0.5f, 0.5f), 138.5f, "another image");
}

Test(texture_reference, arrays_are_images, .init = load)
{
    CUtexref image;
    CUarray array = array_of(0);
    CUarray got;
    float border[4] = {-3, 0, 0, 0};
    OK(cuMemcpyHtoA_v2(array, 0, (float[]){5, 6, 7, 8}, 16));
    OK(cuModuleGetTexRef(&image, module, "image"));
    EXPECT(CRT_INVALID_VALUE, cuTexRefGetArray(&got, image));
    EXPECT(CRT_INVALID_VALUE, cuTexRefSetArray(image, array, 0));
    OK(cuTexRefSetArray(image, array, 1));
    OK(cuTexRefGetArray(&got, image));
    cr_expect_eq(got, array);
    OK(cuTexRefSetAddressMode(image, 0, 3));
    OK(cuTexRefSetAddressMode(image, 1, 3));
    OK(cuTexRefSetBorderColor(image, border));
    cr_expect_eq(fetch("fetch", 2.5f, 0.5f), 7);
    cr_expect_eq(fetch("fetch", 2.5f, -0.5f), -3);
}

Test(texture_reference, images_are_bound_as_older_programs_do, .init = load)
{
    CUtexref image;
    const CUDA_ARRAY_DESCRIPTOR shape = {
        .Width = SIDE, .Height = SIDE, .Format = FORMAT_FLOAT, .NumChannels = 1};
    OK(cuModuleGetTexRef(&image, module, "image"));
    OK(cuTexRefSetAddress2D_v2(image, &shape, floats(200), 4 * SIDE));
    cr_expect_eq(fetch("fetch", 3.5f, 2.5f), 223);
}

Test(texture_reference, mipmapped_arrays_are_images, .init = load)
{
    CUtexref image;
    CUmipmappedArray mipmap;
    CUmipmappedArray got;
    CUarray finest;
    CUDA_ARRAY3D_DESCRIPTOR shape = {
        .Width = SIDE, .Height = SIDE, .Format = FORMAT_FLOAT, .NumChannels = 1};
    OK(cuMipmappedArrayCreate(&mipmap, &shape, 2));
    OK(cuMipmappedArrayGetLevel(&finest, mipmap, 0));
    OK(cuMemcpyHtoA_v2(finest, 0, (float[]){5, 6, 7, 8}, 16));
    OK(cuModuleGetTexRef(&image, module, "image"));
    EXPECT(CRT_INVALID_VALUE, cuTexRefGetMipmappedArray(&got, image));
    EXPECT(CRT_INVALID_VALUE, cuTexRefSetMipmappedArray(image, mipmap, 0));
    OK(cuTexRefSetMipmappedArray(image, mipmap, 1));
    OK(cuTexRefGetMipmappedArray(&got, image));
    cr_expect_eq(got, mipmap);
    OK(cuTexRefSetFlags(image, 2 /* normalised */));
    cr_expect_eq(fetch("fetch", 2.5f / SIDE, 0.5f / SIDE), 7);
}

Test(texture_reference, linear_memory_begins_where_the_offset_says, .init = load)
{
    CUtexref line;
    size_t offset;
    CUdeviceptr memory;
    uint8_t bytes[64];
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(3 * i);
    OK(cuMemAlloc_v2(&memory, sizeof bytes));
    OK(cuMemcpyHtoD_v2(memory, bytes, sizeof bytes));
    OK(cuModuleGetTexRef(&line, module, "line"));
    OK(cuTexRefSetAddress_v2(&offset, line, memory + 4, 60));
    cr_expect_eq(offset, 4);
    EXPECT(CRT_INVALID_VALUE, cuTexRefSetAddress_v2(NULL, line, memory + 4, 60));
    OK(cuTexRefSetFormat(line, FORMAT_U8, 1)); /* after the image */
    OK(cuTexRefSetFlags(line, 1 /* integers */));
    cr_expect_eq(look_up(4 + 7), 33);
    cr_expect_eq(look_up(63), 189);
    cr_expect_eq(look_up(64), 0);
    OK(cuTexRefSetFlags(line, 0));
    cr_expect_eq(look_up(0), 0);
    cr_expect_eq(look_up(5), 0x3d70f0f1, "15 / 255");
}

Test(texture_reference, stores_go_to_the_surface_that_is_bound, .init = load)
{
    CUsurfref surface;
    CUarray array = array_of(2 /* surfaces */);
    CUarray got;
    uint32_t x = 8;
    uint32_t y = 0;
    float value = 2.5f;
    float ignored[4];
    float row[4];
    void *params[] = {&x, &y, &value};
    OK(cuModuleGetSurfRef(&surface, module, "surface"));
    EXPECT(CRT_INVALID_VALUE, cuSurfRefGetArray(&got, surface));
    EXPECT(CRT_INVALID_VALUE, cuSurfRefSetArray(surface, array_of(0), 0));
    OK(cuSurfRefSetArray(surface, array, 0));
    OK(cuSurfRefGetArray(&got, surface));
    cr_expect_eq(got, array);
    OK(run("put", params, ignored));
    OK(cuMemcpyAtoH_v2(row, array, 0, sizeof row));
    cr_expect_eq(row[2], 2.5f);
}

Test(texture_reference, what_is_set_can_be_asked_for, .init = load)
{
    CUtexref image;
    CUaddress_mode mode;
    CUfilter_mode filter;
    CUarray_format format;
    CUdeviceptr address;
    int number;
    unsigned flags;
    float levels[2];
    float border[4] = {1, 2, 3, 4};
    float got[4];
    OK(cuModuleGetTexRef(&image, module, "image"));
    EXPECT(CRT_INVALID_VALUE, cuTexRefGetAddress_v2(&address, image));
    OK(cuTexRefSetAddressMode(image, 2, 2));
    OK(cuTexRefGetAddressMode(&mode, image, 2));
    cr_expect_eq(mode, 2);
    OK(cuTexRefSetFilterMode(image, 1));
    OK(cuTexRefGetFilterMode(&filter, image));
    cr_expect_eq(filter, 1);
    OK(cuTexRefSetMipmapFilterMode(image, 1));
    OK(cuTexRefGetMipmapFilterMode(&filter, image));
    cr_expect_eq(filter, 1);
    OK(cuTexRefSetFormat(image, FORMAT_U8, 4));
    OK(cuTexRefGetFormat(&format, &number, image));
    cr_expect(format == FORMAT_U8 && number == 4);
    OK(cuTexRefSetFlags(image, 3));
    OK(cuTexRefGetFlags(&flags, image));
    cr_expect_eq(flags, 3);
    OK(cuTexRefSetMaxAnisotropy(image, 8));
    OK(cuTexRefGetMaxAnisotropy(&number, image));
    cr_expect_eq(number, 8);
    OK(cuTexRefSetMipmapLevelBias(image, 0.5f));
    OK(cuTexRefGetMipmapLevelBias(&levels[0], image));
    cr_expect_eq(levels[0], 0.5f);
    OK(cuTexRefSetMipmapLevelClamp(image, 1, 3));
    OK(cuTexRefGetMipmapLevelClamp(&levels[0], &levels[1], image));
    cr_expect(levels[0] == 1 && levels[1] == 3);
    OK(cuTexRefSetBorderColor(image, border));
    OK(cuTexRefGetBorderColor(got, image));
    cr_expect_arr_eq(got, border, sizeof got);
}

Test(texture_reference, misuse_is_refused, .init = load)
{
    CUtexref image;
    CUsurfref surface;
    CUtexref own;
    CUfunction kernel;
    EXPECT(CRT_NOT_FOUND, cuModuleGetTexRef(&image, module, "nothing"));
    EXPECT(CRT_NOT_FOUND, cuModuleGetTexRef(&image, module, "number"));
    EXPECT(CRT_NOT_FOUND, cuModuleGetTexRef(&image, module, "surface"));
    EXPECT(CRT_NOT_FOUND, cuModuleGetSurfRef(&surface, module, "image"));
    EXPECT(CRT_INVALID_VALUE, cuModuleGetTexRef(NULL, module, "image"));
    OK(cuModuleGetTexRef(&image, module, "image"));
    OK(cuModuleGetSurfRef(&surface, module, "surface"));
    EXPECT(CRT_INVALID_VALUE, cuTexRefSetFilterMode(surface, 0));
    EXPECT(CRT_INVALID_VALUE, cuTexRefSetFilterMode(image, 2));
    EXPECT(CRT_INVALID_VALUE, cuTexRefSetAddressMode(image, 3, 0));
    EXPECT(CRT_INVALID_VALUE, cuTexRefSetAddressMode(image, 0, 4));
    EXPECT(CRT_INVALID_VALUE, cuTexRefSetFlags(image, 0x80));
    EXPECT(CRT_INVALID_VALUE, cuTexRefSetFormat(image, FORMAT_FLOAT, 3));
    EXPECT(CRT_INVALID_VALUE, cuTexRefDestroy(image));
    OK(cuModuleGetFunction(&kernel, module, "fetch"));
    OK(cuParamSetTexRef(kernel, -1, image));
    EXPECT(CRT_INVALID_VALUE, cuParamSetTexRef(kernel, 0, image));
    OK(cuTexRefCreate(&own));
    OK(cuTexRefSetFilterMode(own, 1));
    OK(cuTexRefDestroy(own));
    EXPECT(CRT_INVALID_VALUE, cuTexRefDestroy(own));
    OK(cuModuleUnload(module));
    EXPECT(CRT_INVALID_VALUE, cuTexRefSetFilterMode(image, 1));
}

/* No image: the launch fails, and names an address. */
Test(texture_reference, without_an_image_is_a_fault, .init = load)
{
    float result[4];
    float at = 0;
    void *params[] = {&out, &at, &at};
    EXPECT(CRT_ILLEGAL_ADDRESS, run("fetch", params, result));
}
