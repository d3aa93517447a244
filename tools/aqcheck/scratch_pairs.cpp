#include "tools/aqcheck/scratch_pairs.hpp"

#include "coll/algorithms/algorithms.hpp"
#include "tools/aqcheck/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>

namespace aqueduct::aqcheck {

using coll::Shape;
using coll::Sync;

namespace {

/// How large the banks are.
enum class Room : std::uint8_t {
  epochs,  ///< each operation has an epoch of its own
  pairs,   ///< a bank has room for one of each
  three,   ///< likewise, and there are three
};
constexpr std::array kRooms{Room::epochs, Room::pairs, Room::three};
constexpr std::array kRoomNames{"own epochs", "two in a bank", "three banks"};
constexpr std::array kMessageOrders{Manner::Order::oldest, Manner::Order::newest, Manner::Order::late_last};
constexpr std::array kMessageOrderNames{"by chance", "oldest first", "newest first", "late member's last"};

/// The least value of a parameter, the usual one, and one that makes a tree flat.
std::array<std::uint32_t, 3> extreme_values(const coll::Parameter& parameter, Rank ranks) {
  const auto within = [&](std::uint32_t value) { return std::clamp(value, parameter.least, parameter.most); };
  return {within(parameter.least), within(3), within(ranks)};
}

/// Operations of an algorithm, of which no two have the same messages.
std::vector<ScratchCall> variants(const coll::Algorithm& algorithm, Rank ranks) {
  std::vector<ScratchCall> out;
  ScratchCall call;
  call.algorithm = &algorithm;
  Shape& shape = call.shape;
  shape.operation = algorithm.operation;
  shape.ranks = ranks;
  shape.addresses = algorithm.direct ? coll::Addresses::single : coll::Addresses::local;
  const Rank roots = coll::has_root(algorithm.operation) ? ranks : 1;
  for (std::size_t choice = 0; choice < 3; ++choice) {
    bool new_choice = choice == 0;
    for (std::size_t i = 0; i < algorithm.parameters.size(); ++i) {
      const auto values = extreme_values(algorithm.parameters[i], ranks);
      shape.parameters[i] = values[choice];
      new_choice |= choice != 0 && values[choice] != values[choice - 1];
    }
    if (!new_choice) continue;
    for (const std::uint64_t bytes : {5u, 70u}) {
      if (algorithm.operation == coll::Operation::barrier && bytes != 5) continue;
      shape.bytes = shape.pitch = algorithm.operation == coll::Operation::barrier ? 0 : bytes;
      // Without the passes of Sync::all members drift apart as far as they can.
      for (const auto& [in, out_mode] : {std::pair{Sync::none, Sync::none}, std::pair{Sync::mine, Sync::mine},
                                         std::pair{Sync::none, Sync::all}}) {
        if (in == Sync::mine && !algorithm.direct) continue;
        shape.in = in;
        shape.out = out_mode;
        for (Rank root = 0; root < roots; ++root) {
          shape.root = root;
          if (coll::Schedule::refusal(algorithm, shape) == nullptr) out.push_back(call);
        }
        shape.root = 0;
      }
    }
  }
  return out;
}

coll::ScratchSizes sizes_for(const ScratchCall& a, const ScratchCall& b, Room room) {
  const coll::Needs first = coll::Schedule::needs(*a.algorithm, a.shape);
  const coll::Needs second = coll::Schedule::needs(*b.algorithm, b.shape);
  const std::uint64_t x = coll::whole_lines(first.scratch);
  const std::uint64_t y = coll::whole_lines(second.scratch);
  if (room == Room::epochs)
    return {2, std::max({first.counters, second.counters, 1u}), std::max({x, y, coll::kScratchLine})};
  return {room == Room::three ? 3u : 2u, std::max(first.counters + second.counters, 1u),
          std::max(x + y, coll::kScratchLine)};
}

ScratchPair pair_of(const ScratchCall& a, const ScratchCall& b, Rank late, Manner::Order order, Room room) {
  ScratchPair pair{a.shape.ranks, {}, {a, a, b, b, a, b}};
  constexpr std::array<std::size_t, 6> kFirst{0, 0, 2, 2, 0, 2};
  for (std::size_t i = 0; i < pair.calls.size(); ++i) {
    ScratchCall& call = pair.calls[i];
    call.whole_bank = room == Room::epochs;
    if (kFirst[i] == i) continue;
    call.kind = ScratchCall::Kind::again;
    call.first = kFirst[i];
  }
  pair.manner.sizes = sizes_for(a, b, room);
  pair.manner.order = order;
  pair.manner.late = late;
  pair.manner.window = static_cast<std::uint32_t>(pair.calls.size());
  return pair;
}

std::string words_of(const ScratchCall& call) {
  const Shape& shape = call.shape;
  std::string text = fmt::format("{} {}", aqcheck::name_of(shape.operation), call.algorithm->name);
  for (std::size_t i = 0; i < call.algorithm->parameters.size(); ++i)
    text += fmt::format(" {}={}", call.algorithm->parameters[i].name, shape.parameters[i]);
  if (coll::has_root(shape.operation)) text += fmt::format(" from {}", shape.root);
  return text + fmt::format(" of {} bytes", shape.bytes);
}

}  // namespace

void for_each_pair(const PairGrid& grid, const std::function<bool(const ScratchPair&)>& visit) {
  std::vector<std::vector<ScratchCall>> all;
  for (const coll::Algorithm* const algorithm : coll::all_algorithms()) {
    all.push_back(variants(*algorithm, grid.ranks));
    if (all.back().empty()) all.pop_back();
  }
  std::uint32_t turn = 0;
  // The late member, the order of messages and the room change from pair to pair, so that all combinations come up.
  const auto visit_next = [&](const ScratchCall& a, const ScratchCall& b) {
    const std::uint32_t mixed = (++turn * 2'654'435'761u) >> 8;
    return visit(pair_of(a, b, mixed % grid.ranks, kMessageOrders[mixed / grid.ranks % 3],
                         kRooms[mixed / grid.ranks / 3 % 3]));
  };
  for (const auto& first : all) {
    for (const auto& second : all) {
      if (!grid.all) {
        if (!visit_next(first[turn * 7 % first.size()], second[turn * 5 / 3 % second.size()])) return;
        continue;
      }
      for (const ScratchCall& a : first) {
        for (const ScratchCall& b : second) {
          if (!visit_next(a, b)) return;
        }
      }
    }
  }
}

std::string check_pair(const ScratchPair& pair, const ScratchMistake& mistake) {
  Manner manner = pair.manner;
  manner.mistake = mistake;
  try {
    static_cast<void>(ScratchWorld(pair.ranks, manner, pair.calls, 1).run());
    return {};
  } catch (const std::exception& violation) {
    return violation.what();
  }
}

std::string describe(const ScratchPair& pair) {
  const coll::ScratchSizes& sizes = pair.manner.sizes;
  const Room room = pair.calls[0].whole_bank ? Room::epochs : sizes.banks == 3 ? Room::three : Room::pairs;
  return fmt::format("{}, then {}; {} members, {} late, {}, {}", words_of(pair.calls[0]),
                     words_of(pair.calls[2]), pair.ranks, *pair.manner.late,
                     kMessageOrderNames[static_cast<std::size_t>(pair.manner.order)],
                     kRoomNames[static_cast<std::size_t>(room)]);
}

}  // namespace aqueduct::aqcheck
