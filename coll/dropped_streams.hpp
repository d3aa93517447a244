#pragma once

#include <aqueduct/rank.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

namespace aqueduct::coll {

/// What one member sends in one round of a set-up exchange: team, number of the exchange, round, sender.
using StreamKey = std::tuple<std::uint64_t, std::uint64_t, std::uint32_t, Rank>;

/// Of which messages of set-up exchanges a piece was dropped for lack of memory: a wait for one of them must end.
/// Only the constructor allocates.
class DroppedStreams {
 public:
  explicit DroppedStreams(Rank ranks) : unnamed_(ranks) {}

  void add(const StreamKey& key) noexcept {
    if (has(key)) return;
    if (count_ < keys_.size())
      keys_[count_++] = key;
    else
      unnamed_[std::get<3>(key)] = true;
  }
  bool has(const StreamKey& key) const noexcept {
    return unnamed_[std::get<3>(key)] || std::find(keys_.begin(), end(), key) != end();
  }
  /// The wait for it has ended.
  void remove(const StreamKey& key) noexcept {
    unnamed_[std::get<3>(key)] = false;
    remove_if([&](const StreamKey& one) { return one == key; });
  }
  /// An exchange is over, and so are earlier ones of the team.
  void forget(std::uint64_t team, std::uint64_t number) noexcept {
    remove_if([&](const StreamKey& one) { return std::get<0>(one) == team && std::get<1>(one) <= number; });
  }

  /// The most messages that are told apart. Of a further one only the sender is remembered: then the next wait for that rank
  /// ends, whatever it waits for. Chosen: a peer takes part in one exchange of a team at a time.
  static constexpr std::size_t kMost = 16;

 private:
  using Keys = std::array<StreamKey, kMost>;
  Keys::const_iterator end() const noexcept { return keys_.begin() + static_cast<std::ptrdiff_t>(count_); }
  template <class Over>
  void remove_if(const Over& over) noexcept {
    const auto last = keys_.begin() + static_cast<std::ptrdiff_t>(count_);
    count_ = static_cast<std::size_t>(std::remove_if(keys_.begin(), last, over) - keys_.begin());
  }

  Keys keys_{};
  std::size_t count_ = 0;      ///< of these, from the first one on
  std::vector<bool> unnamed_;  ///< [sender]
};

}  // namespace aqueduct::coll
