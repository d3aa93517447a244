// The thread that goes on with collective operations while the program computes. Ranks are threads of this process.

#include <aqueduct/aqueduct.hpp>

#include "am/messages.hpp"
#include "conduits/registry.hpp"
#include "core/stand_in.hpp"
#include "runtime/builder.hpp"
#include "tests/support/loop_job.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sys/eventfd.h>
#include <unistd.h>

namespace aqueduct::coll {
namespace {

constexpr std::chrono::seconds kStandInLimit{20};

class StandInJobs : public testing::Test {
 protected:
  void start(Rank ranks, const std::string& patience) {
    support::start_over_loop(job_, ranks, {{"loop_native", "rma"}, {"coll_progress", patience}});
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

/// Loop's conduit, which accepts packets as a library does that has no room on the wire: they leave in its third poll after.
class HoldingConduit final : public core::Conduit, core::Waitable {
 public:
  explicit HoldingConduit(std::unique_ptr<core::Conduit> inner) : inner_(std::move(inner)) {}
  ~HoldingConduit() override { ::close(never_); }

  const core::Properties& properties() const noexcept override { return inner_->properties(); }
  std::vector<std::byte> address() override { return inner_->address(); }
  Status connect(std::span<const std::vector<std::byte>> addresses) override {
    return inner_->connect(addresses);
  }
  core::Post send(Rank to, core::Bytes header, core::Bytes payload, core::Token) noexcept override {
    held_.push_back({to, {header.begin(), header.end()}, {payload.begin(), payload.end()}});
    polls_left_ = 3;
    return core::Post::done();
  }
  int poll(core::Inbox& inbox) noexcept override {
    if (polls_left_ == 0 || --polls_left_ == 0) send_held();
    return inner_->poll(inbox);
  }
  core::Waitable* waitable() noexcept override { return this; }

  void arm() noexcept override {}
  void disarm() noexcept override {}
  void sleep(std::chrono::nanoseconds) noexcept override { std::this_thread::yield(); }
  int descriptor() const noexcept override { return never_; }
  std::chrono::nanoseconds within() const noexcept override {
    return held_.empty() ? std::chrono::nanoseconds::max() : std::chrono::nanoseconds::zero();
  }

 private:
  struct Held {
    Rank to;
    std::vector<std::byte> header;
    std::vector<std::byte> payload;
  };
  void send_held() noexcept {
    const auto sent = [this](const Held& one) {
      return inner_->send(one.to, one.header, one.payload, 0).kind != core::Post::Kind::retry;
    };
    while (!held_.empty() && sent(held_.front())) held_.erase(held_.begin());
  }

  std::unique_ptr<core::Conduit> inner_;
  std::vector<Held> held_;
  int polls_left_ = 0;
  int never_ = ::eventfd(0, EFD_CLOEXEC);  // a descriptor to sleep on; arrivals end no sleep
};

struct HoldingNetwork final : core::Network {
  Result<std::unique_ptr<core::Conduit>> open(Rank me) override {
    auto conduit = inner->open(me);
    if (!conduit) return conduit.status();
    return std::unique_ptr<core::Conduit>(std::make_unique<HoldingConduit>(*std::move(conduit)));
  }
  std::unique_ptr<core::Network> inner;
};

// The message is over on its rank, and nothing is in flight. Only the conduit knows that it has not left.
TEST_F(StandInJobs, PollForWhatTheConduitHasAcceptedAndNotSent) {
  Config config;
  ASSERT_TRUE(config.set("conduit", "loop"));
  ASSERT_TRUE(config.set("near", "off"));
  ASSERT_TRUE(config.set("segment_bytes", "4K"));
  ASSERT_TRUE(config.set("coll_progress", "100us"));
  core::Log log(config, kNoRank);
  const core::Process process{&config, &log, /*job=*/1, 2, {0, 1}, {0, 0}};
  auto loop = conduits::find("loop")->entry->make(process);
  ASSERT_TRUE(loop);
  HoldingNetwork network;
  network.inner = *std::move(loop);
  auto made = runtime::build_in_process(2, config, network);
  ASSERT_TRUE(made) << made.status().text();
  job_.emplace(*std::move(made));
  std::atomic<bool> arrived{false};
  job_->run_each([&](Endpoint& me) {
    const auto handler = on_short_request<Numbered>(me, [&](auto&, const Numbered&) { arrived = true; });
    ASSERT_TRUE(handler);
    ASSERT_TRUE(me.barrier());
    if (me.rank() == 0) {
      ASSERT_TRUE(request(me, 1, *handler, Numbered{1}));
      EXPECT_TRUE(looks_until([&] { return arrived.load(); })) << "the message waits for a call of its rank";
    } else {
      EXPECT_TRUE(me.wait_until([&] { return arrived.load(); }, kStandInLimit + std::chrono::seconds(5)));
    }
    ASSERT_TRUE(me.barrier());
  });
  EXPECT_TRUE(job_->finish());
  job_.reset();  // before its network
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
