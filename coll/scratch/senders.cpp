#include "coll/scratch/senders.hpp"

#include <algorithm>
#include <utility>

namespace aqueduct::coll {

namespace {

/// A hash of numbers, by multiplication.
struct Mixed {
  std::uint64_t value = 0;
  void add(std::uint64_t number) noexcept {
    value = (value ^ number) * 0x9e37'79b9'7f4a'7c15;
    value ^= value >> 32;
  }
};

std::uint64_t hash_of(const Algorithm& algorithm, const Shape& shape) noexcept {
  Mixed mixed;
  mixed.add(reinterpret_cast<std::uintptr_t>(&algorithm));
  mixed.add(shape.bytes);
  mixed.add(shape.parameters[0] + (std::uint64_t{shape.parameters[1]} << 20) +
            (std::uint64_t{shape.parameters[2]} << 40));
  mixed.add(static_cast<std::uint64_t>(shape.in) + 4 * static_cast<std::uint64_t>(shape.out));
  if (!shifts_with_root(shape)) mixed.add(shape.root);
  return mixed.value;
}

struct Lengths {
  std::uint64_t steps = 0;  ///< of all members
  Mixed hash;
};
Lengths lengths_of(const Algorithm& algorithm, const Shape& shape) noexcept {
  Lengths lengths;
  for (Rank position = 0; position < shape.ranks; ++position) {
    const Schedule schedule(algorithm, shape, position);
    for (std::uint32_t lane = 0; lane < schedule.lanes(); ++lane) {
      lengths.steps += schedule.length(lane);
      lengths.hash.add(schedule.length(lane) + 1);
    }
  }
  return lengths;
}

bool differ_only_in_bytes(const Shape& a, Shape b) noexcept {
  b.bytes = a.bytes;
  b.pitch = a.pitch;
  return a == b;
}

}  // namespace

Senders::Senders(Rank ranks)
    : ranks_(ranks), all_(ranks == 64 ? ~Members{0} : (Members{1} << ranks) - 1), rows_(kKept * ranks) {
  for (std::size_t i = 0; i < kKept; ++i) entries_[i].rows = {rows_.data() + i * ranks, ranks};
}

Senders::Entry& Senders::of(const Algorithm& algorithm, const Shape& shape) noexcept {
  Entry& entry = entries_[hash_of(algorithm, shape) % kKept];
  Shape at_zero = shape;
  // The senders do not depend on how elements combine.
  at_zero.op = {};
  at_zero.type = {};
  if (shifts_with_root(shape)) at_zero.root = 0;
  if (entry.algorithm != &algorithm || !(entry.shape == at_zero)) learn(entry, algorithm, at_zero);
  return entry;
}

void Senders::learn(Entry& entry, const Algorithm& algorithm, const Shape& shape) noexcept {
  const Lengths lengths = lengths_of(algorithm, shape);
  const auto same_senders = [&](const Entry& other) {
    return algorithm.added == nullptr && other.algorithm == &algorithm &&
           other.lengths == lengths.hash.value && differ_only_in_bytes(other.shape, shape);
  };
  const auto known = std::find_if(entries_.begin(), entries_.end(), same_senders);
  if (lengths.steps > kMostRead) {
    for (Rank receiver = 0; receiver < ranks_; ++receiver)
      entry.rows[receiver] = all_ & ~(Members{1} << receiver);
  } else if (known == entries_.end()) {
    read(algorithm, shape, entry.rows);
  } else {
    std::copy(known->rows.begin(), known->rows.end(), entry.rows.begin());  // it may be this entry
  }
  entry.algorithm = &algorithm;
  entry.shape = shape;
  entry.lengths = lengths.hash.value;
  ++entry.version;
}

void Senders::read(const Algorithm& algorithm, const Shape& shape, std::span<Members> rows) const noexcept {
  std::fill(rows.begin(), rows.end(), Members{0});
  for (Rank sender = 0; sender < ranks_; ++sender) {
    const Schedule schedule(algorithm, shape, sender);
    for (std::uint32_t lane = 0; lane < schedule.lanes(); ++lane) {
      const std::uint32_t length = schedule.length(lane);
      for (std::uint32_t index = 0; index < length; ++index) {
        const Step step = schedule.step(lane, index);
        if (step.kind == Step::Kind::put || step.kind == Step::Kind::signal)
          rows[step.peer] |= Members{1} << sender;
      }
    }
  }
}

std::shared_ptr<Senders> SharedSenders::of_team(Rank ranks, const Groups* groups, const TeamTree* tree) {
  std::vector<Rank> key{ranks};
  for (Rank i = 0; groups != nullptr && i < ranks; ++i) key.push_back(groups->group_of(i));
  // With a mark before them: a team with groups and no tree has a list as long.
  if (tree != nullptr) key.push_back(kNoRank);
  for (Rank i = 0; tree != nullptr && i < ranks; ++i) key.push_back(tree->parent(i));
  std::erase_if(by_team_, [](const auto& one) { return one.second.expired(); });
  std::weak_ptr<Senders>& kept = by_team_[std::move(key)];
  std::shared_ptr<Senders> senders = kept.lock();
  if (senders == nullptr) kept = senders = std::make_shared<Senders>(ranks);
  return senders;
}

}  // namespace aqueduct::coll
