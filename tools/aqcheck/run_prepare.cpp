// What comes before a run: the steps of all members, their memory, and what is added to each counter.

#include "tools/aqcheck/legal.hpp"
#include "tools/aqcheck/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace aqueduct::aqcheck {

using coll::Place;
using coll::Space;
using coll::Step;

namespace {

bool moves_bytes(const Step& step) noexcept {
  return step.kind == Step::Kind::put || step.kind == Step::Kind::get || step.kind == Step::Kind::copy ||
         step.kind == Step::Kind::reduce;
}

std::uint64_t end_of(const std::vector<coll::BlockAt>& blocks) noexcept {
  std::uint64_t end = 0;
  for (const coll::BlockAt& block : blocks) end = std::max(end, block.at + block.bytes);
  return end;
}

}  // namespace

bool Run::prepare(const Change& change) {
  const Rank ranks = shape().ranks;
  steps_.clear();
  lanes_.clear();
  readers_.clear();
  touched_.clear();
  lent_.clear();
  addresses_.clear();
  messages_ = 0;
  begun_ = 0;
  for (Rank position = 0; position < ranks; ++position) {
    const coll::Schedule schedule(*case_->algorithm, case_->shape_of(position), position);
    if (schedule.lanes() < 1 || schedule.lanes() > 4) return fail("a member has no lane, or more than 4");
    for (std::uint32_t lane = 0; lane < schedule.lanes(); ++lane) {
      Lane made{.position = position, .lane = lane, .begin = steps_.size()};
      const std::uint32_t length = schedule.length(lane);
      for (std::uint32_t i = 0; i < length; ++i) {
        Step& step = steps_.emplace_back(schedule.step(lane, i));
        if (change) change(position, lane, i, step);
        messages_ += is_message(step) ? 1 : 0;
      }
      made.end = steps_.size();
      lanes_.push_back(made);
    }
  }
  find_unit();
  // The marks: first the members' calls, then the two ends of each message.
  orders_.begin(lanes_.size(), ranks + 2 * messages_);
  for (Lane& lane : lanes_) {
    lane.before = orders_.empty();
    orders_.add_mark(lane.before, lane.position);
  }
  after_ = orders_.empty();
  counters_.assign(std::size_t{ranks} * needs_.counters, {});
  sources_.resize(ranks);
  for (std::vector<std::size_t>& ends : sources_) ends.clear();
  lay_out();
  return true;
}

void Run::find_unit() {
  unit_ = std::gcd(shape().bytes, shape().pitch);
  for (const Step& step : steps_) {
    if (unit_ == 1) break;
    if (!moves_bytes(step) || step.bytes * step.runs == 0) continue;
    unit_ = std::gcd(unit_, step.bytes);
    for (const Place* const place : {&step.from, &step.with, &step.to})
      unit_ = std::gcd(std::gcd(unit_, place->offset), step.runs > 1 ? place->pitch : 0);
    unit_ = std::gcd(unit_, step.slot);
  }
  if (unit_ == 0 || case_->blocks != nullptr) unit_ = 1;  // nothing is moved, or results begin anywhere
  pitch_ = shape().pitch / unit_;
  block_ = shape().bytes / unit_;
}

void Run::lay_out() {
  const auto pieces = [&](Rank blocks) { return blocks == 0 ? 0 : (blocks - 1) * pitch_ + block_; };
  std::size_t all = 0;
  std::uint64_t most = 0;
  spaces_.clear();
  for (Rank position = 0; position < shape().ranks; ++position) {
    Spaces made{};
    made.in_count = pieces(coll::blocks_in(shape(), position));
    made.out_count = pieces(coll::blocks_out(shape(), position));
    if (case_->blocks != nullptr) {
      made.in_count = end_of(case_->blocks->sends[position]);
      made.out_count = end_of(case_->blocks->receives[position]) + 1;  // a byte that stays as it is
    }
    made.in = all;
    made.out = made.in + made.in_count;
    made.scratch = made.out + made.out_count;
    made.temp = made.scratch + needs_.scratch / unit_;
    all = made.temp + needs_.temp / unit_;
    most = std::max(most, made.in_count);
    spaces_.push_back(made);
  }
  cells_.assign(all, {});
  values_.begin(shape().ranks, most);
  for (Rank position = 0; position < shape().ranks; ++position) {
    const Area in = area(position, Space::in);
    for (std::uint64_t at = 0; at < in.count; ++at) in.cells[at].value = values_.input(position, at);
  }
}

bool Run::count_raises() {
  for (Lane& lane : lanes_) {
    for (lane.next = 0; lane.begin + lane.next < lane.end; ++lane.next) {
      const Step& step = step_of(lane);
      if (const char* const problem = illegal(shape(), needs_, lane.position, step); problem != nullptr)
        return fail(fmt::format("{}: {}", name(lane, lane.next), problem));
      if (step.raise != coll::kNoCounter) counter(step.peer, step.raise).total += step.add;
      if (step.done != coll::kNoCounter) counter(lane.position, step.done).total += 1;
      if (step.wait_for != coll::kNoCounter) counter(lane.position, step.wait_for).waited = true;
    }
  }
  for (Lane& lane : lanes_) {
    lane.next = 0;
    for (std::size_t i = lane.begin; i < lane.end; ++i) {
      const Step& step = steps_[i];
      if (step.wait_for == coll::kNoCounter) continue;
      const std::uint64_t total = counter(lane.position, step.wait_for).total;
      if (step.wait_until != total || total == 0) {
        return fail(fmt::format("{} waits for {} on counter {}, to which {} is added in all",
                                name(lane, i - lane.begin), step.wait_until, step.wait_for, total));
      }
    }
  }
  for (std::size_t i = 0; i < counters_.size(); ++i) {
    if (counters_[i].total > kMostArrivals)
      return fail(overflow_text(i / needs_.counters, i % needs_.counters, counters_[i].total));
    if (counters_[i].total > 0 && !counters_[i].waited)
      return fail(
          fmt::format("nobody at member {} waits for counter {}", i / needs_.counters, i % needs_.counters));
  }
  return true;
}

}  // namespace aqueduct::aqcheck
