#pragma once

#include "conduits/ofi/ofi_conduit.hpp"
#include "tests/support/heard.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace aqueduct::conduits::ofi {

using support::Heard;

/// Calls of libfabric by rank 0 since the counters were cleared.
struct Calls {
  int writes = 0;
  int reads = 0;
  int sends = 0;  ///< without poll hints
  int hints = 0;

  int all() const { return writes + reads + sends; }
};

/// Failures to inject at rank 0 from now on. Errors are negative, as libfabric answers them; 0: none.
struct Faults {
  int sends_answer = 0;
  int sends_end_with = 0;         ///< sends are accepted, go nowhere, and complete with this
  int writes_end_with = 0;        ///< like failed writes of shm: they complete with this, without a context
  std::uint64_t write_flags = 0;  ///< of these completions
  int queue = 0;                  ///< reading the completion queue, and its errors
};

/// Two or more endpoints of one provider in this process, without the library above them. Rank 0's calls are counted, and can
/// be made to fail.
class Pair {
 public:
  /// A provider that is installed but does not work fails the test.
  explicit Pair(const std::string& provider, const OfiOptions& options = {}, Rank ranks = 2);

  /// Why this host has no such provider; empty: it has.
  const std::string& problem() const { return problem_; }
  OfiConduit& operator[](Rank rank) { return *ends_[rank]; }
  Heard& heard(Rank rank) { return heard_[rank]; }
  /// Rank 1's memory, which rank 0 may use under `key`.
  std::vector<std::byte>& memory() { return memory_; }
  std::uint64_t key() const { return key_; }
  std::vector<std::byte>& exported() { return exported_; }
  static Calls& calls();
  static Faults& faults();
  const std::vector<std::string>& log() const { return lines_; }

  void poll();
  /// Polls all ranks until the condition holds, for at most ten seconds.
  bool until(const std::function<bool()>& holds);
  /// Tries until the answer is not `retry`.
  core::Post insist(const std::function<core::Post()>& attempt);
  /// Waits for rank 0's completion of `token`: its status, or timed_out.
  Status end_of(core::Token token);

 private:
  std::string problem_;
  std::vector<std::string> lines_;
  core::Log log_;
  Provider provider_;
  Fid<fid_fabric> fabric_;
  std::vector<std::byte> memory_;
  std::vector<std::byte> exported_;
  std::uint64_t key_ = 0;
  std::vector<Heard> heard_;
  std::vector<std::unique_ptr<OfiConduit>> ends_;

  void open(const OfiOptions& options, Rank ranks);
};

}  // namespace aqueduct::conduits::ofi
