#pragma once

#include <aqueduct/coll.hpp>
#include <aqueduct/rma.hpp>

#include "tests/conformance/collective.hpp"
#include "tests/conformance/pattern.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace aqueduct::conformance {

/// A rank's memory for the buffers of trials, one after the other: some of its own, and a part of a segment.
class CollMemory {
 public:
  static constexpr std::size_t kGuard = 64;  ///< bytes on each side of a buffer that must not change
  static constexpr std::size_t kShift = 64;  ///< a buffer begins up to this many bytes later

  /// Collective over the team. `most_bytes`: of the largest buffer.
  CollMemory(Team& team, std::size_t most_bytes)
      : area_((most_bytes + 63) / 64 * 64 + 2 * kGuard + kShift),
        heap_(2 * area_ + 64),
        segment_(Segment::create(team, 2 * area_)) {
    EXPECT_TRUE(segment_) << segment_.status().text();
  }
  bool ok() const { return segment_.ok(); }
  const Segment& segment() const { return *segment_; }
  Status release() { return segment_->release(); }

  /// Where buffer 0 or 1 begins, in bytes of the segment.
  std::size_t offset(std::size_t which, std::size_t shift) const { return which * area_ + kGuard + shift; }
  std::byte* at(bool in_segment, std::size_t which, std::size_t shift) {
    if (in_segment) return segment_->mine().data() + offset(which, shift);
    const std::size_t odd = reinterpret_cast<std::uintptr_t>(heap_.data()) % 64;
    return heap_.data() + (64 - odd) % 64 + offset(which, shift);
  }

 private:
  std::size_t area_;
  std::vector<std::byte> heap_;
  Result<Segment> segment_;
};

/// One call of a team on this member: prepares its buffers, makes it, and compares the output with the model. Everything
/// follows from the call and its number, which are equal on all members.
///
/// Lifetime: the memory is in use until the trial ends; one trial at a time uses it.
template <class T>
class CollTrial {
 public:
  CollTrial(CollMemory& memory, Team& team, const CollectiveCall& call, std::uint64_t number)
      : memory_(memory), team_(team), call_(call), number_(number), members_(team.size()), me_(team.index()) {
    in_ = lay_out(0, call.in_place ? 0 : blocks_in(call.operation, members_), in_all_, in_each_);
    out_ = lay_out(1, blocks_out(call.operation, members_), out_all_, out_each_);
    write_input();
    before_.assign(out_.begin(), out_.end());
  }

  /// Gives the input other values than the model's, until `restore_input`.
  void spoil_input() {
    if (!reads(call_, me_)) return;
    for (T& value : input()) value = static_cast<T>(value + T{1});
    before_.assign(out_.begin(), out_.end());
  }
  void restore_input() {
    write_input();
    before_.assign(out_.begin(), out_.end());
  }

  /// Makes the call. A blocking one is over then.
  Event begin() {
    if (call_.form == CollForm::plan) {
      if (!plan_) {
        Result<CollPlan> bound = bind();
        if (!bound) return Event(bound.status());
        plan_.emplace(*std::move(bound));
      }
      return plan_->start();
    }
    return with_buffers([&](auto& in, auto& out) {
      if (call_.form == CollForm::blocking) return Event(coll_call<BlockingCalls>(team_, call_, in, out));
      return coll_call<CallsInFlight>(team_, call_, in, out);
    });
  }
  Result<CollPlan> bind() {
    return with_buffers([&](auto& in, auto& out) { return coll_call<Plans>(team_, call_, in, out); });
  }
  /// Ends what `begin` has bound. After the Event has been waited for.
  Status end() { return plan_ ? plan_->end() : Status(); }

  /// Whether the output of this member is that of the model, and nothing around it has changed, nor the input.
  testing::AssertionResult check() const {
    const std::vector<T> expected = result_of(me_, before_);
    if (auto found = holds(std::as_bytes(out_), std::as_bytes(std::span(expected))); !found)
      return found << ": output of member " << me_ << of_call();
    std::vector<T> input(in_.size());
    if (reads(call_, me_)) fill(input);
    if (reads(call_, me_) && !call_.in_place) {
      if (auto found = holds(std::as_bytes(in_), std::as_bytes(std::span(input))); !found)
        return found << ": input of member " << me_ << of_call();
    }
    for (const std::span<T> buffer : {in_, out_}) {
      const auto* const begin = reinterpret_cast<const std::byte*>(buffer.data());
      for (const std::byte* guard : {begin - CollMemory::kGuard, begin + buffer.size_bytes()}) {
        if (auto found = all_are({guard, CollMemory::kGuard}, std::byte{kPoison}); !found)
          return found << (guard < begin ? ": before the " : ": behind the ")
                       << (buffer.data() == in_.data() ? "input" : "output") << " of member " << me_
                       << of_call();
      }
    }
    return testing::AssertionSuccess();
  }
  /// Whether the output is as it was before the call.
  testing::AssertionResult is_untouched() const {
    auto found = holds(std::as_bytes(out_), std::as_bytes(std::span(before_)));
    if (!found) found << ": output of member " << me_ << of_call();
    return found;
  }
  /// Reads another member's output by RMA and compares it. Requires: place `segment`, `on_all` or `on_each`.
  testing::AssertionResult check_of(Endpoint& me, Rank member) const {
    if (!writes(call_, member) || out_.empty()) return testing::AssertionSuccess();
    std::vector<T> found(call_.count * blocks_out(call_.operation, members_));
    const GlobalPtr<T> from{team_.rank_of(member), memory_.offset(1, shift_of(member)),
                            memory_.segment().id()};
    if (const Status got = get(me, std::span(found), from); !got)
      return testing::AssertionFailure() << "get: " << got.text();
    std::vector<T> before(found.size());
    const std::vector<T> expected = result_of(member, before);
    auto same = holds(std::as_bytes(std::span(found)), std::as_bytes(std::span(expected)));
    if (!same) same << ": output of member " << member << ", read by " << me_ << of_call();
    return same;
  }

