#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/random_program.hpp"

namespace aqueduct::conformance {
namespace {

/// Compares random programs with a simple model. A failure names the seed; --seed plays the same program again.
class RandomProgram : public FabricTest {
 protected:
  void play_with(ProgramShape shape, std::uint64_t rounds, const Settings& settings = {}) {
    const std::uint64_t all_rounds = rounds * fabric().thorough;
    run({shape.ranks, shape.segment_bytes(), settings, {}},
        [shape, all_rounds, seed = seed()](Endpoint& me) { play(me, shape, seed, all_rounds); });
  }
};

TEST_P(RandomProgram, OfTwoRanksFollowsItsModel) { play_with({.ranks = 2}, 40); }
TEST_P(RandomProgram, OfThreeRanksFollowsItsModel) { play_with({.ranks = 3}, 30); }
TEST_P(RandomProgram, OfManyRanksFollowsItsModel) {
  play_with({.ranks = std::max(many(), fabric().most_ranks), .data_bytes = 32 * 1024}, 10);
}
TEST_P(RandomProgram, WithFewRecordsAndCreditsFollowsItsModel) {
  play_with({.ranks = 3, .data_bytes = 64 * 1024}, 20, {{"operations", "1024"}, {"credits", "1"}});
}

INSTANTIATE_TEST_SUITE_P(On, RandomProgram, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
