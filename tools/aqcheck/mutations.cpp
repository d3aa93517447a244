#include "tools/aqcheck/mutations.hpp"

#include "coll/algorithms/algorithms.hpp"
#include "tools/aqcheck/early_signal.hpp"

#include <fmt/format.h>

#include <utility>

namespace aqueduct::aqcheck {

using coll::Shape;
using coll::Space;
using coll::Step;

namespace {

bool moves(const Step& step) noexcept {
  return (step.kind == Step::Kind::put || step.kind == Step::Kind::get || step.kind == Step::Kind::copy ||
          step.kind == Step::Kind::reduce) &&
         step.bytes * step.runs > 0;
}
bool has_peer(const Step& step) noexcept {
  return step.kind == Step::Kind::put || step.kind == Step::Kind::get || step.kind == Step::Kind::signal;
}

bool waits_for_nothing(const Shape&, Rank, Step& step, Step*) {
  return std::exchange(step.wait_for, coll::kNoCounter) != coll::kNoCounter;
}
bool waits_for_one_less(const Shape&, Rank, Step& step, Step*) {
  if (step.wait_for == coll::kNoCounter) return false;
  --step.wait_until;
  return true;
}
bool waits_for_one_more(const Shape&, Rank, Step& step, Step*) {
  if (step.wait_for == coll::kNoCounter) return false;
  ++step.wait_until;
  return true;
}
bool waits_for_another_counter(const Shape&, Rank, Step& step, Step*) {
  if (step.wait_for == coll::kNoCounter) return false;
  step.wait_for = static_cast<coll::Counter>(step.wait_for == 0 ? 1 : step.wait_for - 1);
  return true;
}
bool is_forgotten(const Shape&, Rank, Step& step, Step*) {
  if (step.kind == Step::Kind::nothing || step.kind == Step::Kind::tell) return false;
  if (!has_peer(step) && !moves(step)) return false;  // a part of no bytes
  Step waits;
  waits.wait_for = step.wait_for;
  waits.wait_until = step.wait_until;
  step = waits;
  return true;
}
bool goes_to_the_next_member(const Shape& shape, Rank position, Step& step, Step*) {
  if (!has_peer(step) || shape.ranks < 3) return false;
  step.peer = (step.peer + 1) % shape.ranks;
  if (step.peer == position) step.peer = (step.peer + 1) % shape.ranks;
  // A broadcast's root has the bytes all along: to read them there is right too, unless it may be gone by then.
  const bool from_root = step.kind == Step::Kind::get && shape.operation == coll::Operation::broadcast &&
                         step.peer == shape.root;
  const bool stays = shape.out == coll::Sync::all ||
                     (shape.out == coll::Sync::none && shape.addresses == coll::Addresses::single);
  return !from_root || !stays;
}
bool reads_too_far(const Shape& shape, Rank, Step& step, Step*) {
  if (!moves(step)) return false;
  step.from.offset += shape.element;
  // Whichever of the two the member uses.
  if (step.from.space == Space::landed || step.from.space == Space::where) step.with.offset += shape.element;
  return true;
}
bool writes_too_far(const Shape& shape, Rank, Step& step, Step*) {
  if (!moves(step)) return false;
  step.to.offset += shape.element;
  return true;
}
bool reads_another_space(const Shape&, Rank, Step& step, Step*) {
  if (!moves(step)) return false;
  const bool there = step.from.space == Space::scratch || step.from.space == Space::landed;
  step.from.space = there ? Space::temp : Space::scratch;
  return true;
}
bool writes_another_space(const Shape&, Rank, Step& step, Step*) {
  if (!moves(step)) return false;
  step.to.space = step.to.space == Space::scratch ? Space::out : Space::scratch;
  return true;
}
bool looks_for_another_address(const Shape&, Rank, Step& step, Step*) {
  if (step.to.space != Space::told) return false;
  step.slot += step.slot == 0 ? coll::kAnnouncementBytes : -coll::kAnnouncementBytes;
  return true;
}
bool moves_an_element_less(const Shape& shape, Rank, Step& step, Step*) {
  if (!moves(step)) return false;
  step.bytes -= shape.element;
  return true;
}
bool moves_a_run_less(const Shape&, Rank, Step& step, Step*) {
  if (!moves(step) || step.runs < 2) return false;
  --step.runs;
  return true;
}
bool sends_no_bytes(const Shape&, Rank, Step& step, Step*) {
  if (step.kind != Step::Kind::put || step.bytes == 0) return false;
  step.kind = Step::Kind::signal;
  return true;
}
bool tells_nobody(const Shape&, Rank, Step& step, Step*) {
  return std::exchange(step.raise, coll::kNoCounter) != coll::kNoCounter;
}
bool tells_twice(const Shape&, Rank, Step& step, Step*) {
  if (step.raise == coll::kNoCounter) return false;
  ++step.add;
  return true;
}
bool raises_another_counter(const Shape&, Rank, Step& step, Step*) {
  if (step.raise == coll::kNoCounter) return false;
  step.raise = static_cast<coll::Counter>(step.raise == 0 ? 1 : step.raise - 1);
  return true;
}
bool does_not_say_that_it_is_done(const Shape&, Rank, Step& step, Step*) {
  return std::exchange(step.done, coll::kNoCounter) != coll::kNoCounter;
}
// A commutative operator allows either order.
bool combines_in_reverse(const Shape& shape, Rank, Step& step, Step*) {
  if (shape.commutative && shape.order != coll::Order::exact) return false;
  if (step.kind != Step::Kind::reduce || step.bytes == 0) return false;
  std::swap(step.from, step.with);
  return true;
}
bool copies_instead_of_combining(const Shape&, Rank, Step& step, Step*) {
  if (step.kind != Step::Kind::reduce || step.bytes == 0) return false;
  step.kind = Step::Kind::copy;
  return true;
}
// A step that only waits can as well wait at the next one.
bool waits_a_step_too_late(const Shape& shape, Rank, Step& step, Step* next) {
  if (next == nullptr || step.kind == Step::Kind::nothing) return false;
  if (!has_peer(step) && !moves(step)) return false;
  if (step.wait_for == coll::kNoCounter || next->wait_for != coll::kNoCounter) return false;
  next->wait_for = std::exchange(step.wait_for, coll::kNoCounter);
  next->wait_until = step.wait_until;
  // The last member of an exscan by hosts gives nothing and waits for its result: it need not know that all have called.
  const bool to_last = step.kind == Step::Kind::signal && step.peer + 1 == shape.ranks;
  return shape.operation != coll::Operation::exscan || shape.groups.of == nullptr || !to_last;
}

}  // namespace

const std::vector<Mutation>& mutations() {
  static const std::vector<Mutation> all{
      {"waits for nothing", waits_for_nothing},
      {"waits for one less", waits_for_one_less},
      {"waits for one more", waits_for_one_more},
      {"waits for another counter", waits_for_another_counter},
      {"is forgotten", is_forgotten},
      {"goes to the next member", goes_to_the_next_member},
      {"reads too far", reads_too_far},
      {"writes too far", writes_too_far},
      {"reads another space", reads_another_space},
      {"writes another space", writes_another_space},
      {"looks for another address", looks_for_another_address},
      {"moves an element less", moves_an_element_less},
      {"moves a run less", moves_a_run_less},
      {"sends no bytes", sends_no_bytes},
      {"tells nobody", tells_nobody},
      {"tells twice", tells_twice},
      {"raises another counter", raises_another_counter},
      {"does not say that it is done", does_not_say_that_it_is_done},
      {"combines in reverse", combines_in_reverse},
      {"copies instead of combining", copies_instead_of_combining},
      {"waits a step too late", waits_a_step_too_late},
  };
  return all;
}

namespace {

/// In place a copy may be to where the bytes are; what has landed in the output is not copied there.
bool does_nothing(const Case& checked, Rank position, const Step& step) noexcept {
  if (step.kind != Step::Kind::copy) return false;
  return checked.in_place || (step.from.space == Space::landed && checked.is_reached(position));
}

/// Whether a signal of a barrier may as well be sent before what it waits for (early_signal.hpp).
bool may_be_early(const Case& checked, Rank position, const Step& step) {
  const bool by_hosts = checked.algorithm == &coll::kBarrierHosts;
  if (!by_hosts && checked.algorithm != &coll::kBarrierDissemination) return false;
  const coll::Groups* const groups = by_hosts ? &*checked.shape.groups.of : nullptr;
  const coll::Dissemination among{by_hosts ? groups->count() : checked.shape.ranks,
                                  checked.shape.parameters[0]};
  const Rank number = by_hosts ? groups->group_of(position) : position;
  for (std::uint32_t i = 0; i < among.hops(); ++i) {
    const coll::Dissemination::Hop hop = among.hop(i);
    const Rank to = among.peer(number, hop);
    if (hop.number == 0 && (by_hosts ? groups->leader_of(to) : to) == step.peer)
      return early_signal_is_harmless(among, number, hop.round);
  }
  return false;
}

}  // namespace

Mutated mutate(const Case& checked) {
  Mutated out;
  for (Rank position = 0; position < checked.shape.ranks; ++position) {
    const coll::Schedule schedule(*checked.algorithm, checked.shape_of(position), position);
    for (std::uint32_t lane = 0; lane < schedule.lanes(); ++lane) {
      const std::uint32_t length = schedule.length(lane);
      for (std::uint32_t at = 0; at < length; ++at) {
        if (does_nothing(checked, position, schedule.step(lane, at))) continue;
        for (const Mutation& mutation : mutations()) {
          Step step = schedule.step(lane, at);
          Step next = at + 1 < length ? schedule.step(lane, at + 1) : Step{};
          if (!mutation.apply(checked.shape, position, step, at + 1 < length ? &next : nullptr)) continue;
          if (mutation.apply == waits_a_step_too_late && may_be_early(checked, position, step)) continue;
          const auto change = [&](Rank of, std::uint32_t in, std::uint32_t index, Step& original) {
            if (of != position || in != lane) return;
            if (index == at) original = step;
            if (index == at + 1) original = next;
          };
          ++out.tried;
          if (check(checked, change).problem.empty()) {
            out.survivors.push_back(fmt::format("member {}, lane {}, step {} {}: {}", position, lane, at,
                                                mutation.what, describe(checked)));
          }
        }
      }
    }
  }
  return out;
}

}  // namespace aqueduct::aqcheck
