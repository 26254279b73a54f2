/* SPDX-License-Identifier: Apache-2.0
 *
 * What the constructors of a program register: fat binaries, and the host addresses that stand for
 * their kernels and variables. Nothing is loaded until something in the fat binary is used.
 */
#include "cudart/runtime/runtime.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <uthash.h>

#define FUNCTION_TAG UINT64_C(0x6e6f6974636e7566)

struct image {
    const void *wrapper;
    CUlibrary library; /* NULL until loaded; lock: load_lock */
    bool has_managed;
    bool is_placed; /* managed variables have their host pointers; lock: load_lock */
    struct image *next;
};

struct crt_function {
    uint64_t tag; /* FUNCTION_TAG: tells a handle of __cudaGetKernel from one of the driver */
    const void *stub;
    const char *name;
    struct image *image;
    _Atomic(CUkernel) kernel; /* NULL until looked up */
    UT_hash_handle hh;
};

struct crt_variable {
    const void *host;
    const char *name;
    struct image *image;
    bool is_managed;
    UT_hash_handle hh;
};

/* Locks: `lock` for the tables, `load_lock` for loading; load_lock is taken first. The driver is
 * called with load_lock held, never with lock. */
static struct {
    pthread_rwlock_t lock;
    pthread_mutex_t load_lock;
    struct image *images;
    struct crt_function *functions;
    struct crt_variable *variables;
} registry = {.lock = PTHREAD_RWLOCK_INITIALIZER, .load_lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- loading ---- */

static cudaError_t load_locked(struct image *image, CUlibrary *library)
{
    cudaError_t error = cudaSuccess;
    if (!image->library) {
        /* The image stays mapped until it is unregistered: nothing need be copied. */
        CUlibraryOption option = CU_LIBRARY_BINARY_IS_PRESERVED;
        void *value = (void *)1;
        error =
            cuLibraryLoadData(&image->library, image->wrapper, NULL, NULL, 0, &option, &value, 1);
        if (error)
            image->library = NULL;
    }
    *library = image->library;
    return error;
}

static cudaError_t load_image(struct image *image, CUlibrary *library)
{
    pthread_mutex_lock(&registry.load_lock);
    cudaError_t error = load_locked(image, library);
    pthread_mutex_unlock(&registry.load_lock);
    return error;
}

static cudaError_t load_kernel(struct crt_function *function, CUkernel *kernel)
{
    *kernel = atomic_load_explicit(&function->kernel, memory_order_acquire);
    if (*kernel)
        return cudaSuccess;
    CUlibrary library = NULL;
    cudaError_t error = load_image(function->image, &library)
                            ?: cuLibraryGetKernel(kernel, library, function->name);
    if (error == cudaErrorSymbolNotFound)
        return cudaErrorInvalidDeviceFunction;
    if (!error) /* any thread stores the same value; pairs with the load above */
        atomic_store_explicit(&function->kernel, *kernel, memory_order_release);
    return error;
}

/* ---- look-up ---- */

static struct crt_function *find_function(const void *stub)
{
    struct crt_function *function = NULL;
    pthread_rwlock_rdlock(&registry.lock);
    HASH_FIND_PTR(registry.functions, &stub, function);
    pthread_rwlock_unlock(&registry.lock);
    return function;
}

/* stub: a host stub, a handle of __cudaGetKernel, or a kernel of the driver. Returns NULL for the
 * last, and leaves it to the driver to judge a handle that is none of ours. */
static struct crt_function *function_of(const void *stub)
{
    bool is_handle = stub && ((uintptr_t)stub & 7) == 0 && *(const uint64_t *)stub == FUNCTION_TAG;
    return is_handle ? (struct crt_function *)(uintptr_t)stub : find_function(stub);
}

cudaError_t crt_kernel_of(const void *stub, CUkernel *kernel)
{
    *kernel = NULL;
    if (!stub)
        return cudaErrorInvalidDeviceFunction;
    struct crt_function *function = function_of(stub);
    if (function)
        return load_kernel(function, kernel);
    CUfunction ignored = NULL;
    *kernel = (CUkernel)(uintptr_t)stub;
    return cuKernelGetFunction(&ignored, *kernel) ? cudaErrorInvalidDeviceFunction : cudaSuccess;
}

cudaError_t crt_kernel_name_of(const void *stub, const char **name)
{
    if (!stub || !name)
        return cudaErrorInvalidValue;
    struct crt_function *function = function_of(stub);
    if (!function)
        return cuKernelGetName(name, (CUkernel)(uintptr_t)stub) ? cudaErrorInvalidDeviceFunction
                                                                : cudaSuccess;
    *name = function->name;
    return cudaSuccess;
}

/* A managed variable may also be named by the address that its host pointer holds. */
static struct crt_variable *find_variable(const void *symbol)
{
    struct crt_variable *variable = NULL;
    pthread_rwlock_rdlock(&registry.lock);
    HASH_FIND_PTR(registry.variables, &symbol, variable);
    for (struct crt_variable *each = registry.variables; each && !variable; each = each->hh.next) {
        if (each->is_managed && *(void *const *)each->host == symbol)
            variable = each;
    }
    pthread_rwlock_unlock(&registry.lock);
    return variable;
}

cudaError_t crt_variable_of(const void *symbol, CUdeviceptr *address, size_t *size_bytes)
{
    struct crt_variable *variable = symbol ? find_variable(symbol) : NULL;
    if (!variable)
        return cudaErrorInvalidSymbol;
    CUlibrary library = NULL;
    cudaError_t error = load_image(variable->image, &library);
    if (error)
        return error;
    error = variable->is_managed ? cuLibraryGetManaged(address, size_bytes, library, variable->name)
                                 : cuLibraryGetGlobal(address, size_bytes, library, variable->name);
    return error == cudaErrorSymbolNotFound ? cudaErrorInvalidSymbol : error;
}

/* ---- managed variables ---- */

/* Fills the host pointers of one image, whose library is loaded. Caller holds load_lock. */
static cudaError_t place_variables(struct image *image)
{
    cudaError_t error = cudaSuccess;
    for (struct crt_variable *each = registry.variables; each && !error; each = each->hh.next) {
        if (each->image != image || !each->is_managed)
            continue;
        CUdeviceptr address = 0;
        size_t size_bytes = 0;
        error = cuLibraryGetManaged(&address, &size_bytes, image->library, each->name);
        if (!error)
            *(void **)(uintptr_t)each->host = (void *)(uintptr_t)address;
    }
    return error;
}

cudaError_t crt_place_managed(void)
{
    cudaError_t error = cudaSuccess;
    pthread_mutex_lock(&registry.load_lock);
    for (struct image *image = registry.images; image && !error; image = image->next) {
        if (!image->has_managed || image->is_placed)
            continue;
        CUlibrary library = NULL;
        error = load_locked(image, &library) ?: place_variables(image);
        image->is_placed = !error;
    }
    pthread_mutex_unlock(&registry.load_lock);
    return error;
}

/* ---- registration, called by the constructors and destructors that nvcc generates ----
 * Registration changes the tables under both locks, so that holding either is enough to read. */

static void lock_tables(void)
{
    pthread_mutex_lock(&registry.load_lock);
    pthread_rwlock_wrlock(&registry.lock);
}

static void unlock_tables(void)
{
    pthread_rwlock_unlock(&registry.lock);
    pthread_mutex_unlock(&registry.load_lock);
}

/* Out of memory leaves a NULL handle: its kernels are then unknown when they are launched. */
void **__cudaRegisterFatBinary(void *wrapper)
{
    struct image *image = calloc(1, sizeof *image);
    if (!image)
        return NULL;
    image->wrapper = wrapper;
    lock_tables();
    image->next = registry.images;
    registry.images = image;
    unlock_tables();
    return (void **)image;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle; /* everything is loaded at first use */
}

void __cudaRegisterFunction(void **handle, const char *stub, char *device_function,
                            const char *device_name, int thread_limit, void *tid, void *bid,
                            void *block_size, void *grid_size, int *warp_size)
{
    (void)device_function, (void)thread_limit, (void)tid, (void)bid;
    (void)block_size, (void)grid_size, (void)warp_size;
    struct crt_function *function = handle ? calloc(1, sizeof *function) : NULL;
    if (!function)
        return;
    *function = (struct crt_function){
        .tag = FUNCTION_TAG,
        .stub = stub,
        .name = device_name,
        .image = (struct image *)handle,
    };
    lock_tables();
    HASH_ADD_PTR(registry.functions, stub, function);
    unlock_tables();
}

static void add_variable(void **handle, const void *host, const char *name, bool is_managed)
{
    struct crt_variable *variable = handle ? calloc(1, sizeof *variable) : NULL;
    if (!variable)
        return;
    *variable = (struct crt_variable){
        .host = host,
        .name = name,
        .image = (struct image *)handle,
        .is_managed = is_managed,
    };
    lock_tables();
    variable->image->has_managed |= is_managed;
    HASH_ADD_PTR(registry.variables, host, variable);
    unlock_tables();
}

void __cudaRegisterVar(void **handle, char *host_variable, char *device_address,
                       const char *device_name, int is_external, size_t size_bytes, int is_constant,
                       int is_global)
{
    (void)device_address, (void)is_external, (void)size_bytes, (void)is_constant, (void)is_global;
    add_variable(handle, host_variable, device_name, false);
}

void __cudaRegisterManagedVar(void **handle, void **host_pointer, char *device_address,
                              const char *device_name, int is_external, size_t size_bytes,
                              int is_constant, int is_global)
{
    (void)device_address, (void)is_external, (void)size_bytes, (void)is_constant, (void)is_global;
    add_variable(handle, host_pointer, device_name, true);
}

/* Called before the host touches a managed variable. The result is kept by the caller: 1 = done. */
char __cudaInitModule(void **handle)
{
    (void)handle;
    return crt_done(crt_enter() ?: crt_place_managed()) == cudaSuccess;
}

static void forget_image(struct image *image)
{
    struct crt_function *function = NULL;
    struct crt_function *next_function = NULL;
    HASH_ITER(hh, registry.functions, function, next_function)
    {
        if (function->image == image) {
            HASH_DEL(registry.functions, function);
            function->tag = 0;
            free(function);
        }
    }
    struct crt_variable *variable = NULL;
    struct crt_variable *next_variable = NULL;
    HASH_ITER(hh, registry.variables, variable, next_variable)
    {
        if (variable->image == image) {
            HASH_DEL(registry.variables, variable);
            free(variable);
        }
    }
    struct image **link = &registry.images;
    while (*link && *link != image)
        link = &(*link)->next;
    if (*link)
        *link = image->next;
}

void __cudaUnregisterFatBinary(void **handle)
{
    struct image *image = (struct image *)handle;
    if (!image)
        return;
    lock_tables();
    forget_image(image);
    unlock_tables();
    if (image->library)
        cuLibraryUnload(image->library); /* at exit nobody could act on a failure */
    free(image);
}

/* A handle for __cudaLaunchKernel, kept by the caller. Loading is left to the launch, where an
 * error reaches the program. */
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *stub)
{
    struct crt_function *function = kernel ? find_function(stub) : NULL;
    if (!function)
        return crt_done(cudaErrorInvalidDeviceFunction);
    *kernel = (cudaKernel_t)(void *)function;
    return cudaSuccess;
}
