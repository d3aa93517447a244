#include "coll/scratch/senders.hpp"

#include <algorithm>

namespace aqueduct::coll {

namespace {

std::size_t hash_of(const Algorithm& algorithm, const Shape& shape) noexcept {
  constexpr std::uint64_t kOdd = 0x9e37'79b9'7f4a'7c15;
  std::uint64_t hash = reinterpret_cast<std::uintptr_t>(&algorithm) / sizeof(void*);
  const auto add = [&](std::uint64_t value) { hash = (hash ^ value) * kOdd; };
  add(shape.bytes);
  add(shape.parameters[0] + (std::uint64_t{shape.parameters[1]} << 20) +
      (std::uint64_t{shape.parameters[2]} << 40));
  add(static_cast<std::uint64_t>(shape.in) + 4 * static_cast<std::uint64_t>(shape.out));
  return static_cast<std::size_t>(hash >> 32);
}

std::uint64_t steps_of(const Algorithm& algorithm, const Shape& shape) noexcept {
  std::uint64_t steps = 0;
  for (Rank position = 0; position < shape.ranks; ++position) {
    const Schedule schedule(algorithm, shape, position);
    for (std::uint32_t lane = 0; lane < schedule.lanes(); ++lane) steps += schedule.length(lane);
  }
  return steps;
}

}  // namespace

Senders::Senders(Rank ranks)
    : ranks_(ranks), all_(ranks == 64 ? ~Members{0} : (Members{1} << ranks) - 1), rows_(kKept * ranks) {
  for (std::size_t i = 0; i < kKept; ++i) entries_[i].rows = {rows_.data() + i * ranks, ranks};
}

Senders::Entry& Senders::of(const Algorithm& algorithm, const Shape& shape) noexcept {
  Entry& entry = entries_[hash_of(algorithm, shape) % kKept];
  Shape at_zero = shape;
  at_zero.root = 0;
  if (entry.algorithm != &algorithm || !(entry.shape == at_zero)) {
    entry.algorithm = &algorithm;
    entry.shape = at_zero;
    entry.noted_roots = 0;
    read(entry);
  }
  return entry;
}

void Senders::read(Entry& entry) const noexcept {
  if (steps_of(*entry.algorithm, entry.shape) > kMostRead) {
    for (Rank receiver = 0; receiver < ranks_; ++receiver)
      entry.rows[receiver] = all_ & ~(Members{1} << receiver);
    return;
  }
  std::fill(entry.rows.begin(), entry.rows.end(), Members{0});
  for (Rank sender = 0; sender < ranks_; ++sender) {
    const Schedule schedule(*entry.algorithm, entry.shape, sender);
    for (std::uint32_t lane = 0; lane < schedule.lanes(); ++lane) {
      const std::uint32_t length = schedule.length(lane);
      for (std::uint32_t index = 0; index < length; ++index) {
        const Step step = schedule.step(lane, index);
        if (step.kind == Step::Kind::put || step.kind == Step::Kind::signal)
          entry.rows[step.peer] |= Members{1} << sender;
      }
    }
  }
}

}  // namespace aqueduct::coll
