#pragma once

#include <aqueduct/job.hpp>
#include <aqueduct/status.hpp>

#include <cstddef>
#include <cstdio>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace aqueduct::layer {

/// Checks the answers of one rank. The first wrong one is printed, with rank and part, and ends the whole job.
///
/// Threads: any, but for `begin`.
class Report {
 public:
  Report(Job& job, Rank rank) : job_(&job), rank_(rank) {}

  void begin(const char* part) { part_ = part; }

  [[noreturn]] void wrong(const std::string& what) const {
    std::fprintf(stderr, "layer: rank %u, part %s: %s\n", rank_, part_, what.c_str());
    job_->leave(kWrong);
  }
  void need(Status status, const char* what) const {
    if (!status) wrong(std::string(what) + ": " + status.text());
  }
  template <class T>
  T need(Result<T> result, const char* what) const {
    need(result.status(), what);
    return *std::move(result);
  }
  void code(Status got, ErrorCode wanted, const char* what) const {
    if (got.code() != wanted) {
      wrong(std::string(what) + ": got " + got.text() + ", expected " + std::string(describe(wanted).name));
    }
  }
  void holds(bool condition, const char* what) const {
    if (!condition) wrong(std::string(what) + ": does not hold");
  }
  template <class T>
  void equal(T got, std::type_identity_t<T> wanted, const char* what, std::size_t index = 0) const {
    if (got == wanted) return;
    wrong(std::string(what) + " [" + std::to_string(index) + "]: " + std::to_string(got) + ", expected " +
          std::to_string(wanted));
  }
  /// Every element is what `wanted(index)` says.
  template <class T, class Wanted>
  void all(std::span<T> got, const Wanted& wanted, const char* what) const {
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (got[i] == wanted(i)) continue;
      if constexpr (std::is_same_v<std::remove_const_t<T>, std::byte>) {
        equal(std::to_integer<int>(got[i]), std::to_integer<int>(wanted(i)), what, i);
      } else {
        equal<T>(got[i], wanted(i), what, i);
      }
    }
  }

  /// The exit status of a job with a wrong answer.
  static constexpr int kWrong = 9;

 private:
  Job* job_;
  Rank rank_;
  const char* part_ = "start";
};

}  // namespace aqueduct::layer
