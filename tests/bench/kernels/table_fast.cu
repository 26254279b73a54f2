// SPDX-License-Identifier: Apache-2.0
//
// Rows of the table as programs have them that are compiled with -use_fast_math.
#include "nbody.cuh"
