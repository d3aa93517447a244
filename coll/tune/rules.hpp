#pragma once

#include "coll/schedule/algorithm.hpp"
#include "coll/schedule/shape.hpp"
#include "coll/tune/chooser.hpp"

#include <cstdint>
#include <span>

namespace aqueduct::coll {

/// Values of Rule::radix that are no numbers: the parameter's usual value; as many as the team has members; and the
/// largest of 4, 2 and 3 of which the number of members is a power, else 2. Of an algorithm that goes by hosts, these are
/// the hosts.
inline constexpr std::uint32_t kUsualRadix = 0;
inline constexpr std::uint32_t kRadixOfAll = 0xffff'ffff;
inline constexpr std::uint32_t kRadixOfPower = 0xffff'fffe;

/// The usual rendezvous limit of networks, in bytes of a block. Measured on a busy machine, udp, two ranks: at 64 KiB the
/// announcement costs a gather or an exchange more than the copy that it saves.
inline constexpr std::uint64_t kUsualRendezvous = 128 * 1024;

/// A line of the table: an algorithm, and when it is the one to take. Lines of an operation are in order of preference.
struct Rule {
  const Algorithm* algorithm;
  std::uint32_t radix = kUsualRadix;  ///< for an algorithm that has a radix
  std::uint32_t window = 0;           ///< for an algorithm that has a window; 0: the usual one
  Rank least_ranks = 1;               ///< members; hosts, if the algorithm goes by them
  Rank most_ranks = kNoRank;
  std::uint64_t least_bytes = 0;                 ///< of a block
  std::uint64_t most_bytes = ~std::uint64_t{0};  ///< likewise
  std::uint64_t least_bytes_each = 0;            ///< bytes of a block, divided by the members
  Rank most_on_host = kNoRank;  ///< members of the largest host, of an algorithm that goes by hosts
  /// Bytes of the blocks that all members of the largest host have for all members: what passes through its leader.
  std::uint64_t most_through_leader = ~std::uint64_t{0};
  bool mapped = false;       ///< only if members reach each other's memory without a network
  bool one_host = false;     ///< only if all members share a host
  bool crowded = false;      ///< only if members share a host that has more ranks than processors
  bool consecutive = false;  ///< only if members share several hosts, and those of each host are consecutive
  /// Of a direct algorithm without addresses: from how many bytes of a block on. Members announce their outputs then.
  std::uint64_t least_announced = kUsualRendezvous;
  bool unasked =
      false;  ///< only if members need not tell their peers that they have called: not for Sync::mine
};

/// The lines of an operation. Empty for an operation that no schedule does.
std::span<const Rule> rules_of(Operation operation) noexcept;
/// Whether the conditions of a line hold. They say nothing about what the algorithm can do.
bool applies(const Rule& rule, const Shape& shape, const TeamTraits& team) noexcept;
/// The radix of a line as a number; 0: the usual one.
std::uint32_t radix_of(const Rule& rule, Rank ranks) noexcept;

}  // namespace aqueduct::coll
