#include "coll/tune/decision.hpp"

#include "coll/tune/barrier_shape.hpp"

#include <algorithm>

namespace aqueduct::coll {

TeamKind kind_of(const TeamTraits& team) noexcept {
  if (team.mapped) return TeamKind::mapped;
  return team.one_host ? TeamKind::host : TeamKind::network;
}

TuningKey key_of(const Shape& shape, const TeamTraits& team) noexcept {
  const TeamKind kind = kind_of(team);
  const Crowding crowded = team.crowded ? Crowding::yes : Crowding::no;
  if (kind != TeamKind::network) return key_of(shape, kind, 0, crowded);
  // Without groups each member has a host of its own.
  return key_of(shape, kind, team.groups != nullptr ? team.groups->count() : team.ranks, crowded);
}

TuningKey key_of(const Shape& shape, TeamKind kind, Rank hosts, Crowding crowded) noexcept {
  TuningKey key;
  key.operation = shape.operation;
  key.crowded = crowded;
  if (shape.operation == Operation::barrier) {
    key.in = key.out = Sync::mine;
    key.kind = kind;
    key.ranks = shape.ranks;
    key.hosts = hosts;
    return key;
  }
  key.in = shape.in;
  key.out = shape.out;
  key.addresses = shape.addresses;
  key.order = shape.order;
  key.commutative = shape.commutative;
  key.kind = kind;
  key.ranks = shape.ranks;
  key.hosts = hosts;
  key.element = reduces(shape.operation) ? shape.element : 1;
  key.size = size_class(shape.bytes);
  return key;
}

Shape judged_shape(const TuningKey& key) noexcept {
  if (key.operation == Operation::barrier) return barrier_shape(key.ranks);
  Shape shape;
  shape.operation = key.operation;
  shape.in = key.in;
  shape.out = key.out;
  shape.addresses = key.addresses;
  shape.order = key.order;
  shape.commutative = key.commutative;
  shape.ranks = key.ranks;
  shape.element = key.element;
  const std::uint64_t least = least_bytes_of(key.size);
  // Whole elements: the least number that reaches the class.
  shape.bytes = (least + key.element - 1) / key.element * key.element;
  shape.pitch = shape.bytes;
  return shape;
}

}  // namespace aqueduct::coll
