#include <aqueduct/config.hpp>
#include <aqueduct/null_argument.hpp>

#include "core/log.hpp"

#include <atomic>

namespace aqueduct::detail {

Status refuse_null(const char* call, const char* argument) noexcept try {
  constexpr int kMost = 64;  // chosen, as core::names_refusal
  static std::atomic<int> named{0};
  if (named.fetch_add(1, std::memory_order_relaxed) < kMost) {
    core::Log log(Config::from_environment(), kNoRank);
    log.error("{}: `{}` is null. The call needs it, and has done nothing", call, argument);
  }
  return ErrorCode::invalid_argument;
} catch (...) {
  return ErrorCode::invalid_argument;
}

}  // namespace aqueduct::detail
