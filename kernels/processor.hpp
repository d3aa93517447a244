#pragma once

namespace aqueduct::kernels {

/// The instruction sets of a processor that kernels use. Tests pretend that it has fewer.
struct Processor {
  bool avx2 = false;
  bool avx512 = false;       ///< the common part: F, BW, DQ, VL
  bool avx512_vbmi = false;  ///< byte permutations of two vectors (VBMI), and byte masks (BW)

  static Processor here() noexcept {
    Processor found;
#if defined(__x86_64__)
    found.avx2 = __builtin_cpu_supports("avx2") != 0;
    found.avx512 = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
                   __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
    found.avx512_vbmi = __builtin_cpu_supports("avx512vbmi") != 0 && __builtin_cpu_supports("avx512bw") != 0;
#endif
    return found;
  }
};

}  // namespace aqueduct::kernels
