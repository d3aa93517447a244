#pragma once

#include <aqueduct/status.hpp>

#include <stdexcept>
#include <string>
#include <utility>

namespace aqueduct::perf {

/// The exit status for a wrong or impossible request, the same at every rank.
inline constexpr int kUsageError = 2;

/// Why a benchmark cannot continue; `exit_status` is what the program returns.
class Failure : public std::runtime_error {
 public:
  Failure(const std::string& what, int exit_status) : std::runtime_error(what), exit_status_(exit_status) {}
  int exit_status() const noexcept { return exit_status_; }

 private:
  int exit_status_;
};

inline void require(Status status, const char* operation) {
  if (!status) [[unlikely]]
    throw Failure(std::string(operation) + ": " + status.text(), status.exit_code());
}

template <class T>
T require(Result<T> result, const char* operation) {
  require(result.status(), operation);
  return *std::move(result);
}

}  // namespace aqueduct::perf
