#include "tests/conformance/random_program.hpp"

#include <algorithm>

namespace aqueduct::conformance {

namespace {

using Kind = Action::Kind;

/// Cuts one rank's data into slices and gives each one a role.
void add_slices(const ProgramShape& shape, Random& random, Rank target, std::vector<Action>& actions) {
  std::uint64_t at = 0;
  while (at < shape.data_bytes) {
    const std::uint64_t bytes = std::min(random.any_magnitude(15), shape.data_bytes - at);
    Action action{Kind::put,
                  kForms[random.below(kForms.size())],
                  random.below(2) == 0,
                  static_cast<Rank>(random.below(shape.ranks)),
                  target,
                  at,
                  bytes,
                  random()};
    switch (random.below(8)) {
      case 0:
      case 1: actions.push_back(action); break;
      case 2:
        action.kind = Kind::put_value;
        action.bytes = std::min<std::uint64_t>(8, bytes);
        if (action.bytes == 8) actions.push_back(action);
        break;
      case 3:
        action.kind = Kind::put_signal;
        actions.push_back(action);
        break;
      case 4:
        action.kind = Kind::long_request;
        actions.push_back(action);
        break;
      case 5:
      case 6:
        action.kind = Kind::get;
        for (std::uint64_t readers = 1 + random.below(3); readers > 0; --readers) {
          action.actor = static_cast<Rank>(random.below(shape.ranks));
          actions.push_back(action);
        }
        break;
      default: break;  // no action: its bytes must not change
    }
    at += bytes + random.below(3);  // often no gap: neighbouring bytes must not change either
  }
}

}  // namespace

std::vector<Action> actions_of(const ProgramShape& shape, std::uint64_t seed, std::uint64_t round) {
  Random random(mix(seed) + (round << 32));
  std::vector<Action> actions;
  for (Rank target = 0; target < shape.ranks; ++target) {
    add_slices(shape, random, target, actions);
    for (std::uint64_t left = random.below(30); left > 0; --left) {
      constexpr Kind kKinds[] = {Kind::atomic, Kind::signal, Kind::short_request, Kind::medium_request};
      const Kind kind = kKinds[random.below(std::size(kKinds))];
      actions.push_back({kind, kForms[random.below(kForms.size())], random.below(2) == 0,
                         static_cast<Rank>(random.below(shape.ranks)), target,
                         random.below(ProgramShape::kCounters), random.below(shape.medium_bytes + 1),
                         random() >> 40});
    }
  }
  for (std::size_t i = actions.size(); i > 1; --i) std::swap(actions[i - 1], actions[random.below(i)]);
  return actions;
}

ProgramModel::ProgramModel(const ProgramShape& shape) : ranks(shape.ranks) {
  for (RankState& rank : ranks) {
    rank.data.resize(shape.data_bytes);
    rank.counters.resize(ProgramShape::kCounters);
    rank.signals.resize(ProgramShape::kSignals);
  }
}

void ProgramModel::apply(const Action& action) {
  RankState& target = ranks[action.target];
  switch (action.kind) {
    case Kind::put:
    case Kind::put_value:
    case Kind::put_signal:
    case Kind::long_request:
      std::ranges::copy(pattern(action.number, action.bytes),
                        target.data.begin() + static_cast<std::ptrdiff_t>(action.offset));
      if (action.kind == Kind::put_signal) target.signals[action.number % ProgramShape::kSignals] += 1;
      break;
    case Kind::get: return;
    case Kind::atomic: target.counters[action.offset] += action.number; return;
    case Kind::signal: target.signals[action.offset] += action.number; return;
    case Kind::short_request:
    case Kind::medium_request: break;
  }
  if (action.kind >= Kind::short_request || action.kind == Kind::long_request) {
    ++target.messages;
    target.sum += action.number;
  }
}

}  // namespace aqueduct::conformance
