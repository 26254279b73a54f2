# SPDX-License-Identifier: Apache-2.0
"""PTX kernels on the CPU, on NumPy arrays: a binding of libptxrun.so (include/ptxrun/ptxrun.h).

    import numpy, ptxrun
    module = ptxrun.Module(open("scale.ptx").read())
    data = numpy.arange(1000, dtype=numpy.float32)
    module.kernel("scale")[4, 256](data, numpy.int32(1000))

This file is all of it. The library is found beside it, in a build tree or an installation, or is
the one that PTXRUN_LIBRARY names.
"""

import ctypes
import os
import re
import struct
import time

__all__ = ["Error", "Kernel", "Module", "TinygradProgram", "TritonKernel", "version"]

_PLACES = ("../libptxrun.so", "../build/lib/ptxrun/libptxrun.so")
_MESSAGE_BYTES = 1024
_WARP = 32

STATUS = ("ok", "out of memory", "invalid argument", "not found", "bad input", "unsupported",
          "out of resources", "kernel fault", "internal")

# By the type of a parameter: the code of struct for its value.
_INTEGERS = {"8": "bB", "16": "hH", "32": "iI", "64": "qQ"}
_FLOATS = {"f16": "e", "f32": "f", "f64": "d"}


class Error(Exception):
    """What the library refuses, or a fault of a kernel, with the library's message."""

    def __init__(self, status, message, ptx_line=0):
        super().__init__(message)
        self.status = STATUS[status] if 0 <= status < len(STATUS) else str(status)
        self.ptx_line = ptx_line


class _CError(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("ptx_line", ctypes.c_int),
                ("message", ctypes.c_char * _MESSAGE_BYTES)]


class _CLaunch(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint32 * 3), ("block", ctypes.c_uint32 * 3),
                ("dynamic_shared_bytes", ctypes.c_uint32)]


def _find_library():
    named = os.environ.get("PTXRUN_LIBRARY")
    if named:
        return named
    here = os.path.dirname(os.path.realpath(__file__))
    for place in _PLACES:
        path = os.path.normpath(os.path.join(here, place))
        if os.path.exists(path):
            return path
    raise ImportError("libptxrun.so is not beside ptxrun.py; name it in PTXRUN_LIBRARY")


