#pragma once

#include "conduits/ofi/ofi_conduit.hpp"
#include "tests/support/heard.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace aqueduct::conduits::ofi {

using support::Heard;

/// What rank 0 has asked of libfabric since `clear`.
struct Calls {
  int writes = 0;
  int reads = 0;
  int sends = 0;  ///< but for the words that keep a peer awake
  int words = 0;

  int all() const { return writes + reads + sends; }
};

/// What goes wrong at rank 0 from now on. Errors are negative, as libfabric answers them; 0: nothing.
struct Faults {
  int sends_answer = 0;
  int sends_end_with = 0;   ///< they are taken, go nowhere, and complete with this
  int writes_end_with = 0;  ///< as shm's that fail: they complete with this, and do not say who they are
  std::uint64_t write_flags = 0;  ///< of these completions
  int queue = 0;                  ///< reading the completion queue, and its errors
};

/// Two endpoints, or more, of one provider in this process, without the library above them. Rank 0's calls are counted, and
/// may be made to fail.
class Pair {
 public:
  /// A provider that is there and does not work fails the test.
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
  /// Polls all until it holds, for at most ten seconds.
  bool until(const std::function<bool()>& holds);
  /// Tries until the answer is not `retry`.
  core::Post insist(const std::function<core::Post()>& attempt);
  /// Ends all that rank 0's `token` began: the status, or that nothing came.
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
