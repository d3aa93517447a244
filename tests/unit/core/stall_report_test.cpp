// The stall report of a wait describes the operation as the caller has asked for it.

#include <aqueduct/aqueduct.hpp>

#include "core/endpoint_state.hpp"
#include "rma/operation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace aqueduct {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

class StallReport : public testing::Test {
 protected:
  static constexpr std::size_t kSegment = 256 << 10;

  void start(const char* native, const char* plan = "auto") {
    Config config;
    for (const auto& [name, value] : {std::pair<const char*, std::string>{"conduit", "loop"},
                                      {"near", "off"},
                                      {"segment_bytes", std::to_string(kSegment)},
                                      {"stall_warn", "1ms"},
                                      {"loop_native", native},
                                      {"operations", "64"},
                                      {"vis_plan", plan}})
      ASSERT_TRUE(config.set(name, value)) << name;
    auto made = Job::in_process(2, config);
    ASSERT_TRUE(made);
    job_.emplace(std::move(*made));
  }
  Endpoint& me() { return job_->endpoint(0); }
  std::vector<const core::Op*> operations() {
    std::vector<const core::Op*> found;
    core::OpPool& pool = me().state().ops;
    const auto capacity = static_cast<std::uint32_t>(job_->config().number("operations"));
    for (std::uint32_t index = 0; index < 2 * capacity; ++index) {
      for (std::uint64_t generation = 1; generation < 32; ++generation) {
        if (const core::Op* op = pool.find(generation << 32 | index)) found.push_back(op);
      }
    }
    return found;
  }
  /// The report of a wait for `event` while rank 1 makes no progress.
  std::string report(Event& event) {
    testing::internal::CaptureStderr();
    // On a busy machine a wait may reach its limit at its first check, before it reports.
    const auto before = me().statistics().stalls;
    for (int i = 0; i < 1000 && me().statistics().stalls == before; ++i)
      EXPECT_EQ(me().wait_for(event, 5ms).code(), ErrorCode::timed_out);
    const std::string said = testing::internal::GetCapturedStderr();
    while (!event.done()) {
      job_->endpoint(1).progress();
      me().progress();
    }
    EXPECT_TRUE(event.status());
    return said;
  }

  std::optional<Job> job_;
};

TEST_F(StallReport, OfAPutByMessages) {
  start("none");
  const std::vector<std::byte> from(1000);
  Event event = put_nb(me(), GlobalPtr<std::byte>{1, 24}, from);
  EXPECT_THAT(report(event),
              HasSubstr("a put of 1000 bytes (segment 0, offset 24, 1000 on their way) with rank 1"));
}

TEST_F(StallReport, OfAPutOfPieces) {
  start("none", "packed");
  // A dozen packets. Some have left; for the others there is no room.
  const std::vector<std::byte> from(8192);
  Event event = put_nb(me(), pieces(GlobalPtr<std::byte>{1, 40}, Strided(8, {{1024, 16}})),
                       contiguous(from.data(), from.size()));
  EXPECT_THAT(report(event),
              HasSubstr("a put of 8192 bytes (segment 0, offset 40, 8192 on their way) with rank 1"));
}

TEST_F(StallReport, OfAGetOfPiecesOfWhichPartHasNotLeft) {
  start("none", "packed");
  std::vector<std::byte> to(kSegment / 2);
  Event event = get_nb(me(), contiguous(to.data(), to.size()),
                       pieces(GlobalPtr<std::byte>{1, 0}, Strided(8, {{kSegment / 16, 16}})));
  const std::string said = report(event);
  EXPECT_THAT(said, HasSubstr("a get of 131072 bytes (segment 0, offset 0, "));
  EXPECT_THAT(said, testing::Not(HasSubstr(" 0 on their way")));
  EXPECT_THAT(said, testing::Not(HasSubstr(" 131072 on their way")));
}

// Checks the data for the report rather than the report: operations of this network end as soon as something waits.
TEST_F(StallReport, OfANativePutHasWhatWasPosted) {
  start("rma");
  std::vector<std::byte> bytes(kSegment - 8);
  const auto expect_all_posted = [&](Event event, std::uint64_t offset, std::size_t count) {
    ASSERT_FALSE(event.done());
    ASSERT_EQ(operations().size(), 1u);
    const rma::Operation& operation = rma::Operation::of(*operations()[0]);
    EXPECT_EQ(operation.segment, 0u);
    EXPECT_EQ(operation.offset, offset);
    EXPECT_EQ(operation.bytes, count);
    EXPECT_EQ(operation.begun, count);
    EXPECT_TRUE(me().wait(event));
  };
  // The first put imports the key. After that a short put takes the short path, and a long one needs several posts.
  for (const std::size_t count : {std::size_t{8}, std::size_t{64}, bytes.size()}) {
    const auto some = std::span(bytes).first(count);
    expect_all_posted(put_nb(me(), GlobalPtr<std::byte>{1, 8}, std::span<const std::byte>(some)), 8, count);
    expect_all_posted(get_nb(me(), some, GlobalPtr<std::byte>{1, 0}), 0, count);
  }
}

}  // namespace
}  // namespace aqueduct
