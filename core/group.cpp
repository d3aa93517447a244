#include "core/entry.hpp"
#include "core/group_record.hpp"
#include "core/wait.hpp"

#include <new>
#include <utility>

namespace aqueduct {

namespace core {

GroupRecord::GroupRecord(EndpointState& of) noexcept : state(&of) {
  for (Op* op : {&all, &source}) {
    op->pool = &of.ops;
    op->parts = 1;
  }
  all.kind = &kGroup;
  source.kind = &kSource;
  of.groups.add(*this);
}

GroupRecord::~GroupRecord() {
  if (state == nullptr) return;
  // Misuse, unless it is the endpoint's own: the members go on, and the program does not learn how they end.
  if (in_flight() != 0 || sources_in_flight() != 0) {
    state->ops.move_members(all, state->unobserved);
    state->ops.move_members(source, state->unobserved);
  }
  state->groups.remove(*this);
}

Status GroupRecord::wait(std::chrono::nanoseconds limit) noexcept {
  const Status status = wait_until(
      *state, [&] { return in_flight() == 0; }, kNoRank,
      [&] { return fmt::format("a group of {} operations", in_flight()); }, limit);
  return status ? std::exchange(all.outcome, Status{}) : status;
}

Status GroupRecord::wait_source() noexcept {
  return wait_until(
      *state, [&] { return sources_in_flight() == 0; }, kNoRank,
      [&] { return fmt::format("the end of use of {} source buffers", sources_in_flight()); });
}

void GroupRecord::end_all(ErrorCode why) noexcept {
  if (in_flight() != 0) all.outcome = why;
  all.parts = source.parts = 1;
}

void GroupList::add(GroupRecord& group) noexcept {
  group.next = first_;
  if (first_ != nullptr) first_->previous = &group;
  first_ = &group;
}

void GroupList::remove(GroupRecord& group) noexcept {
  if (group.next != nullptr) group.next->previous = group.previous;
  (group.previous != nullptr ? group.previous->next : first_) = group.next;
}

void GroupList::end_all(ErrorCode why) noexcept {
  for (GroupRecord* group = first_; group != nullptr; group = group->next) group->end_all(why);
}

void GroupList::close() noexcept {
  end_all(ErrorCode::closed);
  while (first_ != nullptr) std::exchange(first_, first_->next)->state = nullptr;
}

}  // namespace core

core::GroupRecord& detail::record_of(Group& group) noexcept {
  return *std::launder(reinterpret_cast<core::GroupRecord*>(group.record_));
}

namespace {

const core::GroupRecord& look_at(const Group& group) noexcept {
  return detail::record_of(const_cast<Group&>(group));
}

}  // namespace

Group::Group(Endpoint& ep) noexcept {
  static_assert(sizeof(core::GroupRecord) <= kRecordBytes && alignof(core::GroupRecord) <= 8);
  const core::Entry entry(ep.state());
  ::new (record_) core::GroupRecord(ep.state());
}

void Group::end() noexcept {
  core::GroupRecord& group = detail::record_of(*this);
  if (group.state == nullptr) {
    group.~GroupRecord();
    return;
  }
  const core::Entry entry(*group.state);
  group.~GroupRecord();
}

bool Group::may_end() const noexcept {
  const core::GroupRecord& group = look_at(*this);
  return group.state == nullptr || group.state->in_child() || (done() && source_done());
}

std::uint32_t Group::in_flight() const noexcept {
  const core::GroupRecord& group = look_at(*this);
  if (group.state == nullptr) return 0;
  const core::Entry entry(*group.state);
  return group.in_flight();
}

std::uint32_t Group::sources_in_flight() const noexcept {
  const core::GroupRecord& group = look_at(*this);
  if (group.state == nullptr) return 0;
  const core::Entry entry(*group.state);
  return group.sources_in_flight();
}

bool Group::test() noexcept {
  core::GroupRecord& group = detail::record_of(*this);
  if (group.state == nullptr) return true;
  const core::Entry entry(*group.state);
  if (group.in_flight() != 0) core::progress(*group.state);
  return group.in_flight() == 0;
}

bool Group::test_source() noexcept {
  core::GroupRecord& group = detail::record_of(*this);
  if (group.state == nullptr) return true;
  const core::Entry entry(*group.state);
  if (group.sources_in_flight() != 0) core::progress(*group.state);
  return group.sources_in_flight() == 0;
}

Status Group::wait_for(std::chrono::nanoseconds limit) noexcept {
  core::GroupRecord& group = detail::record_of(*this);
  if (group.state == nullptr) return ErrorCode::closed;
  const core::Entry entry(*group.state);
  return group.wait(limit);
}

Status Group::wait_source() noexcept {
  core::GroupRecord& group = detail::record_of(*this);
  if (group.state == nullptr) return ErrorCode::closed;
  const core::Entry entry(*group.state);
  return group.wait_source();
}

}  // namespace aqueduct
