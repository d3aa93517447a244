#pragma once

#include "coll/schedule/algorithm.hpp"
#include "coll/schedule/shape.hpp"
#include "coll/tune/fit.hpp"
#include "coll/tune/size_class.hpp"

#include <compare>
#include <cstdint>

namespace aqueduct::coll {

/// How the members of a team reach one another, as far as measured times depend on it.
enum class TeamKind : std::uint8_t {
  mapped,   ///< by loads and stores
  host,     ///< they share a host, and go through its network all the same
  network,  ///< they are on several hosts
};

/// Whether a member's host has more of the job's ranks than processors. Measured times differ by factors then.
enum class Crowding : std::uint8_t {
  unknown,  ///< of a decision, as in older files
  no,
  yes,
};

/// What a choice is made for. It holds only what is the same on all members; the root is no part of it. Barriers of a team have
/// the operation `barrier`, no size and Sync::mine, though they are carried out as all-reduces (barrier_shape.hpp).
struct TuningKey {
  Operation operation = Operation::barrier;
  Sync in = Sync::all;
  Sync out = Sync::all;
  Addresses addresses = Addresses::local;
  Order order = Order::any;
  bool commutative = true;
  TeamKind kind = TeamKind::network;
  Crowding crowded = Crowding::no;
  Rank ranks = 1;
  Rank hosts = 0;  ///< of a team over a network; 0: not known, as in older files, or of another team
  std::uint32_t element = 1;  ///< of an operation that combines; otherwise 1
  std::uint32_t size = 0;     ///< size_class of a block

  friend auto operator<=>(const TuningKey&, const TuningKey&) = default;
};

TeamKind kind_of(const TeamTraits& team) noexcept;
TuningKey key_of(const Shape& shape, TeamKind kind, Rank hosts = 0, Crowding crowded = Crowding::no) noexcept;
TuningKey key_of(const Shape& shape, const TeamTraits& team) noexcept;
/// The shape by which a key is judged: of the least size of its class, with root 0.
Shape judged_shape(const TuningKey& key) noexcept;

/// An algorithm with parameters, and how long it took or is expected to take.
struct Timed {
  const Algorithm* algorithm = nullptr;
  WantedParameters wanted{};  ///< as Forced::wanted
  std::uint64_t picoseconds = 0;

  friend bool operator==(const Timed&, const Timed&) = default;
};

/// What measuring has found for a key.
struct Decision {
  TuningKey key;
  Timed best;
  Timed runner_up;  ///< without an algorithm: there was only one
  std::uint32_t samples = 0;

  friend bool operator==(const Decision&, const Decision&) = default;
};

}  // namespace aqueduct::coll
