// The thread that goes on with collective operations while the program computes. Ranks are threads of this process.

#include <aqueduct/aqueduct.hpp>

#include "am/messages.hpp"
#include "core/stand_in.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace aqueduct::coll {
namespace {

constexpr std::chrono::seconds kStandInLimit{20};

class StandInJobs : public testing::Test {
 protected:
  void start(Rank ranks, const std::string& patience) {
    Config config;
    ASSERT_TRUE(config.set("conduit", "loop"));
    ASSERT_TRUE(config.set("near", "off"));
    ASSERT_TRUE(config.set("loop_native", "rma"));
    ASSERT_TRUE(config.set("segment_bytes", "4K"));
    ASSERT_TRUE(config.set("log", "off"));
    ASSERT_TRUE(config.set("coll_progress", patience));
    auto made = Job::in_process(ranks, config);
    ASSERT_TRUE(made) << made.status().text();
    job_.emplace(*std::move(made));
  }
  template <class Seen>
  static bool looks_until(const Seen& seen) {
    const auto end = std::chrono::steady_clock::now() + kStandInLimit;
    while (!seen()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::yield();
    }
    return true;
  }

  std::optional<Job> job_;
};

TEST_F(StandInJobs, HaveAThreadOnlyIfTheSettingAsksForOne) {
  ASSERT_NO_FATAL_FAILURE(start(2, "0"));
  EXPECT_EQ(job_->endpoint(0).state().stand_in, nullptr);
  EXPECT_EQ(job_->endpoint(0).threads(), Threads::single);
  EXPECT_TRUE(job_->finish());
  ASSERT_NO_FATAL_FAILURE(start(2, "1ms"));
  EXPECT_NE(job_->endpoint(0).state().stand_in, nullptr);
  EXPECT_EQ(job_->endpoint(0).threads(), Threads::multiple) << "the endpoint guards itself";
  EXPECT_TRUE(job_->finish());
}

struct Numbered {
  std::uint32_t number;
};

// Messages come in order on loop, and are delivered so: those that the thread has kept first.
TEST_F(StandInJobs, KeepMessagesForTheProgramInTheirOrder) {
  ASSERT_NO_FATAL_FAILURE(start(2, "100us"));
  std::atomic<bool> away{false};
  job_->run_each([&](Endpoint& me) {
    std::vector<std::uint32_t> numbers;
    const auto handler = on_short_request<Numbered>(
        me, [&](auto&, const Numbered& message) { numbers.push_back(message.number); });
    ASSERT_TRUE(handler);
    ASSERT_TRUE(me.barrier());
    std::array<std::uint64_t, 100> words{};
    words.fill(me.rank() + 1);
    Event event = all_reduce_nb(me.world(), words, ReduceOp::sum);
    if (me.rank() == 1) {
      away = true;
      EXPECT_TRUE(looks_until([&] { return event.done(); }));
      EXPECT_TRUE(numbers.empty()) << "a handler ran on another thread";
      // The first round may find the others still on their way.
      ASSERT_TRUE(me.wait_until([&] { return numbers.size() == 20; }, kStandInLimit));
      for (std::uint32_t i = 0; i < 20; ++i) EXPECT_EQ(numbers[i], i);
    } else {
      ASSERT_TRUE(looks_until([&] { return away.load(); }));
      for (std::uint32_t i = 0; i < 20; ++i) {
        ASSERT_TRUE(request(me, 1, *handler, Numbered{i}));
      }
    }
    ASSERT_TRUE(me.wait(event));
    for (const std::uint64_t word : words) EXPECT_EQ(word, 3u);
    ASSERT_TRUE(me.barrier());
  });
  EXPECT_TRUE(job_->finish());
}

// Loop moves the bytes at its owner's next poll. No collective operation is under way, as after a rank's own part of one.
TEST_F(StandInJobs, PollForAPutThatIsInFlight) {
  ASSERT_NO_FATAL_FAILURE(start(2, "100us"));
  job_->run_each([&](Endpoint& me) {
    ASSERT_TRUE(me.barrier());
    if (me.rank() == 0) {
      const std::array<std::byte, 1024> bytes{};
      Event event = put_nb(me, GlobalPtr<std::byte>{1, 0}, std::span<const std::byte>(bytes));
      EXPECT_TRUE(looks_until([&] { return event.done(); })) << "the put waits for a call of its rank";
      EXPECT_TRUE(me.wait(event));
    }
    ASSERT_TRUE(me.barrier());
  });
  EXPECT_TRUE(job_->finish());
}

// Rank 1 does not call, so the thread of rank 0 has work all the time, wherever it is when the job ends.
TEST_F(StandInJobs, FinishWhileACallIsUnderWay) {
  for (int round = 0; round < 10; ++round) {
    std::array<std::uint64_t, 4> words{};  // until the job is over
    ASSERT_NO_FATAL_FAILURE(start(2, "20us"));
    job_->run_each([&](Endpoint& me) {
      if (me.rank() != 0) return;
      CollOptions options;
      options.limit = std::chrono::milliseconds(1);
      EXPECT_EQ(all_reduce(me.world(), words, ReduceOp::sum, options).code(), ErrorCode::timed_out);
      // The job ends at a different moment of the thread in each round; it must end well at every one.
      std::this_thread::sleep_for(std::chrono::microseconds(100 * round));
    });
    if (round % 2 == 0) {
      EXPECT_TRUE(job_->finish());
    }
    job_.reset();
  }
}

TEST(MessagesForTheProgram, AreThoseOfItsHandlers) {
  const auto for_program = [](am::PacketKind kind, HandlerId handler, std::uint32_t raw) {
    am::PacketHeader header{};
    header.kind = kind;
    header.handler = handler;
    header.raw = raw;
    std::array<std::byte, sizeof header> bytes{};
    std::memcpy(bytes.data(), &header, sizeof header);
    return am::Messages::is_for_program(bytes);
  };
  EXPECT_TRUE(for_program(am::PacketKind::request, am::kFirstUserHandler, 0));
  EXPECT_TRUE(for_program(am::PacketKind::reply, 40'000, 0));
  EXPECT_TRUE(for_program(am::PacketKind::request, 3, am::raw_word(0x800020, 1, 2)));
  EXPECT_FALSE(for_program(am::PacketKind::request, am::kRmaPut, 0));
  EXPECT_FALSE(for_program(am::PacketKind::reply, am::kRmaPutAck, 0));
  EXPECT_FALSE(for_program(am::PacketKind::credits, am::kFirstUserHandler, 0));
  EXPECT_FALSE(am::Messages::is_for_program({}));
}

}  // namespace
}  // namespace aqueduct::coll
