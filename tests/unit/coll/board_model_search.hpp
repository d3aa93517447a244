#pragma once

// Orders in which the members of a model take their steps: all of them, or some by chance.

#include "tests/unit/coll/board_model.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace aqueduct::coll::model {

struct ModelResult {
  std::string wrong;
  std::size_t states = 0;
};

/// Visits all states, by the choices that lead to them, or so many.
inline ModelResult explore(const ModelCase& what, std::size_t most = ~std::size_t{0}) {
  ModelResult result;
  std::unordered_set<std::size_t> seen;
  std::vector<std::vector<Rank>> todo{{}};
  while (!todo.empty() && result.wrong.empty() && seen.size() < most) {
    std::vector<Rank> path = std::move(todo.back());
    todo.pop_back();
    ModelRun run(what);
    for (const Rank r : path) run.step(r);
    // Goes on by first choices as long as the states are new, and remembers the others.
    while (run.wrong.empty() && seen.insert(std::hash<std::string>()(run.state())).second) {
      std::vector<Rank> choices;
      for (Rank r = 0; r < what.ranks; ++r) {
        if (run.may_step(r)) choices.push_back(r);
      }
      if (choices.empty()) {
        if (!run.over()) run.wrong = "members wait for ever";
        break;
      }
      for (std::size_t i = 1; i < choices.size(); ++i) {
        todo.push_back(path);
        todo.back().push_back(choices[i]);
      }
      path.push_back(choices[0]);
      run.step(choices[0]);
    }
    result.wrong = run.wrong;
  }
  result.states = seen.size();
  return result;
}

/// Plays orders of chance, each to its end.
inline std::string wander(const ModelCase& what, std::uint32_t walks) {
  for (std::uint32_t seed = 1; seed <= walks; ++seed) {
    std::mt19937 dice(seed);
    // Some walks favour one member, which then is ahead of the others or behind them by all that it may.
    const Rank favoured = dice() % (2 * what.ranks);
    ModelRun run(what);
    while (run.wrong.empty()) {
      std::vector<Rank> choices;
      for (Rank r = 0; r < what.ranks; ++r) {
        if (run.may_step(r)) choices.push_back(r);
      }
      if (choices.empty()) break;
      Rank next = choices[dice() % choices.size()];
      if (favoured < what.ranks && dice() % 16 != 0 && run.may_step(favoured)) next = favoured;
      run.step(next);
    }
    if (run.wrong.empty() && !run.over()) run.wrong = "members wait for ever";
    if (!run.wrong.empty()) return "walk " + std::to_string(seed) + ": " + run.wrong;
  }
  return {};
}

inline ModelCall call_of(Operation operation, BoardMethod method, Rank ranks, Rank root, Sync in = Sync::mine,
                         Sync out = Sync::mine, std::uint32_t up = 1, std::uint32_t down = 2) {
  ModelCall call{board_algorithm(operation, method), {}};
  Shape& shape = call.shape;
  shape.operation = operation;
  shape.in = in;
  shape.out = out;
  shape.ranks = ranks;
  shape.root = root;
  shape.element = 4;
  shape.bytes = shape.pitch = 4;
  if (method == BoardMethod::tree) shape.parameters = {2, up, down};
  if (method == BoardMethod::large_tree) shape.parameters = {2};
  return call;
}

/// A large operation of two words.
inline ModelCall large_call(Operation operation, BoardMethod method, Rank ranks, Rank root, Sync sync) {
  ModelCall call = call_of(operation, method, ranks, root, sync, sync);
  call.shape.bytes = call.shape.pitch = 8;
  return call;
}
inline constexpr BoardRoom kPiecesOfAWord{.slots = 1, .narrow = 1, .bulk = 4};

inline constexpr std::uint32_t kWalks = 60;

class BoardModel : public testing::Test {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "sanitizers do not follow the model's stacks";
#endif
  }
  static void all_are_right(const ModelCase& what, std::size_t most = ~std::size_t{0}) {
    const ModelResult result = explore(what, most);
    EXPECT_EQ(result.wrong, "") << what.ranks << " members, " << what.room.slots << " slots";
    EXPECT_GT(result.states, 20u);
  }
};

}  // namespace aqueduct::coll::model
