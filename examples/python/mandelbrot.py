# SPDX-License-Identifier: Apache-2.0
"""Draws the Mandelbrot set into a grey picture. Usage: mandelbrot.py [FILE], default mandelbrot.pgm"""

import os
import sys

import numpy
import ptxrun

WIDTH, HEIGHT, LIMIT = 640, 480, 255

path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mandelbrot.ptx")
picture = numpy.zeros((HEIGHT, WIDTH), numpy.uint8)
with ptxrun.Module(path=path) as module:
    grid = ((WIDTH + 31) // 32, (HEIGHT + 7) // 8)
    module.kernel("mandelbrot")[grid, (32, 8)](
        picture, WIDTH, HEIGHT, -2.2, -1.125, 2.25 / HEIGHT, LIMIT)

name = sys.argv[1] if len(sys.argv) > 1 else "mandelbrot.pgm"
with open(name, "wb") as file:
    file.write(b"P5\n%d %d\n255\n" % (WIDTH, HEIGHT))
    file.write(picture.tobytes())
inside = int((picture == 0).sum())
print(f"{name}: {WIDTH}x{HEIGHT}, {inside} points inside")
