# SPDX-License-Identifier: Apache-2.0
"""Heat that spreads from a hot square and a hot edge, as a colour picture. Each step is compared with
the same in NumPy. Usage: heat.py [FILE], default heat.ppm"""

import os
import sys

import numpy
import ptxrun

SIZE, STEPS, RATE = 256, 400, numpy.float32(0.2)


def step_of_numpy(heat):
    after = heat.copy()
    around = heat[1:-1, :-2] + heat[1:-1, 2:] + heat[:-2, 1:-1] + heat[2:, 1:-1]
    here = heat[1:-1, 1:-1]
    after[1:-1, 1:-1] = here + (around + here * numpy.float32(-4)) * RATE
    return after


def colours(heat):
    """Black, red, yellow, white."""
    parts = [numpy.clip(heat * 3 - n, 0, 1) * 255 for n in range(3)]
    return numpy.stack(parts, axis=2).astype(numpy.uint8)


heat = numpy.zeros((SIZE, SIZE), numpy.float32)
heat[0, :] = 1
heat[100:140, 80:120] = 1
other, expected = numpy.empty_like(heat), heat.copy()
path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "heat.ptx")
with ptxrun.Module(path=path) as module:
    kernel = module.kernel("heat")
    for _ in range(STEPS):
        kernel[(SIZE // 32, SIZE // 8), (32, 8)](heat, other, SIZE, SIZE, RATE)
        heat, other = other, heat
        expected = step_of_numpy(expected)

name = sys.argv[1] if len(sys.argv) > 1 else "heat.ppm"
with open(name, "wb") as file:
    file.write(b"P6\n%d %d\n255\n" % (SIZE, SIZE))
    file.write(colours(heat).tobytes())
is_equal = numpy.allclose(heat, expected, rtol=0, atol=1e-5)
print(f"{name}: {SIZE}x{SIZE} after {STEPS} steps: {'PASSED' if is_equal else 'FAILED'}")
sys.exit(not is_equal)
