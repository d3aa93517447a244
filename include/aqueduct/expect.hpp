#pragma once

/// Misuse that only a checked build looks for (AQUEDUCT_CHECKED, on in the dev, asan and tsan presets):
/// it ends the program with the place and the reason. A release build compiles it away.
#ifdef AQUEDUCT_CHECKED
namespace aqueduct::detail {
[[noreturn]] void misuse(const char* file, int line, const char* why) noexcept;
}
#define AQUEDUCT_EXPECT(condition, why) \
  ((condition) ? static_cast<void>(0) : ::aqueduct::detail::misuse(__FILE__, __LINE__, why))
#else
#define AQUEDUCT_EXPECT(condition, why) static_cast<void>(0)
#endif
