#pragma once

#include <aqueduct/aqueduct.hpp>

#include "tools/aqperf/failure.hpp"
#include "tools/aqperf/measure/machine.hpp"
#include "tools/aqperf/options.hpp"

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace aqueduct::perf {

/// What a rank does in a benchmark of pairs: begins operations, is their target, both, or neither.
struct Role {
  bool active = false;
  bool passive = false;
  Rank peer = kNoRank;
};

/// One rank of a benchmark: its endpoint, memory to work on, and ways to agree with other ranks.
///
/// Lifetime: longer than the job, which may hold a segment in this object's memory (--memory outside). Everything
///           that is not const is collective: all ranks call it in the same order.
class Session {
 public:
  Session(Endpoint& ep, const Options& options);

  Endpoint& ep() noexcept { return *ep_; }
  const Options& options() const noexcept { return *options_; }
  Rank rank() const noexcept { return ep_->rank(); }
  Rank ranks() const noexcept { return ep_->ranks(); }
  /// The ranks on this machine, including this one: neighbours, and ranks of
  /// other hosts that this machine stands for.
  std::span<const Rank> machine_mates() const noexcept { return machine_mates_; }
  /// Whether this machine has more ranks than cores: then a rank that waits must yield.
  bool crowded() const noexcept { return crowded_; }
  /// Lets the calling thread run on all cores that this rank may use. A rank's own thread is bound to one of them, and
  /// threads that it starts inherit that.
  void run_on_any_core() const { bind_to_all(cores_); }

  /// Rank i of the first half is active towards rank i + ranks / 2. A single rank is its own peer; with an odd
  /// number of ranks the last one has no peer.
  Role pair() const noexcept;
  /// Every rank is active towards the next one.
  Role ring() const noexcept;

  /// Memory for payload on a rank: as large as the largest size to be measured.
  GlobalPtr<std::byte> target(Rank rank) const noexcept { return data_.at<std::byte>(rank); }
  /// This rank's own part of it, and private memory of the same size.
  std::span<std::byte> mine() const noexcept { return data_.mine(); }
  std::span<std::byte> buffer() const noexcept { return {buffer_.get(), bytes_}; }

  /// A 64-bit word in a cache line of its own, zero at the start. Only the owner
  /// writes `turns`, which counts its ping-pongs.
  enum class Line : std::uint64_t { ping_pong, token, turns, copies };
  GlobalPtr<std::uint64_t> line(Rank rank, Line line) const noexcept;

  /// Returns rank 0's value at every rank.
  template <class T>
  T share(const T& value);
  /// Returns every rank's value at every rank.
  template <class T>
  std::vector<T> exchange(const T& value);
  /// Whether it is true at every rank.
  bool everyone(bool mine);

 private:
  static constexpr std::size_t kSlotBytes = 256;
  struct FreeAligned {
    void operator()(std::byte* memory) const noexcept;
  };

  GlobalPtr<std::byte> slot(Rank owner, Rank writer) const noexcept;
  void settle_on_cores();

  Endpoint* ep_;
  const Options* options_;
  std::size_t bytes_;
  cpu_set_t cores_{};
  std::vector<Rank> machine_mates_;
  std::unique_ptr<std::byte, FreeAligned> buffer_;
  std::unique_ptr<std::byte, FreeAligned> outside_;  // null unless --memory outside
  Segment control_;
  Segment data_;
  bool crowded_ = false;
  // Selects one of two sets of slots, because a rank may still read those of the last round.
  std::uint64_t round_ = 0;
};

template <class T>
T Session::share(const T& value) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= kSlotBytes);
  ++round_;
  if (rank() == 0) {
    for (Rank to = 0; to < ranks(); ++to) {
      require(put(ep(), slot(to, 0), std::as_bytes(std::span<const T>(&value, 1))), "put");
    }
  }
  require(ep().barrier(), "barrier");
  T out{};
  std::memcpy(&out, control_.mine().data() + slot(rank(), 0).offset(), sizeof(T));
  return out;
}

template <class T>
std::vector<T> Session::exchange(const T& value) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= kSlotBytes);
  ++round_;
  for (Rank to = 0; to < ranks(); ++to) {
    require(put(ep(), slot(to, rank()), std::as_bytes(std::span<const T>(&value, 1))), "put");
  }
  require(ep().barrier(), "barrier");
  std::vector<T> out(ranks());
  for (Rank from = 0; from < ranks(); ++from) {
    std::memcpy(&out[from], control_.mine().data() + slot(rank(), from).offset(), sizeof(T));
  }
  return out;
}

}  // namespace aqueduct::perf
