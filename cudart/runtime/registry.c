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

#define SLABS        20
#define SLAB_ENTRIES 64 /* of the first one; each further one has twice as many */

struct image {
    const void *wrapper;
    CUlibrary library; /* NULL until loaded; lock: load_lock */
    bool has_managed;
    bool is_placed; /* managed variables have their host pointers; lock: load_lock */
    struct image *next;
};

/* Never given back to malloc, so that a handle of __cudaGetKernel can be told from any other
 * pointer without reading what that points to. */
struct crt_function {
    atomic_bool is_alive;
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
    _Atomic(struct crt_function *) slabs[SLABS]; /* set once; read without a lock */
    struct crt_function *dead;                   /* linked by hh.next */
    size_t entry_count;                          /* of the slabs, used at least once */
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

/* ---- entries for functions, in slabs ---- */

static size_t slab_entries(unsigned slab)
{
    return (size_t)SLAB_ENTRIES << slab;
}

/* Caller holds both locks. NULL: out of memory. */
static struct crt_function *create_function_locked(void)
{
    struct crt_function *function = registry.dead;
    if (function) {
        registry.dead = function->hh.next;
        return function;
    }
    size_t index = registry.entry_count;
    unsigned slab = 0;
    for (; slab < SLABS && index >= slab_entries(slab); slab++)
        index -= slab_entries(slab);
    if (slab == SLABS)
        return NULL;
    struct crt_function *entries =
        atomic_load_explicit(&registry.slabs[slab], memory_order_relaxed);
    if (!entries) {
        entries = calloc(slab_entries(slab), sizeof *entries);
        if (!entries)
            return NULL;
        atomic_store_explicit(&registry.slabs[slab], entries, memory_order_release);
    }
    registry.entry_count++;
    return &entries[index];
}

static void destroy_function_locked(struct crt_function *function)
{
    atomic_store_explicit(&function->is_alive, false, memory_order_relaxed);
    function->hh.next = registry.dead;
    registry.dead = function;
}

static bool is_handle(const void *handle)
{
    for (unsigned slab = 0; slab < SLABS; slab++) {
        const struct crt_function *entries =
            atomic_load_explicit(&registry.slabs[slab], memory_order_acquire);
        if (!entries)
            return false;
        uintptr_t offset = (uintptr_t)handle - (uintptr_t)entries;
        if (offset < slab_entries(slab) * sizeof *entries)
            return offset % sizeof *entries == 0 &&
                   atomic_load_explicit(&entries[offset / sizeof *entries].is_alive,
                                        memory_order_relaxed);
    }
    return false;
}

/* stub: a host stub, a handle of __cudaGetKernel, or a kernel of the driver. Returns NULL for the
 * last, and leaves it to the driver to judge a handle that is none of ours. */
static struct crt_function *function_of(const void *stub)
{
    return is_handle(stub) ? (struct crt_function *)(uintptr_t)stub : find_function(stub);
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

cudaError_t crt_variable_source(const void *symbol, CUlibrary *library, const char **name)
{
    struct crt_variable *variable = symbol ? find_variable(symbol) : NULL;
    if (!variable)
        return cudaErrorInvalidSymbol;
    *name = variable->name;
    return load_image(variable->image, library);
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

/* A fork waits until no thread changes or uses the tables, so that the child can give its images
 * back at exit. */
static void lock_for_fork(void)
{
    lock_tables();
}

static void unlock_in_parent(void)
{
    unlock_tables();
}

/* The thread of the child is not the one that has locked, so that it cannot unlock. */
static void renew_in_child(void)
{
    pthread_mutex_init(&registry.load_lock, NULL);
    pthread_rwlock_init(&registry.lock, NULL);
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(lock_for_fork, unlock_in_parent, renew_in_child);
}

/* ---- registration, called by the constructors and destructors that nvcc generates ----
 * Registration changes the tables under both locks, so that holding either is enough to read. */

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
    if (!handle)
        return;
    lock_tables();
    struct crt_function *function = create_function_locked();
    if (function) {
        *function = (struct crt_function){
            .is_alive = true,
            .stub = stub,
            .name = device_name,
            .image = (struct image *)handle,
        };
        HASH_ADD_PTR(registry.functions, stub, function);
    }
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
            destroy_function_locked(function);
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
