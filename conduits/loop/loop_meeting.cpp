#include "conduits/loop/loop_meeting.hpp"

#include <new>
#include <utility>

namespace aqueduct::conduits::loop {
namespace {

using Part = std::vector<std::byte>;

/// What one member gets of an operation. Each function may throw std::bad_alloc.
class PartOfMember {
 public:
  PartOfMember(const std::vector<core::NativeCall>& parts, Rank me)
      : parts_(parts), shape_(parts[me].shape), mine_(parts[me]), me_(me), bytes_(shape_.bytes) {}

  Part result() const {
    const bool root = me_ == shape_.root;
    switch (shape_.operation) {
      case Collective::broadcast: return block_of(shape_.root, 0);
      case Collective::scatter: return block_of(shape_.root, me_);
      case Collective::gather: return root ? blocks(0) : Part();
      case Collective::all_gather: return blocks(0);
      case Collective::all_to_all: return blocks(me_);
      case Collective::reduce: return root ? sum(ranks(), 0) : Part();
      case Collective::all_reduce: return sum(ranks(), 0);
      case Collective::reduce_scatter: return sum(ranks(), me_);
      case Collective::scan: return sum(me_ + 1, 0);
      case Collective::exscan: return me_ != 0 ? sum(me_, 0) : Part();
      default: return {};  // LoopTeam::refusal refuses it
    }
  }

 private:
  Rank ranks() const { return static_cast<Rank>(parts_.size()); }
  const std::byte* at(Rank from, Rank block) const { return parts_[from].in + block * bytes_; }
  Part block_of(Rank from, Rank block) const { return Part(at(from, block), at(from, block) + bytes_); }
  /// One block of each member's input.
  Part blocks(Rank block) const {
    Part all;
    all.reserve(ranks() * bytes_);
    for (Rank from = 0; from < ranks(); ++from)
      all.insert(all.end(), at(from, block), at(from, block) + bytes_);
    return all;
  }
  /// Of the first members, in team order, one after the other: right for every ReduceOrder.
  Part sum(Rank members, Rank block) const {
    Part all = block_of(0, block);
    for (Rank from = 1; from < members; ++from)
      mine_.combine(all.data(), all.data(), at(from, block), bytes_ / shape_.element, mine_.context);
    return all;
  }

  const std::vector<core::NativeCall>& parts_;
  const core::NativeShape& shape_;
  const core::NativeCall& mine_;
  const Rank me_;
  const std::uint64_t bytes_;
};

}  // namespace

void Gathering::compute(Rank member) noexcept try {
  if (computed[member]) return;
  results[member] = PartOfMember(parts, member).result();
  computed[member] = true;
  done = ++results_there == parts.size();
} catch (const std::bad_alloc&) {
  return;  // in a later poll
}

std::shared_ptr<Meeting> Meetings::of_team(std::uint64_t id, Rank members) {
  const std::lock_guard lock(mutex_);
  std::erase_if(by_team_, [](const auto& one) { return one.second.expired(); });
  auto found = by_team_[id].lock();
  if (found == nullptr) by_team_[id] = found = std::make_shared<Meeting>(members);
  return found;
}

}  // namespace aqueduct::conduits::loop
