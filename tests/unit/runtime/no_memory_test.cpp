// A conduit whose library finds no memory refuses every post: what was begun ends with no_memory, and works again later.

#include <aqueduct/aqueduct.hpp>

#include "am/messages.hpp"
#include "conduits/registry.hpp"
#include "core/endpoint_state.hpp"
#include "core/memory_patience.hpp"
#include "runtime/builder.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace aqueduct {
namespace {

using core::Post;
using std::chrono::milliseconds;

/// Goes on by a step at each look, so that a wait of seconds takes a moment.
struct FastClock {
  static core::Clock::time_point tell(const void* self) noexcept {
    const auto& clock = *static_cast<const FastClock*>(self);
    return core::Clock::time_point(std::chrono::hours(1) + ++clock.looks * clock.step);
  }
  core::EndpointClock clock() const noexcept { return {tell, this}; }
  milliseconds step;
  mutable std::atomic<std::int64_t> looks{0};
};

constexpr Rank kMostRanks = 3;
/// [rank] what posts to it are answered if that is a retry.
using Refusals = std::array<Post, kMostRanks>;

/// Loop's conduit, but for posts that are refused: of these all, or messages only.
class RefusingConduit final : public core::Conduit, core::NativeRma {
 public:
  RefusingConduit(std::unique_ptr<core::Conduit> inner, const Refusals& refusals, const bool& only_messages)
      : inner_(std::move(inner)), refusals_(refusals), only_messages_(only_messages) {}

  const core::Properties& properties() const noexcept override { return inner_->properties(); }
  std::vector<std::byte> address() override { return inner_->address(); }
  Status connect(std::span<const std::vector<std::byte>> addresses) override {
    return inner_->connect(addresses);
  }
  Post send(Rank to, core::Bytes header, core::Bytes payload, core::Token token) noexcept override {
    return refuses(to) ? refusals_[to] : inner_->send(to, header, payload, token);
  }
  int poll(core::Inbox& inbox) noexcept override { return inner_->poll(inbox); }
  core::NativeRma* rma() noexcept override { return inner_->rma() != nullptr ? this : nullptr; }

  Result<std::vector<std::byte>> register_segment(SegmentId id, core::MutableBytes memory) override {
    return inner_->rma()->register_segment(id, memory);
  }
  void unregister_segment(SegmentId id) noexcept override { inner_->rma()->unregister_segment(id); }
  Result<std::uint64_t> import_key(Rank peer, core::Bytes key) override {
    return inner_->rma()->import_key(peer, key);
  }
  Post put(Rank peer, std::uint64_t key, std::uint64_t offset, core::Bytes from, bool inject,
           core::Token token) noexcept override {
    return refuses_rma(peer) ? refusals_[peer] : inner_->rma()->put(peer, key, offset, from, inject, token);
  }
  Post get(Rank peer, std::uint64_t key, std::uint64_t offset, core::MutableBytes to,
           core::Token token) noexcept override {
    return refuses_rma(peer) ? refusals_[peer] : inner_->rma()->get(peer, key, offset, to, token);
  }

 private:
  bool refuses(Rank to) const noexcept { return refusals_[to].kind == Post::Kind::retry; }
  bool refuses_rma(Rank to) const noexcept { return !only_messages_ && refuses(to); }

