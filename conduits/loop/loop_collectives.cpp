#include "conduits/loop/loop_collectives.hpp"

#include "conduits/loop/loop_network.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

namespace aqueduct::conduits::loop {
namespace {

/// What members must agree on beyond the mark, so that nothing is read outside a buffer.
bool fit_together(const core::NativeCall& a, const core::NativeCall& b) noexcept {
  return a.mark == b.mark && a.shape.operation == b.shape.operation && a.shape.bytes == b.shape.bytes &&
         a.shape.root == b.shape.root && a.shape.element == b.shape.element;
}

}  // namespace

LoopTeam::LoopTeam(LoopNativeCollectives& all, std::shared_ptr<Meeting> meeting,
                   std::span<const Rank> members, Rank position)
    : all_(all),
      meeting_(std::move(meeting)),
      members_(members.begin(), members.end()),
      position_(position) {}

// The endpoint may end while operations are posted: the others must not use this member's buffers any more.
LoopTeam::~LoopTeam() {
  cancel(0);
  std::erase(all_.teams_, this);
}

const char* LoopTeam::refusal(const core::NativeShape& shape) const noexcept {
  if (shape.operation < Collective::broadcast || shape.operation > Collective::exscan)
    return "loop does not do this operation";
  if (shape.bytes > kMostCollectiveBytes / members_.size()) return "its buffers are too long for loop";
  if (all_.known_types_only_ && shape.operation >= Collective::reduce &&
      (shape.op == ReduceOp::user || shape.type == ElementType::bytes))
    return "loop has been told to combine known types only";
  return nullptr;
}

// Less than a message: so the tests' operations go this way whenever they can.
std::uint64_t LoopTeam::cost(const core::NativeShape&) const noexcept { return 100; }

core::Post LoopTeam::start(const core::NativeCall& call, core::Token token) noexcept try {
  if (all_.network_.turns() != nullptr) all_.network_.turns()->take(all_.me_);
  // All memory first: a failure changes nothing.
  posted_.reserve(posted_.size() + 1);
  all_.teams_.reserve(all_.teams_.size() + 1);
  const std::lock_guard lock(meeting_->mutex);
  Gathering& operation = meeting_->operations.try_emplace(call.number, meeting_->members).first->second;
  for (Rank i = 0; i < meeting_->members; ++i) {
    if (operation.here[i] && !fit_together(operation.parts[i], call)) operation.differs = true;
  }
  operation.parts[position_] = call;
  operation.here[position_] = true;
  ++operation.started;
  if (posted_.empty()) all_.teams_.push_back(this);
  posted_.push_back({call.number, token, false});
  return core::Post::posted();
} catch (const std::bad_alloc&) {
  return core::Post::retry();
}

// Not those of which all members have what they get: these have ended well.
void LoopTeam::cancel(std::uint64_t from) noexcept {
  const std::lock_guard lock(meeting_->mutex);
  for (Posted& posted : posted_) {
    const auto found = meeting_->operations.find(posted.number);
    if (posted.number < from || found == meeting_->operations.end() || found->second.done) continue;
    posted.given_up = true;
    found->second.given_up = true;
    found->second.here[position_] = false;
  }
}

std::vector<Rank> LoopTeam::missing(std::uint64_t number) const {
  const std::lock_guard lock(meeting_->mutex);
  std::vector<Rank> ranks;
  const auto found = meeting_->operations.find(number);
  if (found == meeting_->operations.end()) return ranks;
  for (Rank i = 0; i < meeting_->members; ++i) {
    if (!found->second.here[i]) ranks.push_back(members_[i]);
  }
  return ranks;
}

/// Requires: the meeting's mutex.
bool LoopTeam::has_ended(const Posted& posted, Status& status) noexcept {
  const auto found = meeting_->operations.find(posted.number);
  Gathering& operation = found->second;
  if (posted.given_up) {
    status = ErrorCode::closed;
  } else if (!all_.broken_down_.ok() && !operation.done) {
    operation.here[position_] = false;
    operation.given_up = true;
    status = all_.broken_down_;
  } else if (operation.differs) {
    operation.here[position_] = false;
    status = ErrorCode::mismatch;
  } else {
    if (operation.started == meeting_->members && !operation.given_up) operation.compute(position_);
    if (!operation.done) return false;
    // Not before all have what they get: an output may be an input too.
    const std::vector<std::byte>& result = operation.results[position_];
    if (!result.empty()) std::memcpy(operation.parts[position_].out, result.data(), result.size());
    status = {};
  }
  if (++operation.collected == meeting_->members) meeting_->operations.erase(found);
  return true;
}

void LoopTeam::collect(std::vector<Ended>& ended) noexcept {
  const std::lock_guard lock(meeting_->mutex);
  std::erase_if(posted_, [&](const Posted& posted) {
    if (ended.size() == ended.capacity()) return false;  // in the next poll
    Status status;
    if (!has_ended(posted, status)) return false;
    ended.push_back({posted.token, status});
    return true;
  });
}

std::unique_ptr<core::NativeTeam> LoopNativeCollectives::make_team(std::uint64_t id,
                                                                   std::span<const Rank> members) {
  const auto mine = std::find(members.begin(), members.end(), me_);
  if (mine == members.end()) return nullptr;
  if (ended_.capacity() == 0) ended_.reserve(64);
  return std::make_unique<LoopTeam>(*this, network_.meetings().of_team(id, static_cast<Rank>(members.size())),
                                    members, static_cast<Rank>(mine - members.begin()));
}

int LoopNativeCollectives::carry_out(core::Inbox& inbox) noexcept {
  if (teams_.empty()) return 0;
  ended_.clear();
  for (LoopTeam* const team : teams_) team->collect(ended_);
  std::erase_if(teams_, [](const LoopTeam* team) { return team->posted_.empty(); });
  // A completion may start more operations; these wait for the next poll.
  for (const LoopTeam::Ended& one : ended_) inbox.completed(one.token, one.status);
  return static_cast<int>(ended_.size());
}

}  // namespace aqueduct::conduits::loop
