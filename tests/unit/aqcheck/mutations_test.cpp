#include "coll/algorithms/algorithms.hpp"
#include "tools/aqcheck/grid.hpp"
#include "tools/aqcheck/mutations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aqueduct::aqcheck {
namespace {

using testing::IsEmpty;

// Every mistake of the list, at every step of every algorithm; members, modes and parameters such that each kind of step
// occurs. No changed schedule passes: no survivor has to be explained.
class Mutations : public testing::TestWithParam<const coll::Algorithm*> {};

TEST_P(Mutations, AreAllFound) {
  std::uint64_t tried = 0;
  const auto mutate_all = [&](Rank ranks) {
    const std::uint64_t before = tried;
    for_each_case(*GetParam(), {.ranks = ranks, .all_roots = false, .every_size = false},
                  [&](const Case& made) {
                    const Mutated mutated = mutate(made);
                    tried += mutated.tried;
                    EXPECT_THAT(mutated.survivors, IsEmpty());
                  });
    return tried > before;
  };
  mutate_all(2);
  mutate_all(3);
  // Some algorithms need an even number of members, or a power of two.
  if (!mutate_all(5)) {
    EXPECT_TRUE(mutate_all(8));
  }
  EXPECT_GT(tried, 100u);
}

INSTANTIATE_TEST_SUITE_P(Of, Mutations,
                         testing::ValuesIn(coll::all_algorithms().begin(), coll::all_algorithms().end()),
                         [](const auto& of) {
                           std::string name =
                               std::string(name_of(of.param->operation)) + "_" + std::string(of.param->name);
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

// Each mistake can be made somewhere; one that never applies would test nothing.
TEST(MutationList, HasNoEntryThatNeverApplies) {
  std::vector<bool> applied(mutations().size());
  for (const coll::Algorithm* const algorithm : coll::all_algorithms()) {
    for_each_case(*algorithm, {.ranks = 5, .all_roots = false, .every_size = false}, [&](const Case& made) {
      for (Rank position = 0; position < made.shape.ranks; ++position) {
        const coll::Schedule schedule(*algorithm, made.shape, position);
        for (std::uint32_t i = 0; i < schedule.length(0); ++i) {
          for (std::size_t which = 0; which < mutations().size(); ++which) {
            coll::Step step = schedule.step(0, i);
            coll::Step next = i + 1 < schedule.length(0) ? schedule.step(0, i + 1) : coll::Step{};
            if (mutations()[which].apply(made.shape, position, step,
                                         i + 1 < schedule.length(0) ? &next : nullptr))
              applied[which] = true;
          }
        }
      }
    });
  }
  for (std::size_t which = 0; which < applied.size(); ++which)
    EXPECT_TRUE(applied[which]) << mutations()[which].what;
}

}  // namespace
}  // namespace aqueduct::aqcheck
