#pragma once

namespace aqueduct::vis {

/// What a processor has that copies can use. Tests say that it has less.
struct Processor {
  bool avx2 = false;
  bool avx512_vbmi = false;  ///< permutes bytes of two vectors; with masks by the byte

  static Processor here() noexcept {
    Processor found;
#if defined(__x86_64__)
    found.avx2 = __builtin_cpu_supports("avx2") != 0;
    found.avx512_vbmi = __builtin_cpu_supports("avx512vbmi") != 0 && __builtin_cpu_supports("avx512bw") != 0;
#endif
    return found;
  }
};

}  // namespace aqueduct::vis