  std::span<T> input() const { return call_.in_place ? input_in_place() : in_; }
  std::span<T> output() const { return out_; }

 private:
  static constexpr unsigned char kPoison = 0xa5;

  bool in_segment() const {
    return call_.place == CollPlace::segment || call_.place == CollPlace::on_all ||
           call_.place == CollPlace::on_each || (call_.place == CollPlace::some && me_ % 2 != 0);
  }
  /// How many bytes later than at a multiple of 64 the buffers of a member begin.
  std::size_t shift_of(Rank member) const {
    switch (call_.place) {
      case CollPlace::heap:
      case CollPlace::segment:
      case CollPlace::some: return 0;
      case CollPlace::odd: return sizeof(T) * (1 + 2 * (layout_ % 4));
      case CollPlace::on_all: return sizeof(T) * (layout_ % 4);
      case CollPlace::on_each: return sizeof(T) * ((layout_ + member) % 8);
    }
    return 0;
  }
  std::span<T> lay_out(std::size_t which, std::uint64_t blocks, OnAll<T>& all,
                       std::vector<GlobalPtr<T>>& each) {
    const std::uint64_t count = blocks * call_.count;
    std::byte* const place = memory_.at(in_segment(), which, shift_of(me_));
    std::memset(place - CollMemory::kGuard, kPoison, count * sizeof(T) + 2 * CollMemory::kGuard);
    const Segment& segment = memory_.segment();
    if (call_.place == CollPlace::on_all)
      all = on_all<T>(segment, memory_.offset(which, shift_of(0)) / sizeof(T), count);
    if (call_.place == CollPlace::on_each) {
      for (Rank member = 0; member < members_; ++member) {
        each.emplace_back(team_.rank_of(member), memory_.offset(which, shift_of(member)), segment.id());
      }
      all = on_all(std::span<const GlobalPtr<T>>(each), count);
    }
    return {reinterpret_cast<T*>(place), count};
  }
  template <class Do>
  auto with_buffers(const Do& make) {
    if (call_.place == CollPlace::on_all || call_.place == CollPlace::on_each) {
      return make(in_all_, out_all_);
    }
    // Buffers that a member does not need are empty in every other call.
    const bool bare = layout_ % 2 != 0;
    std::span<const T> in = bare && !reads(call_, me_) ? std::span<T>() : in_;
    const bool unused = has_root(call_.operation) && call_.operation != Collective::broadcast &&
                        call_.operation != Collective::scatter && me_ != call_.root;
    std::span<T> out = bare && unused ? std::span<T>() : out_;
    return make(in, out);
  }
  std::span<T> input_in_place() const {
    if (call_.operation == Collective::all_gather) return out_.subspan(me_ * call_.count, call_.count);
    return out_;
  }
  void fill(std::span<T> input) const {
    for (std::uint64_t i = 0; i < input.size(); ++i) input[i] = coll_value<T>(number_, me_, i);
  }
  void write_input() {
    if (reads(call_, me_)) fill(input());
  }
  std::vector<T> result_of(Rank member, std::span<const T> before) const {
    const auto value = [&](Rank from, std::uint64_t i) { return coll_value<T>(number_, from, i); };
    const auto combine = [&](T a, T b) { return coll_combined(call_.reducer.op, a, b); };
    return coll_result<T>(call_, members_, member, value, combine, before);
  }
  std::string of_call() const {
    return " of " + std::to_string(members_) + ", call " + std::to_string(number_) + ": " + text_of(call_) +
           ", elements of " + std::to_string(sizeof(T)) + " bytes";
  }

  CollMemory& memory_;
  Team& team_;
  CollectiveCall call_;
  std::uint64_t number_;
  const std::uint64_t layout_ = number_;  // where the buffers are
  Rank members_;
  Rank me_;
  std::span<T> in_;  // empty in place
  std::span<T> out_;
  OnAll<T> in_all_;
  OnAll<T> out_all_;
  std::vector<GlobalPtr<T>> in_each_;
  std::vector<GlobalPtr<T>> out_each_;
  std::vector<T> before_;
  std::optional<CollPlan> plan_;
};

/// Makes one call from beginning to end, with what its sync modes ask of the program, and checks it.
template <class T>
void try_call(Endpoint& me, Team& team, CollMemory& memory, const CollectiveCall& call,
              std::uint64_t number) {
  CollTrial<T> trial(memory, team, call, number);
  if (call.options.in == Sync::none) {
    ASSERT_TRUE(team.barrier());
  }
  Event event = trial.begin();
  const Status status = me.wait(event);
  ASSERT_TRUE(status) << status.text() << ": " << text_of(call);
  if (call.options.out == Sync::none) {
    ASSERT_TRUE(settle(team)) << text_of(call);
  }
  ASSERT_TRUE(trial.check());
  ASSERT_TRUE(trial.end()) << text_of(call);
}

}  // namespace aqueduct::conformance
