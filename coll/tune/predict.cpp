#include "coll/tune/predict.hpp"

#include "coll/algorithms/symmetric.hpp"
#include "coll/model/replay.hpp"
#include "coll/model/symmetric.hpp"
#include "coll/schedule/added.hpp"
#include "coll/schedule/schedule.hpp"
#include "coll/tune/native_choice.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace aqueduct::coll {

namespace {

constexpr std::uint64_t kAlways = std::numeric_limits<std::uint64_t>::max();

constexpr std::uint64_t times(std::uint64_t a, std::uint64_t b) noexcept {
  return b != 0 && a > kAlways / b ? kAlways : a * b;
}
constexpr std::uint64_t plus(std::uint64_t a, std::uint64_t b) noexcept {
  return a > kAlways - b ? kAlways : a + b;
}

LogGP link_of(const NetworkCost& cost) noexcept {
  const auto count = [](aqueduct::Picoseconds time) { return static_cast<Picoseconds>(time.count()); };
  // A machine has a latency of at least a picosecond.
  return {std::max<Picoseconds>(count(cost.latency), 1), count(cost.overhead), count(cost.gap),
          cost.femtoseconds_per_byte};
}

Shape first_piece(const Fit& how) noexcept {
  return how.piece < how.shape.bytes ? piece_of(how.shape, how.piece) : how.shape;
}

std::uint64_t pieces_of(const Fit& how) noexcept {
  return how.piece < how.shape.bytes ? (how.shape.bytes + how.piece - 1) / how.piece : 1;
}

/// Messages that the root sends.
std::uint64_t sends_of_root(const Algorithm& algorithm, const Shape& shape) noexcept {
  std::uint64_t sends = 0;
  for (std::uint32_t lane = 0; lane < algorithm.lanes(shape, shape.root); ++lane) {
    const std::uint32_t length = algorithm.length(shape, shape.root, lane);
    for (std::uint32_t i = 0; i < length; ++i) {
      const Step::Kind kind = algorithm.step(shape, shape.root, lane, i).kind;
      if (kind == Step::Kind::put || kind == Step::Kind::signal) ++sends;
    }
  }
  return sends;
}

}  // namespace

std::optional<Machine> machine_for(const TuningTable& table, const TeamTraits& team, std::uint64_t bytes) {
  const NetworkModel* const host = table.model(true);
  const NetworkModel* const network = table.model(false);
  Machine machine;
  machine.levels.clear();
  if (team.one_host) {
    if (host == nullptr) return std::nullopt;
    machine.levels.push_back({team.ranks, link_of(host->at(bytes))});
  } else {
    if (network == nullptr) return std::nullopt;
    // Members that share a host without being neighbours in the team's order count as if they did not.
    if (team.block > 1 && host != nullptr) machine.levels.push_back({team.block, link_of(host->at(bytes))});
    machine.levels.push_back({team.ranks, link_of(network->at(bytes))});
  }
  const NetworkModel& own = host != nullptr ? *host : *network;
  machine.copy_femtoseconds_per_byte = own.copy_femtoseconds_per_byte;
  machine.reduce_femtoseconds_per_byte = own.reduce_femtoseconds_per_byte;
  return machine;
}

std::uint64_t usual_message(const Algorithm& algorithm, const Fit& how) noexcept {
  const Cost cost = Schedule::cost(algorithm, first_piece(how));
  return cost.messages == 0 ? 0 : cost.bytes / cost.messages;
}

std::uint64_t replayed_messages(const Algorithm& algorithm, const Fit& how) noexcept {
  const Shape shape = first_piece(how);
  // Steps that copy cost a replay as much as messages: an exchange by Bruck has one for each pair of members. Two steps to a
  // message are usual; the members differ, so one in the middle stands for them.
  const std::uint64_t steps = algorithm.length(shape, shape.ranks / 2, 0);
  const std::uint64_t work =
      std::max<std::uint64_t>(Schedule::cost(algorithm, shape).messages, times(steps, shape.ranks) / 2);
  return pieces_of(how) == 1 ? work : times(work, 3);
}

std::uint64_t rough_time(const Algorithm& algorithm, const Fit& how, const Machine& machine) noexcept {
  const LogGP& link = machine.levels.back().link;
  const Cost cost = Schedule::cost(algorithm, first_piece(how));
  const std::uint64_t wire = link.bytes_time(cost.messages == 0 ? 0 : cost.bytes / cost.messages);
  const std::uint64_t each = std::max(link.overhead, plus(link.gap, wire));
  // A root may send much more than its share.
  std::uint64_t sends = (cost.messages + how.shape.ranks - 1) / how.shape.ranks;
  if (how.shape.operation == Operation::broadcast || how.shape.operation == Operation::scatter)
    sends = std::max(sends, sends_of_root(algorithm, first_piece(how)));
  std::uint64_t piece = times(std::max<std::uint64_t>(cost.depth, sends), each);
  piece = plus(piece, times(cost.depth, plus(link.latency, link.overhead)));
  if (reduces(how.shape.operation)) {
    const std::uint64_t combined = cost.bytes / how.shape.ranks;
    piece = plus(piece, times(combined, machine.reduce_femtoseconds_per_byte) / 1000);
  }
  return times(piece, pieces_of(how));
}

bool has_wrong_steps(const Algorithm& algorithm, const Fit& how) {
  if (algorithm.added == nullptr) return false;
  const Shape shape = first_piece(how);
  for (Rank position = 0; position < shape.ranks; ++position) {
    if (!wrong_steps(algorithm, shape, position).empty()) return true;
  }
  return false;
}

std::optional<std::uint64_t> replayed_time(const Algorithm& algorithm, const Fit& how, const Machine& machine,
                                           std::uint64_t& messages, Links* links) {
  const ReplayedCall call{&algorithm, first_piece(how)};
  ReplayOptions options;
  options.links = links;
  const Replayed one = replay({&call, 1}, machine, options);
  if (!one.problem.empty()) return std::nullopt;
  messages = one.messages;
  const std::uint64_t pieces = pieces_of(how);
  if (pieces == 1) return one.time;
  const std::array both{call, call};
  options.in_flight = true;
  const Replayed two = replay(both, machine, options);
  if (!two.problem.empty()) return std::nullopt;
  messages += two.messages;
  const std::uint64_t further = two.time > one.time ? two.time - one.time : 0;
  return plus(one.time, times(pieces - 1, further));
}

std::uint64_t followed_messages(const Algorithm& algorithm, const Fit& how) noexcept {
  if (!is_symmetric(algorithm) || pieces_of(how) != 1) return 0;
  // Five members are compared; two steps to a message are usual.
  return std::max<std::uint64_t>(std::uint64_t{algorithm.length(how.shape, how.shape.ranks / 2, 0)} * 5 / 2,
                                 1);
}

std::optional<std::uint64_t> followed_time(const Algorithm& algorithm, const Fit& how, const Machine& machine,
                                           NarrowLinks* links) {
  if (!is_symmetric(algorithm) || pieces_of(how) != 1) return std::nullopt;
  const std::optional<Replayed> one = replay_symmetric(algorithm, how.shape, machine, {}, links);
  if (!one || !one->problem.empty()) return std::nullopt;
  return one->time;
}

}  // namespace aqueduct::coll