def _open_library():
    library = ctypes.CDLL(_find_library())
    pointer, text, size, status = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int
    out, error = ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(_CError)
    signatures = {
        "ptxrun_version": (text, ()),
        "ptxrun_load_text": (status, (text, size, out, error)),
        "ptxrun_load_file": (status, (text, out, error)),
        "ptxrun_unload": (None, (pointer,)),
        "ptxrun_find_kernel": (status, (pointer, text, out, error)),
        "ptxrun_kernel_name": (text, (pointer, size)),
        "ptxrun_param_count": (size, (pointer,)),
        "ptxrun_param_bytes": (size, (pointer, size)),
        "ptxrun_param_type": (text, (pointer, size)),
        "ptxrun_find_variable": (status, (pointer, text, out, ctypes.POINTER(size), error)),
        "ptxrun_launch": (status, (pointer, ctypes.POINTER(_CLaunch), out, size, error)),
        "ptx_run": (status, (text, ctypes.c_int, out) + (ctypes.c_int,) * 6),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


_library = _open_library()


def _call(function, *arguments):
    """Calls a function of the library that returns a status and takes an error last."""
    error = _CError()
    status = function(*arguments, ctypes.byref(error))
    if status:
        raise Error(status, error.message.decode(errors="replace"), error.ptx_line)


def version():
    """Version of the library, "major.minor.patch"."""
    return _library.ptxrun_version().decode()


def _dimensions(value, what):
    """A number, or one to three of them, as three."""
    numbers = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if not 1 <= len(numbers) <= 3:
        raise TypeError(f"{what} has one to three dimensions, not {len(numbers)}")
    if any(isinstance(n, (bool, float)) or not hasattr(n, "__index__") for n in numbers):
        raise TypeError(f"{what} {value!r}: dimensions are whole numbers")
    numbers = tuple(n.__index__() for n in numbers) + (1,) * (3 - len(numbers))
    if any(n < 0 or n > 0xFFFFFFFF for n in numbers):
        raise ValueError(f"{what} {value!r}: a dimension is out of range")
    return numbers


class _Parameter:
    """What a kernel takes in one place, and how a value of Python becomes that."""

    def __init__(self, kernel, index, ptx_type, size):
        self.where = f"argument {index + 1} of kernel '{kernel}' (.{ptx_type})"
        self.type, self.size = ptx_type, size

    def _fail(self, value, why):
        raise TypeError(f"{self.where}: {type(value).__name__} {why}")

    def _address(self, value):
        """Of an array's first element."""
        interface = value.__array_interface__
        if self.size != 8 or self.type in _FLOATS or self.type == "bytes":
            self._fail(value, "is an array, and the kernel takes no pointer here")
        if interface["data"][1]:
            self._fail(value, "is an array that must not be written to")
        if not value.flags.c_contiguous:
            self._fail(value, "is an array that is not contiguous: use numpy.ascontiguousarray")
        if not value.flags.aligned:
            self._fail(value, "is an array that is not aligned")
        return struct.pack("Q", interface["data"][0])

    def _number(self, value):
        if self.type == "bytes":
            self._fail(value, f"is a number, and the kernel takes {self.size} bytes")
        if self.type in _FLOATS or (isinstance(value, float) and self.type in ("b32", "b64")):
            code = _FLOATS.get(self.type) or ("f" if self.size == 4 else "d")
            return struct.pack(code, value)
        if isinstance(value, float):
            self._fail(value, "is no whole number")
        signed, unsigned = _INTEGERS[str(self.size * 8)]
        # Types without a sign take both: kernels of nvcc have .u32 for int.
        code = signed if value < 0 else unsigned
        try:
            return struct.pack(code, value)
        except struct.error:
            raise OverflowError(f"{self.where}: {value} does not fit {self.size} bytes") from None

    def _sized(self, value):
        """A number of NumPy, which has a type of its own."""
        is_float = value.dtype.kind == "f"
        if value.dtype.kind not in "iufbV":
            self._fail(value, "cannot be passed to a kernel")
        if value.dtype.itemsize != self.size:
            self._fail(value, f"has {value.dtype.itemsize} bytes, and the kernel takes {self.size}")
        if self.type[0] != "b" and is_float != (self.type in _FLOATS):
            self._fail(value, "is of another kind")
        return value.tobytes()

    def pack(self, value):
        """The bytes of the argument."""
        if isinstance(value, ctypes.Structure):
            value = bytes(value)
        if isinstance(value, (bytes, bytearray)):
            if len(value) != self.size:
                self._fail(value, f"has {len(value)} bytes, and the kernel takes {self.size}")
            return bytes(value)
        if hasattr(value, "__array_interface__"):
            is_array = hasattr(value, "flags") and getattr(value, "ndim", 0) > 0
            return self._address(value) if is_array else self._sized(value)
        if value is None and self.size == 8:
            return bytes(8)
        if isinstance(value, (int, float)):
            return self._number(value)
        return self._fail(value, "cannot be passed to a kernel")


class Kernel:
    """A kernel of a module. kernel[grid, block](...) or kernel[grid, block, shared_bytes](...)
    launches it and waits; arguments are NumPy arrays (contiguous, writable), numbers of NumPy or
    Python, None for a null pointer, and bytes or ctypes structures for structs."""

    def __init__(self, module, name):
        handle = ctypes.c_void_p()
        _call(_library.ptxrun_find_kernel, module._handle, name.encode(), ctypes.byref(handle))
        self.module, self.name, self._handle = module, name, handle
        self.parameters = [
            _Parameter(name, n, _library.ptxrun_param_type(handle, n).decode(),
                       _library.ptxrun_param_bytes(handle, n))
            for n in range(_library.ptxrun_param_count(handle))]

    def launch(self, grid, block, arguments, shared=0):
        """Runs the grid and returns when it has ended."""
        if self.module._handle is None:
            raise ValueError(f"the module of kernel '{self.name}' is closed")
        if len(arguments) != len(self.parameters):
            raise TypeError(f"kernel '{self.name}' takes {len(self.parameters)} arguments, "
                            f"not {len(arguments)}")
        values = [ctypes.create_string_buffer(parameter.pack(value), max(parameter.size, 8))
                  for parameter, value in zip(self.parameters, arguments)]
        pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(v) for v in values))
        launch = _CLaunch((ctypes.c_uint32 * 3)(*_dimensions(grid, "grid")),
                          (ctypes.c_uint32 * 3)(*_dimensions(block, "block")), shared)
        _call(_library.ptxrun_launch, self._handle, ctypes.byref(launch), pointers, len(values))

    def __getitem__(self, shape):
        if not isinstance(shape, tuple) or not 2 <= len(shape) <= 3:
            raise TypeError("write kernel[grid, block](...) or kernel[grid, block, shared](...)")
        return lambda *arguments: self.launch(shape[0], shape[1], arguments, *shape[2:])


