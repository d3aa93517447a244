#pragma once

#include "team/team_state.hpp"

#include <cstddef>
#include <map>
#include <span>
#include <tuple>
#include <vector>

namespace aqueduct::coll {

using Blob = std::vector<std::byte>;

/// What arrives of exchanges, perhaps before this rank has begun them.
class Exchanges {
 public:
  explicit Exchanges(aqueduct::detail::EndpointState& state);

  /// Gives `mine` to every member and returns what each gave, by team index. Collective; for set-up, not for
  /// speed: it allocates.
  ///
  /// Errors: peer_lost, in_handler.
  /// Cost:   ceil(log2 P) rounds; everything passes each member once.
  /// Source: Bruck et al., IEEE Trans. Parallel Distrib. Syst. 8(11), 1997.
  Result<std::vector<Blob>> exchange(aqueduct::detail::TeamState& team, std::span<const std::byte> mine);

 private:
  struct Stream {
    Blob bytes;
    std::size_t arrived = 0;
    bool begun = false;
  };
  using Key = std::tuple<std::uint64_t, std::uint64_t, std::uint32_t>;  // team, number, round

  aqueduct::detail::EndpointState& state_;
  std::map<Key, Stream> streams_;
};

}  // namespace aqueduct::coll
