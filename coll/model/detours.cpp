#include "coll/model/replay.hpp"

namespace aqueduct::coll {

Picoseconds Detours::end_of(Rank rank, Picoseconds begin, Picoseconds work) const noexcept {
  if (period == 0 || length == 0 || work == 0) return begin + work;
  // splitmix64, so that ranks are not in step.
  std::uint64_t chance = seed + (std::uint64_t{rank} + 1) * 0x9e3779b97f4a7c15U;
  chance = (chance ^ (chance >> 30)) * 0xbf58476d1ce4e5b9U;
  chance = (chance ^ (chance >> 27)) * 0x94d049bb133111ebU;
  const Picoseconds first = (chance ^ (chance >> 31)) % period;
  Picoseconds into = (begin + period - first) % period;  // since the last stop began
  Picoseconds at = begin;
  if (into < length) {
    at += length - into;
    into = length;
  }
  if (work <= period - into) return at + work;
  at += period - into;
  const Picoseconds left = work - (period - into);
  const Picoseconds whole = (left - 1) / (period - length);
  return at + whole * period + length + (left - whole * (period - length));
}

}  // namespace aqueduct::coll