class Module:
    """PTX text (str or bytes), or a file: PTX, a fat binary, an executable."""

    def __init__(self, ptx=None, path=None):
        self._handle = None
        if (ptx is None) == (path is None):
            raise TypeError("give either PTX text or a path")
        handle = ctypes.c_void_p()
        if path is not None:
            _call(_library.ptxrun_load_file, os.fsencode(path), ctypes.byref(handle))
        else:
            text = ptx.encode() if isinstance(ptx, str) else bytes(ptx)
            _call(_library.ptxrun_load_text, text, len(text), ctypes.byref(handle))
        self._handle = handle

    def kernel(self, name):
        if self._handle is None:
            raise ValueError("the module is closed")
        return Kernel(self, name)

    def kernel_names(self):
        """Of all kernels, in the order of the text."""
        names, n = [], 0
        while self._handle and (name := _library.ptxrun_kernel_name(self._handle, n)):
            names.append(name.decode())
            n += 1
        return names

    def variable(self, name):
        """The bytes of a .global or .const variable, which stay the module's: for numpy.frombuffer."""
        if self._handle is None:
            raise ValueError("the module is closed")
        address, size = ctypes.c_void_p(), ctypes.c_size_t()
        _call(_library.ptxrun_find_variable, self._handle, name.encode(), ctypes.byref(address),
              ctypes.byref(size))
        array = (ctypes.c_uint8 * size.value).from_address(address.value)
        array.module = self
        return array

    def close(self):
        handle, self._handle = self._handle, None
        if handle:
            _library.ptxrun_unload(handle)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_handle", None):
            self.close()


class TritonKernel:
    """A kernel as Triton compiles it: a block has 32 * num_warps threads, and pointers that the
    compiler has put behind the arguments (scratch memory) are null.

        TritonKernel(compiled.asm["ptx"], num_warps=compiled.metadata.num_warps,
                     shared=compiled.metadata.shared)[grid](x, y, 1000)
    """

    SCRATCH_POINTERS = 2

    def __init__(self, ptx, name=None, num_warps=4, shared=0):
        self.module = Module(ptx)
        names = self.module.kernel_names()
        if name is None and len(names) != 1:
            raise ValueError(f"name one of the kernels {names}")
        self.kernel = self.module.kernel(name or names[0])
        self.num_warps, self.shared = num_warps, shared
        text = ptx if isinstance(ptx, str) else bytes(ptx).decode(errors="replace")
        head = re.search(r"\.entry\s+" + re.escape(self.kernel.name) + r"\b[^{]*", text)
        wanted = re.search(r"\.reqntid\s+(\d+)", head.group()) if head else None
        if wanted and int(wanted.group(1)) != num_warps * _WARP:
            raise ValueError(f"kernel '{self.kernel.name}' wants {wanted.group(1)} threads, and "
                             f"{num_warps} warps have {num_warps * _WARP}")

    def __getitem__(self, grid):
        def run(*arguments):
            missing = self.kernel.parameters[len(arguments):]
            if len(missing) <= self.SCRATCH_POINTERS and all(p.size == 8 for p in missing):
                arguments += (None,) * len(missing)
            self.kernel.launch(grid, self.num_warps * _WARP, arguments, self.shared)
        return run


class TinygradProgram:
    """A program in the form of tinygrad's runtimes: buffers, then whole numbers of 32 bits."""

    def __init__(self, name, lib):
        self.name, self.lib = name, lib.encode() if isinstance(lib, str) else bytes(lib)

    def __call__(self, *bufs, global_size=(1, 1, 1), local_size=(1, 1, 1), vals=(), wait=False):
        values = [b.ctypes.data if hasattr(b, "ctypes") else ctypes.addressof(b) for b in bufs]
        values += [int(v) & 0xFFFFFFFF for v in vals]
        arguments = (ctypes.c_void_p * len(values))(*values)
        start = time.perf_counter()
        status = _library.ptx_run(self.lib, len(values), arguments,
                                  *_dimensions(local_size, "local_size"),
                                  *_dimensions(global_size, "global_size"))
        if status:
            raise Error(status, f"kernel '{self.name}' failed; the reason is on standard error")
        return time.perf_counter() - start if wait else None
