// Calls of the C interface on a rank that has no memory for the handle. Here, because this program can make operator new
// fail.

#include <aqueduct/aqueduct.h>

#include "conduits/loop/tests/allocation_count.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace aqueduct::conduits::loop {
namespace {

constexpr std::uint32_t kWithout = 1;  ///< the rank without memory

/// Runs `body` on each of three ranks of this process.
void on_three_ranks(void (*body)(aq_endpoint* ep, void* none)) {
  aq_config* const config = aq_config_create();
  ASSERT_NE(config, nullptr);
  const char* const settings[][2] = {{"conduit", "loop"}, {"near", "off"}, {"segment_bytes", "4K"}};
  for (const auto& [name, value] : settings) ASSERT_TRUE(aq_ok(aq_config_set(config, name, value)));
  aq_job* job = nullptr;
  ASSERT_TRUE(aq_ok(aq_job_in_process(3, config, &job)));
  aq_config_destroy(config);
  EXPECT_TRUE(aq_ok(aq_job_run_each(job, body, nullptr)));
  EXPECT_TRUE(aq_ok(aq_job_finish(job)));
}

/// The code of `call` on a rank whose next allocation fails.
template <class F>
int code_without_memory(F call) {
  const NoMemory none(1);
  return call().code;
}

TEST(CHandles, OfTeamsAreAllocatedBeforeOthersKnowOfTheCall) {
  on_three_ranks([](aq_endpoint* ep, void*) {
    aq_team* split = nullptr;
    const auto make_split = [&] { return aq_team_split(aq_world(ep), 0, aq_rank(ep), &split); };
    if (aq_rank(ep) == kWithout) {
      EXPECT_EQ(code_without_memory(make_split), AQ_NO_MEMORY);
      EXPECT_EQ(split, nullptr);
    }
    ASSERT_EQ(make_split().code, AQ_OK);
    const std::uint32_t members[] = {2, 1, 0};
    aq_team* made = nullptr;
    const auto make = [&] { return aq_team_create(ep, members, 3, 7, &made); };
    if (aq_rank(ep) == kWithout) {
      EXPECT_EQ(code_without_memory(make), AQ_NO_MEMORY);
    }
    ASSERT_EQ(make().code, AQ_OK);
    EXPECT_EQ(aq_team_barrier(made).code, AQ_OK);
    EXPECT_EQ(aq_team_barrier(split).code, AQ_OK);
    EXPECT_EQ(aq_team_end(made).code, AQ_OK);
    aq_team_destroy(made);
    aq_team_destroy(split);
  });
}

TEST(CHandles, OfTeamsOfListsAreAllocatedBeforeOthersKnowOfTheCall) {
  on_three_ranks([](aq_endpoint* ep, void*) {
    const std::uint32_t members[] = {2, 1, 0};
    aq_rank_list* list = nullptr;
    const auto make_list = [&] { return aq_rank_list_of(members, 3, &list); };
    EXPECT_EQ(code_without_memory(make_list), AQ_NO_MEMORY);
    ASSERT_EQ(make_list().code, AQ_OK);
    for (int way = 0; way < 3; ++way) {
      aq_team* made = nullptr;
      const auto make = [&]() -> aq_status {
        if (way == 0) return aq_team_split_list(aq_world(ep), list, &made);
        if (way == 1) return aq_team_dup(aq_world(ep), &made);
        return aq_team_create_of_list(ep, list, 7, &made);
      };
      if (aq_rank(ep) == kWithout) {
        EXPECT_EQ(code_without_memory(make), AQ_NO_MEMORY) << "way " << way;
        EXPECT_EQ(made, nullptr) << "way " << way;
      }
      ASSERT_EQ(make().code, AQ_OK) << "way " << way;
      EXPECT_EQ(aq_team_barrier(made).code, AQ_OK);
      EXPECT_EQ(aq_team_end(made).code, AQ_OK);
      aq_team_destroy(made);
    }
    aq_rank_list_destroy(list);
  });
}

TEST(CHandles, OfSegmentsThatOneRankCannotHoldAreRefusedToAll) {
  on_three_ranks([](aq_endpoint* ep, void*) {
    static std::uint64_t attached[3][4];
    for (int way = 0; way < 3; ++way) {
      aq_segment* made = nullptr;
      aq_segment_memory* memory = nullptr;
      const auto make = [&]() -> aq_status {
        if (way == 0) return aq_segment_create(aq_world(ep), 64, &made);
        if (way == 1) return aq_segment_attach(aq_world(ep), attached[aq_rank(ep)], 32, &made);
        return aq_segment_publish(aq_world(ep), memory, &made);
      };
      for (const bool fails : {true, false}) {
        if (way == 2) {
          ASSERT_EQ(aq_segment_allocate(ep, 64, &memory).code, AQ_OK);
        }
        const bool without = fails && aq_rank(ep) == kWithout;
        const int code = without ? code_without_memory(make) : make().code;
        ASSERT_EQ(code, fails ? AQ_NO_MEMORY : AQ_OK) << "way " << way;
        ASSERT_EQ(made != nullptr, !fails);
      }
      EXPECT_EQ(aq_segment_release(made).code, AQ_OK);
      aq_segment_destroy(made);
    }
  });
}

}  // namespace
}  // namespace aqueduct::conduits::loop
