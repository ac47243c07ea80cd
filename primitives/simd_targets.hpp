// SPDX-License-Identifier: Apache-2.0
#pragma once

// To be included before Highway: the instruction sets that kernels are compiled for, one of which
// is chosen at run time. Sanitizer builds take the baseline and AVX2 only: they look at indices,
// which are the same for all, and compile in a third of the time.
#ifdef TUTTI_FEW_SIMD_TARGETS
#define HWY_DISABLED_TARGETS ((HWY_AVX2 - 1) | HWY_SSSE3 | HWY_SSE4)  // better ones have lower bits
#else
#define HWY_DISABLED_TARGETS HWY_SSSE3
#endif
