#pragma once

// What the tests of the table of algorithms ask it for.

#include "coll/algorithms/algorithms.hpp"
#include "coll/schedule/schedule.hpp"
#include "coll/scratch/banks.hpp"
#include "coll/tune/table.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace aqueduct::coll::table_tests {

inline constexpr std::uint64_t kMebi = 1 << 20;
inline constexpr std::uint32_t kElement = 8;

inline Shape shape_of(Operation operation, Rank ranks, std::uint64_t bytes) {
  Shape shape;
  shape.operation = operation;
  shape.ranks = ranks;
  shape.element = operation == Operation::barrier ? 1 : kElement;
  shape.bytes = shape.pitch = bytes;
  return shape;
}

inline Shape single(Shape shape) {
  shape.addresses = Addresses::single;
  return shape;
}

inline TeamTraits network(Rank ranks) { return {.ranks = ranks, .one_host = false, .mapped = false}; }

inline TeamTraits sockets_of_two() {
  return {.ranks = 2, .one_host = false, .mapped = false, .sockets = true};
}

inline ScratchLayout usual_layout(Rank ranks) { return {ScratchSizes(), ranks}; }

/// The name of the algorithm in the default scratch.
inline std::string chosen(const Shape& shape, const TeamTraits& team) {
  const Choice choice = TableChooser().choose(shape, team, usual_layout(shape.ranks));
  return choice.algorithm == nullptr ? std::string("none") : name_of(*choice.algorithm, choice.shape);
}

/// Everything that an operation may be asked for, but for its size and its team.
inline std::vector<Shape> all_modes(Operation operation) {
  std::vector<Shape> out;
  const bool combines = reduces(operation);
  for (const Sync in : {Sync::none, Sync::mine, Sync::all}) {
    for (const Sync end : {Sync::none, Sync::mine, Sync::all}) {
      for (const Addresses addresses : {Addresses::single, Addresses::local}) {
        for (const Order order : {Order::any, Order::same_everywhere, Order::exact}) {
          for (const bool commutative : {true, false}) {
            if (!combines && (order != Order::any || !commutative)) continue;
            Shape shape;
            shape.operation = operation;
            shape.in = in;
            shape.out = end;
            shape.addresses = addresses;
            shape.order = order;
            shape.commutative = commutative;
            out.push_back(shape);
          }
        }
      }
    }
  }
  return out;
}

/// What the engine relies on.
inline void expect_runnable(const Choice& choice, const Shape& shape, const ScratchLayout& layout) {
  ASSERT_NE(choice.algorithm, nullptr) << choice.why;
  EXPECT_EQ(choice.shape.bytes, shape.bytes);
  EXPECT_EQ(choice.shape.pitch, shape.pitch);
  ASSERT_GT(choice.piece, 0u);
  EXPECT_EQ(choice.piece % choice.shape.element, 0u);
  EXPECT_TRUE(choice.shape.element == shape.element || !reduces(shape.operation))
      << "combined elements are cut";
  const auto expect_piece = [&](std::uint64_t bytes) {
    const Shape piece = piece_of(choice.shape, bytes);
    EXPECT_EQ(Schedule::refusal(*choice.algorithm, piece), nullptr);
    EXPECT_EQ(layout.refusal(portion_of(*choice.algorithm, piece)), nullptr);
  };
  if (choice.piece >= shape.bytes) {
    expect_piece(shape.bytes);
  } else {
    expect_piece(choice.piece);
    expect_piece(shape.bytes % choice.piece);
  }
}

}  // namespace aqueduct::coll::table_tests
