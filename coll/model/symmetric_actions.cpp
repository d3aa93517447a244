#include "coll/model/symmetric_actions.hpp"

#include <algorithm>
#include <array>

namespace aqueduct::coll {

namespace {

/// Lists the actions of one member. False: it has steps that this does not do.
bool list_actions(const Algorithm& algorithm, const Shape& shape, const Machine& machine, Rank position,
                  std::vector<Action>& out) {
  out.clear();
  const Schedule schedule(algorithm, shape, position);
  if (schedule.lanes() != 1) return false;
  const Schedule::Lengths lengths = schedule.lengths(0);
  const auto add_work = [&](std::uint64_t femtoseconds, const Step& step) {
    const Picoseconds length =
        LogGP{.femtoseconds_per_byte = femtoseconds}.bytes_time(step.bytes * step.runs);
    if (length == 0) return;
    if (out.empty() || out.back().kind != Action::Kind::work) out.push_back({});
    out.back().length = std::min(out.back().length + length, kMostTime);
  };
  for (std::uint32_t i = 0; i < lengths.all; ++i) {
    const Step step = schedule.step(0, i, lengths);
    if (step.wait_for != kNoCounter)
      out.push_back({.kind = Action::Kind::wait, .counter = step.wait_for, .until = step.wait_until});
    switch (step.kind) {
      case Step::Kind::nothing: break;
      case Step::Kind::copy: add_work(machine.copy_femtoseconds_per_byte, step); break;
      case Step::Kind::reduce: add_work(machine.reduce_femtoseconds_per_byte, step); break;
      case Step::Kind::put:
      case Step::Kind::signal:
        out.push_back({.kind = Action::Kind::post,
                       .counter = step.raise,
                       .done = step.done,
                       .add = step.add,
                       .distance = (step.peer + shape.ranks - position) % shape.ranks,
                       .bytes = step.kind == Step::Kind::signal ? 0 : step.bytes * step.runs});
        continue;
      default: return false;
    }
    if (step.done != kNoCounter) out.push_back({.kind = Action::Kind::raise, .counter = step.done});
  }
  return true;
}

/// Compares another member's actions with those of member 0, and learns which kind of distance posts have.
bool fits(std::vector<Action>& first, const std::vector<Action>& other, Rank position, Rank ranks) {
  if (first.size() != other.size()) return false;
  for (std::size_t i = 0; i < first.size(); ++i) {
    Action& a = first[i];
    const Action& b = other[i];
    if (a.kind != b.kind || a.counter != b.counter || a.done != b.done || a.until != b.until ||
        a.add != b.add || a.bytes != b.bytes || a.length != b.length)
      return false;
    if (a.kind != Action::Kind::post) continue;
    const Rank peer = (position + b.distance) % ranks;
    const bool shifts = b.distance == a.distance;
    const bool turns = peer == (position ^ a.distance);
    if (a.either) {
      if (!shifts && !turns) return false;
      if (shifts != turns) {
        a.either = false;
        a.turns = turns;
      }
    } else if (a.turns ? !turns : !shifts) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<std::vector<Action>> common_actions(const Algorithm& algorithm, const Shape& shape,
                                                  const Machine& machine) {
  std::vector<Action> actions;
  std::vector<Action> others;
  if (!list_actions(algorithm, shape, machine, 0, actions)) return std::nullopt;
  for (Action& action : actions) action.either = true;
  const Rank last = shape.ranks - 1;
  const std::array<Rank, 4> samples{1, shape.ranks / 3, shape.ranks / 2, last};
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Rank sample = samples[i];
    if (sample == 0 || std::find(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(i), sample) !=
                           samples.begin() + static_cast<std::ptrdiff_t>(i))
      continue;
    if (!list_actions(algorithm, shape, machine, sample, others) ||
        !fits(actions, others, sample, shape.ranks))
      return std::nullopt;
  }
  return actions;
}

}  // namespace aqueduct::coll