  std::unique_ptr<core::Conduit> inner_;
  const Refusals& refusals_;
  const bool& only_messages_;
};

struct RefusingNetwork final : core::Network {
  Result<std::unique_ptr<core::Conduit>> open(Rank me) override {
    auto conduit = inner->open(me);
    if (!conduit) return conduit.status();
    return std::unique_ptr<core::Conduit>(
        std::make_unique<RefusingConduit>(*std::move(conduit), refusals[me], only_messages));
  }
  std::unique_ptr<core::Network> inner;
  static constexpr Refusals kNone{Post::done(), Post::done(), Post::done()};
  std::array<Refusals, kMostRanks> refusals{kNone, kNone, kNone};  // [rank]
  bool only_messages = false;
};

/// Parameter: AQUEDUCT_LOOP_NATIVE. Without, the reference layer's queue waits for room.
class NoMemoryForPosts : public testing::TestWithParam<const char*> {};

TEST_P(NoMemoryForPosts, EndsOperationsAndLosesNothing) {
  Config config;
  for (const auto& [name, value] :
       {std::pair{"conduit", "loop"}, {"near", "off"}, {"segment_bytes", "64K"}, {"loop_native", GetParam()}})
    ASSERT_TRUE(config.set(name, value));
  core::Log log(config, kNoRank);
  const core::Process process{&config, &log, /*job=*/1, 2, {0, 1}, {0, 0}};
  auto loop = conduits::find("loop")->entry->make(process);
  ASSERT_TRUE(loop);
  RefusingNetwork network;
  network.inner = *std::move(loop);
  const FastClock fast{milliseconds(30)};
  auto job = runtime::build_in_process(2, config, network);
  ASSERT_TRUE(job);
  std::atomic<int> heard{0};
  std::vector<ShortRequest<std::uint64_t>> handlers;
  for (Rank rank = 0; rank < 2; ++rank) {
    auto made = on_short_request<std::uint64_t>(job->endpoint(rank), [&](auto&, std::uint64_t) { ++heard; });
    ASSERT_TRUE(made);
    handlers.push_back(*made);
  }
  Endpoint& me = job->endpoint(0);
  const GlobalPtr<std::uint64_t> word{1, 8};
  const GlobalPtr<std::byte> there{1, 64};
  const std::vector<std::byte> sent(20'000, std::byte{7});
  std::vector<std::byte> got(sent.size());
  const std::pair<const char*, std::function<Status()>> calls[] = {
      {"put", [&] { return put(me, there, sent); }},
      {"get", [&] { return get(me, got, there); }},
      {"atomic", [&] { return fetch_add(me, word, 1).status(); }},
      {"message", [&] { return request(me, 1, handlers[0], 1); }},
      {"strided put",
       [&] {
         return put(me, pieces(there, Strided(100, {{50, 300}})),
                    pieces(sent.data(), Strided(100, {{50, 100}})));
       }},
      {"put of a group",
       [&] {
         const Status begun = put_nbi(me, there, sent);
         return begun ? me.wait_implicit() : begun;
       }},
  };
  const core::EndpointClock before = std::exchange(me.state().clock, fast.clock());
  network.refusals[0][1] = Post::retry(ErrorCode::no_memory);
  testing::internal::CaptureStderr();
  for (const auto& [name, call] : calls) {
    const Status status = call();
    EXPECT_EQ(status.code(), ErrorCode::no_memory) << name << ": " << status.text();
    EXPECT_EQ(status.peer(), 1u) << name;
    EXPECT_FALSE(me.is_lost(1)) << name;
  }
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("finds no memory"), std::string::npos) << said;
  network.refusals[0][1] = Post::done();
  me.state().clock = before;
  EXPECT_EQ(heard, 0);
  job->run_each([&](Endpoint& ep) {
    if (ep.rank() == 0) {
      for (const auto& [name, call] : calls) EXPECT_TRUE(call()) << name;
      ASSERT_TRUE(get(me, got, there));
      EXPECT_EQ(got, sent);
    }
    ASSERT_TRUE(ep.barrier());
  });
  EXPECT_EQ(heard, 1);
  EXPECT_EQ(*reinterpret_cast<const std::uint64_t*>(job->endpoint(1).segment().data() + 8), 1u);
  EXPECT_TRUE(job->finish());
}

INSTANTIATE_TEST_SUITE_P(Loop, NoMemoryForPosts, testing::Values("rma", "none"),
                         [](const auto& info) { return std::string(info.param); });

// Operations on a peer that only has no room wait on, though the library has no memory for another peer.
TEST(NoMemoryForOnePeer, EndsNoOperationOnAnother) {
  Config config;
  for (const auto& [name, value] :
       {std::pair{"conduit", "loop"}, {"near", "off"}, {"segment_bytes", "64K"}, {"loop_native", "none"}})
    ASSERT_TRUE(config.set(name, value));
  core::Log log(config, kNoRank);
  const core::Process process{&config, &log, /*job=*/1, kMostRanks, {0, 1, 2}, {0, 0, 0}};
  auto loop = conduits::find("loop")->entry->make(process);
  ASSERT_TRUE(loop);
  RefusingNetwork network;
  network.inner = *std::move(loop);
  const FastClock fast{milliseconds(30)};
  auto job = runtime::build_in_process(kMostRanks, config, network);
  ASSERT_TRUE(job);
  Endpoint& me = job->endpoint(0);
  const std::vector<std::byte> sent(20'000, std::byte{7});
  const core::EndpointClock before = std::exchange(me.state().clock, fast.clock());
  network.refusals[0] = {Post::done(), Post::retry(ErrorCode::no_memory), Post::retry()};
  testing::internal::CaptureStderr();
  Event without_memory = put_nb(me, GlobalPtr<std::byte>{1, 64}, sent);
  Event without_room = put_nb(me, GlobalPtr<std::byte>{2, 64}, sent);
  for (int i = 0; i < 100'000 && !without_memory.done(); ++i) me.progress();
  for (int i = 0; i < 10'000; ++i) me.progress();
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("finds no memory"), std::string::npos) << said;
  ASSERT_TRUE(without_memory.done());
  EXPECT_EQ(me.wait(without_memory), Status(ErrorCode::no_memory, 1));
  EXPECT_FALSE(without_room.done());
  network.refusals[0] = RefusingNetwork::kNone;
  me.state().clock = before;
  job->run_each([&](Endpoint& ep) {
    if (ep.rank() == 0) {
      EXPECT_TRUE(ep.wait(without_room));
    }
    ASSERT_TRUE(ep.barrier());
  });
  EXPECT_EQ(job->endpoint(2).segment()[64], std::byte{7});
  EXPECT_TRUE(job->finish());
}

/// As FastClock. After two minutes there is memory again, so that a wait which does not end by itself fails its test.
struct EndingClock {
  static core::Clock::time_point tell(const void* self) noexcept {
    const auto& clock = *static_cast<const EndingClock*>(self);
    const auto now = FastClock::tell(&clock.fast);
    if (clock.fast.looks.load() * clock.fast.step > std::chrono::minutes(2)) clock.refusal = Post::done();
    return now;
  }
  core::EndpointClock clock() const noexcept { return {tell, this}; }
  Post& refusal;
  const FastClock fast{milliseconds(30)};
};

// A message behind a fence waits for the credits of those before it, and asks the peer for these: that too needs memory.
TEST(NoMemoryBehindAFence, EndsTheMessageAndLosesNothing) {
  Config config;
  for (const auto& [name, value] :
       {std::pair{"conduit", "loop"}, {"near", "off"}, {"segment_bytes", "64K"}, {"loop_native", "none"}})
    ASSERT_TRUE(config.set(name, value));
  core::Log log(config, kNoRank);
  const core::Process process{&config, &log, /*job=*/1, 2, {0, 1}, {0, 0}};
  auto loop = conduits::find("loop")->entry->make(process);
  ASSERT_TRUE(loop);
  RefusingNetwork network;
  network.inner = *std::move(loop);
  auto job = runtime::build_in_process(2, config, network);
  ASSERT_TRUE(job);
  std::atomic<int> heard{0};
  std::vector<ShortRequest<std::uint64_t>> handlers;
  for (Rank rank = 0; rank < 2; ++rank) {
    auto made = on_short_request<std::uint64_t>(job->endpoint(rank), [&](auto&, std::uint64_t) { ++heard; });
    ASSERT_TRUE(made);
    handlers.push_back(*made);
  }
  Post& refusal = network.refusals[0][1];
  const EndingClock ending{refusal};
  std::atomic<bool> over{false};
  job->run_each([&](Endpoint& ep) {
    if (ep.rank() == 1) {
      while (!over) ep.progress();
    } else {
      EXPECT_TRUE(request(ep, 1, handlers[0], 1));
      const core::EndpointClock before = std::exchange(ep.state().clock, ending.clock());
      refusal = Post::retry(ErrorCode::no_memory);
      testing::internal::CaptureStderr();
      EXPECT_TRUE(fence(ep, 1));
      EXPECT_EQ(request(ep, 1, handlers[0], 2), Status(ErrorCode::no_memory, 1));
      const std::string said = testing::internal::GetCapturedStderr();
      EXPECT_NE(said.find("finds no memory: it ends with no_memory"), std::string::npos) << said;
      refusal = Post::done();
      ep.state().clock = before;
      EXPECT_FALSE(ep.is_lost(1));
      EXPECT_TRUE(request(ep, 1, handlers[0], 3));
      over = true;
    }
    ASSERT_TRUE(ep.barrier());
  });
  EXPECT_EQ(heard, 2);
  EXPECT_TRUE(job->finish());
}

/// What rank 1 owes, or sends behind a put, finds no room for want of memory. No call of it could tell of that.
class NoMemoryForWhatIsOwed : public testing::Test {
 protected:
  /// `loop_native`: as AQUEDUCT_LOOP_NATIVE.
  void make_job(const char* loop_native) {
    for (const auto& [name, value] : {std::pair{"conduit", "loop"},
                                      {"near", "off"},
                                      {"segment_bytes", "256K"},
                                      {"loop_native", loop_native}})
      ASSERT_TRUE(config_.set(name, value));
    log_.emplace(config_, kNoRank);
    process_.emplace(core::Process{&config_, &*log_, /*job=*/1, 2, {0, 1}, {0, 0}});
    auto loop = conduits::find("loop")->entry->make(*process_);
    ASSERT_TRUE(loop);
    network_.inner = *std::move(loop);
    auto job = runtime::build_in_process(2, config_, network_);
    ASSERT_TRUE(job);
    job_.emplace(*std::move(job));
  }
  /// Rank 1 gives rank 0 up, and says why.
  void expect_loss() {
    Endpoint& owing = job_->endpoint(1);
    const core::EndpointClock before = std::exchange(owing.state().clock, fast_.clock());
    testing::internal::CaptureStderr();
    for (int i = 0; i < 100'000 && !owing.is_lost(0); ++i) owing.progress();
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_TRUE(owing.is_lost(0));
    EXPECT_NE(said.find("finds no memory: the rank is taken for lost"), std::string::npos) << said;
    owing.state().clock = before;
    job_->endpoint(0).state().peer_lost(1);
  }
  void TearDown() override {
    if (job_) {
      network_.refusals[1] = RefusingNetwork::kNone;
      for (Rank rank = 0; rank < 2; ++rank) job_->endpoint(rank).state().peer_lost(1 - rank);
      EXPECT_EQ(job_->finish().code(), ErrorCode::peer_lost);
    }
  }

  Config config_;
  std::optional<core::Log> log_;
  std::optional<core::Process> process_;
  RefusingNetwork network_;
  const FastClock fast_{milliseconds(30)};
  std::optional<Job> job_;
};

TEST_F(NoMemoryForWhatIsOwed, OfAReplyGivesThePeerUp) {
  make_job("none");
  network_.refusals[1][0] = Post::retry(ErrorCode::no_memory);
  std::vector<std::byte> got(100);
  const Event event = get_nb(job_->endpoint(0), got, GlobalPtr<std::byte>{1, 0});
  expect_loss();
  EXPECT_TRUE(event.done());
}

TEST_F(NoMemoryForWhatIsOwed, OfCreditsGivesThePeerUp) {
  make_job("none");
  std::vector<ShortRequest<std::uint64_t>> handlers;
  for (Rank rank = 0; rank < 2; ++rank) {
    auto made = on_short_request<std::uint64_t>(job_->endpoint(rank), [](auto&, std::uint64_t) {});
    ASSERT_TRUE(made);
    handlers.push_back(*made);
  }
  network_.refusals[1][0] = Post::retry(ErrorCode::no_memory);
  Endpoint& sender = job_->endpoint(0);
  while (sender.state().messages->credits_left(1) != 0) ASSERT_TRUE(request(sender, 1, handlers[0], 1));
  expect_loss();
}

TEST_F(NoMemoryForWhatIsOwed, OfAMessageBehindAPutGivesThePeerUp) {
  make_job("rma");
  std::vector<LongRequest<std::uint64_t>> handlers;
  int heard = 0;
  for (Rank rank = 0; rank < 2; ++rank) {
    auto made =
        on_long_request<std::uint64_t>(job_->endpoint(rank), [&](auto&, std::uint64_t, auto) { ++heard; });
    ASSERT_TRUE(made);
    handlers.push_back(*made);
  }
  network_.only_messages = true;
  network_.refusals[1][0] = Post::retry(ErrorCode::no_memory);
  const std::vector<std::byte> payload(20'000, std::byte{3});
  Event reusable;
  AmOptions options;
  options.source_event = &reusable;
  ASSERT_TRUE(request(job_->endpoint(1), handlers[1], 1, payload, GlobalPtr<std::byte>{0, 0}, options));
  expect_loss();
  EXPECT_TRUE(reusable.done());
  EXPECT_EQ(heard, 0);
}

// What a conduit without room answers says nothing of memory: then only the look for memory decides.
TEST(MemoryPatience, EndsWhatFindsNoMemoryForTheLimitAndNothingElse) {
  Config config;
  ASSERT_TRUE(config.set("conduit", "loop") && config.set("near", "off"));
  auto job = Job::in_process(2, config);
  ASSERT_TRUE(job);
  core::EndpointState& state = job->endpoint(0).state();
  const FastClock fast{milliseconds(10)};
  const core::EndpointClock before = std::exchange(state.clock, fast.clock());
  static bool there_is_memory;
  there_is_memory = true;
  core::MemoryPatience patience([]() noexcept { return there_is_memory; });
  const auto attempts_until_over = [&](bool in_flight, int most) {
    int attempts = 0;
    while (attempts < most && !patience.is_over(state, 1, Post::retry(), in_flight)) ++attempts;
    return attempts;
  };
  constexpr int kMany = 10'000;  // 100 s
  EXPECT_EQ(attempts_until_over(false, kMany), kMany);
  testing::internal::CaptureStderr();
  there_is_memory = false;
  const auto within = [](int attempts, std::chrono::seconds limit) {
    const milliseconds took(10 * attempts);
    return took >= limit && took < limit + std::chrono::seconds(1);
  };
  EXPECT_TRUE(within(attempts_until_over(false, kMany), core::MemoryPatience::kLimit));
  EXPECT_EQ(attempts_until_over(false, kMany), 0);  // those behind it end at once
  patience.begin_again();
  EXPECT_TRUE(within(attempts_until_over(true, kMany), core::MemoryPatience::kLimitInFlight));
  // A rank that was away has not tried meanwhile.
  fast.looks += 1000;
  EXPECT_GT(attempts_until_over(false, kMany), 100);
  // Memory comes back in time.
  patience.begin_again();
  EXPECT_EQ(attempts_until_over(false, 400), 400);
  there_is_memory = true;
  EXPECT_EQ(attempts_until_over(false, 10), 10);
  there_is_memory = false;
  EXPECT_EQ(attempts_until_over(false, 400), 400);
  state.clock = before;
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("gives this rank no more memory"), std::string::npos) << said;
  EXPECT_TRUE(job->finish());
}

}  // namespace
}  // namespace aqueduct
