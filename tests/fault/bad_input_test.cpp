// Wrong arguments: each call returns the error in its Status and has no effect, and the job goes on.

#include <aqueduct/aqueduct.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace aqueduct {
namespace {

struct Small {
  std::uint32_t value;
};
struct Other {
  std::uint64_t value;
};

// Misuse that the types exclude does not compile.

template <class H, class A>
concept CanRequest = requires(Endpoint& ep, H handler, A args) {
  request(ep, 0, handler, args);
};
template <class H, class A>
concept CanReply = requires(RequestContext& context, H handler, A args) {
  context.reply(handler, args);
};
template <class Context>
concept CanSend = requires(Context& context, ShortReply<Small> handler) {
  context.reply(handler, Small{});
};
template <class Context>
concept CanWait = requires(Context& context, Event& event) {
  context.wait(event);
};
template <class R>
concept CanPutFrom = requires(Endpoint& ep, GlobalPtr<int> to, R&& from) {
  put_nb(ep, to, std::forward<R>(from));
};
template <class T>
concept CanAdd = requires(Endpoint& ep, GlobalPtr<T> at, T x) {
  fetch_add(ep, at, x);
};
template <class T>
concept CanMin = requires(Endpoint& ep, GlobalPtr<T> at, T x) {
  fetch_min(ep, at, x);
};
template <class T>
concept CanAnd = requires(Endpoint& ep, GlobalPtr<T> at, T x) {
  fetch_and(ep, at, x);
};
template <class A>
concept CanBeAnArgument = requires {
  typename ShortRequest<A>;
};

static_assert(CanRequest<ShortRequest<Small>, Small>);
static_assert(!CanRequest<ShortRequest<Small>, Other>, "another argument struct");
static_assert(!CanRequest<ShortReply<Small>, Small>, "a reply's handler takes no requests");
static_assert(!CanRequest<MediumRequest<Small>, Small>, "a medium request has a payload");
static_assert(CanReply<ShortReply<Small>, Small>);
static_assert(!CanReply<ShortReply<Small>, Other>, "another argument struct");
static_assert(!CanReply<ShortRequest<Small>, Small>, "a request is no reply");
static_assert(CanSend<RequestContext> && !CanSend<ReplyContext>, "a reply is not answered");
static_assert(!CanWait<RequestContext> && !CanWait<ReplyContext>, "a handler has nothing to wait with");
static_assert(CanPutFrom<std::vector<int>&> && CanPutFrom<std::span<int>>);
static_assert(!CanPutFrom<std::vector<int>>, "it would be gone before the put is");
static_assert(!CanPutFrom<std::vector<long>&>, "of another type than the target");
static_assert(CanAdd<double> && CanMin<double> && CanMin<std::int32_t> && !CanAdd<std::int16_t>);
static_assert(CanAnd<std::uint32_t> && !CanAnd<double>, "bits of a floating-point number");
static_assert(!CanBeAnArgument<std::string> && !CanBeAnArgument<std::array<char, 65>>);

// Misuse that is found at run time.

constexpr std::chrono::seconds kBound{30};  // reached only by a failure

/// Ends the program when a case hangs, because nothing else ends a wait without a limit.
class Watchdog {
 public:
  Watchdog() : thread_([this] { watch(); }) {}
  ~Watchdog() {
    over_ = true;
    thread_.join();
  }

 private:
  void watch() {
    const auto until = std::chrono::steady_clock::now() + kBound;
    while (!over_) {
      if (std::chrono::steady_clock::now() > until) {
        std::cerr << "bad_input_test: a call did not return\n";
        std::_Exit(1);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  std::atomic<bool> over_{false};
  std::thread thread_;
};

struct Setup {
  const char* name;
  const char* conduit;
  const char* near;
  const char* native;
};
void PrintTo(const Setup& setup, std::ostream* out) { *out << setup.name; }

class BadInput : public testing::TestWithParam<Setup> {
 protected:
  /// Runs two ranks in threads. They meet at the end, so that a rank that no longer works is noticed.
  void as_each(const std::function<void(Endpoint&)>& body) {
    Watchdog watchdog;
    Config config;
    ASSERT_TRUE(config.set("conduit", GetParam().conduit));
    ASSERT_TRUE(config.set("near", GetParam().near));
    ASSERT_TRUE(config.set("loop_native", GetParam().native));
    ASSERT_TRUE(config.set("segment_bytes", "64K"));
    auto job = Job::in_process(2, config);
    ASSERT_TRUE(job) << job.status().text();
    job->run_each([&](Endpoint& me) {
      EXPECT_TRUE(me.barrier());
      body(me);
      EXPECT_TRUE(me.barrier());
    });
    EXPECT_TRUE(job->finish());
  }
};

/// Expects this error code, this rank in the status, and a text that says what to do.
void expect(const Status& status, ErrorCode code, Rank peer = kNoRank) {
  EXPECT_EQ(status.code(), code) << status.text();
  EXPECT_EQ(status.peer(), peer) << status.text();
  EXPECT_NE(status.text().find(describe(code).advice), std::string::npos) << status.text();
  EXPECT_GT(describe(code).advice.size(), 10u);
}

TEST_P(BadInput, RanksOutsideTheJob) {
  as_each([](Endpoint& me) {
    std::byte bytes[8] = {};
    for (const Rank rank : {me.ranks(), Rank{1000}, kAnyRank, kNoRank}) {
      const GlobalPtr<std::byte> place{rank, 0};
      expect(put(me, place, bytes), ErrorCode::out_of_range);
      expect(get(me, bytes, place), ErrorCode::out_of_range);
      expect(me.wait(put_nb(me, place, bytes)), ErrorCode::out_of_range);
      expect(put_nbi(me, place, bytes), ErrorCode::out_of_range);
      expect(fetch_add(me, GlobalPtr<std::uint64_t>{rank, 0}, 1).status(), ErrorCode::out_of_range);
      expect(signal(me, rank), ErrorCode::out_of_range);
      if (rank != kAnyRank) expect(wait_until(me, 0, 1, rank), ErrorCode::out_of_range);
      EXPECT_EQ(me.local(place), nullptr);
      EXPECT_EQ(me.segment_bytes(rank), 0u);
      EXPECT_FALSE(me.is_lost(rank));
      EXPECT_EQ(me.conduit_of(rank), "");
    }
    EXPECT_TRUE(me.wait_implicit());  // refused operations are not waited for
  });
}

TEST_P(BadInput, MembersOutsideTheTeam) {
  as_each([](Endpoint& me) {
    EXPECT_EQ(me.world().rank_of(2), kNoRank);
    EXPECT_EQ(me.world().index_of(2), kNoRank);
    EXPECT_EQ(me.world().rank_of(kNoRank), kNoRank);
    expect(me.world().wait(), ErrorCode::invalid_argument);  // no notify came before
    EXPECT_TRUE(me.world().notify());
    expect(me.world().notify(), ErrorCode::invalid_argument);
    EXPECT_TRUE(me.world().wait());
  });
}

TEST_P(BadInput, PlacesOutsideTheSegment) {
  as_each([](Endpoint& me) {
    const std::uint64_t size = me.segment().size();
    std::byte bytes[16] = {};
    for (const Rank rank : {me.rank(), 1 - me.rank()}) {
      for (const std::uint64_t offset : {size - 15, size, size + 1, UINT64_MAX - 15, UINT64_MAX}) {
        const GlobalPtr<std::byte> place{rank, offset};
        expect(put(me, place, bytes), ErrorCode::out_of_range, rank);
        expect(get(me, bytes, place), ErrorCode::out_of_range, rank);
        expect(me.wait(put_signal_nb(me, place, bytes)), ErrorCode::out_of_range, rank);
        EXPECT_EQ(me.local(place, sizeof bytes), nullptr);
      }
      EXPECT_TRUE(put(me, GlobalPtr<std::byte>{rank, size - 16}, bytes));
      expect(put(me, GlobalPtr<std::byte>{rank, 0, 77}, bytes), ErrorCode::out_of_range);
      expect(signal(me, rank, {1u << 30, 1}), ErrorCode::out_of_range, rank);
    }
    EXPECT_EQ(signal_value(me, 0), 0u);  // no refused put_signal has raised the counter
    expect(reset_signal(me, 1u << 30), ErrorCode::out_of_range);
  });
}

TEST_P(BadInput, MisalignedAtomics) {
  as_each([](Endpoint& me) {
    for (const Rank rank : {me.rank(), 1 - me.rank()}) {
      expect(fetch_add(me, GlobalPtr<std::uint64_t>{rank, 4}, 1).status(), ErrorCode::misaligned, rank);
      expect(fetch_add(me, GlobalPtr<std::uint32_t>{rank, 2}, 1).status(), ErrorCode::misaligned, rank);
      expect(store(me, GlobalPtr<double>{rank, 1}, 1.0), ErrorCode::misaligned, rank);
      std::uint64_t old = 5;
      expect(me.wait(compare_swap_nb(me, GlobalPtr<std::uint64_t>{rank, 12}, 0, 1, &old)),
             ErrorCode::misaligned, rank);
      EXPECT_EQ(old, 5u);
      EXPECT_TRUE(fetch_add(me, GlobalPtr<std::uint32_t>{rank, 4}, 0));
    }
  });
}

TEST_P(BadInput, PayloadsAboveTheLimit) {
  as_each([](Endpoint& me) {
    int handled = 0;
    const auto handler =
        on_medium_request<Small>(me, [&](auto&, const Small&, std::span<std::byte>) { ++handled; });
    ASSERT_TRUE(handler);
    ASSERT_TRUE(me.barrier());
    const Rank other = 1 - me.rank();
    const std::size_t most = am_limits(me, other).medium;
    const std::vector<std::byte> payload(most + 1);
    expect(request(me, other, *handler, {1}, payload), ErrorCode::too_large, other);
    EXPECT_EQ(prepare_medium(me, other, most + 1).status().code(), ErrorCode::too_large);
    EXPECT_TRUE(request(me, other, *handler, {1}, std::span(payload).first(most)));
    const std::vector<std::uint32_t> words(17);
    expect(request_plain(me, other, AmCategory::short_request, 0, words), ErrorCode::too_large);
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (handled == 0 && std::chrono::steady_clock::now() < until) me.progress();
    ASSERT_TRUE(me.barrier());
    EXPECT_EQ(handled, 1);
  });
}

TEST_P(BadInput, HandlersOfAnotherKind) {
  as_each([](Endpoint& me) {
    const auto typed = on_short_request<Small>(me, [](auto&, const Small&) { ADD_FAILURE(); });
    const auto plain =
        register_plain(me, AmCategory::short_request, 2, [](auto&, auto, auto) { ADD_FAILURE(); });
    ASSERT_TRUE(typed && plain);
    ASSERT_TRUE(me.barrier());
    const std::uint32_t words[3] = {};
    const Rank other = 1 - me.rank();
    const auto send = [&](AmCategory category, HandlerId id, std::size_t count) {
      return request_plain(me, other, category, id, std::span(words).first(count));
    };
    expect(send(AmCategory::short_request, *plain, 1), ErrorCode::wrong_handler);
    expect(send(AmCategory::short_request, *plain, 3), ErrorCode::wrong_handler);
    expect(send(AmCategory::medium_request, *plain, 2), ErrorCode::wrong_handler);
    expect(send(AmCategory::short_reply, *plain, 2), ErrorCode::wrong_handler);
    expect(send(AmCategory::short_request, typed->id, 1), ErrorCode::wrong_handler);
    expect(send(AmCategory::short_request, 0, 2), ErrorCode::wrong_handler);  // reserved for the library
    expect(send(AmCategory::short_request, UINT16_MAX, 2), ErrorCode::wrong_handler);
    expect(request(me, other, ShortRequest<Other>{typed->id}), ErrorCode::wrong_handler);
    EXPECT_EQ(register_plain(me, AmCategory::short_request, 17, [](auto&, auto, auto) {}).status().code(),
              ErrorCode::too_large);
    EXPECT_EQ(register_plain(me, AmCategory::short_request, 1, nullptr).status().code(),
              ErrorCode::invalid_argument);
  });
}

TEST_P(BadInput, HandlersThatTryToBlock) {
  as_each([](Endpoint& me) {
    std::vector<Status> seen;
    const auto handler = on_short_request<NoArguments>(me, [&](RequestContext& context, const NoArguments&) {
      seen = {me.barrier(), me.wait_implicit(), wait_until(me, 0, 1),
              request(me, context.source(), ShortRequest<Small>{})};
      EXPECT_EQ(me.progress(), 0);
    });
    ASSERT_TRUE(handler);
    ASSERT_TRUE(me.barrier());
    ASSERT_TRUE(request(me, 1 - me.rank(), *handler));
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (seen.empty() && std::chrono::steady_clock::now() < until) me.progress();
    ASSERT_EQ(seen.size(), 4u);
    expect(seen[0], ErrorCode::in_handler);
    EXPECT_TRUE(seen[1]);  // there is nothing to wait for
    expect(seen[2], ErrorCode::in_handler);
    expect(seen[3], ErrorCode::wrong_handler);
  });
}

TEST_P(BadInput, EventsWaitedForTwice) {
  as_each([](Endpoint& me) {
    std::byte bytes[100] = {};
    const Rank other = 1 - me.rank();
    Event good = put_nb(me, GlobalPtr<std::byte>{other, 0}, bytes);
    Event bad = put_nb(me, GlobalPtr<std::byte>{other, 1 << 20}, bytes);
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(me.wait(good));
      EXPECT_TRUE(me.test(good));
      expect(me.wait(bad), ErrorCode::out_of_range, other);
    }
    Event never;
    EXPECT_TRUE(me.wait(never));
    expect(me.wait(me.end_region()), ErrorCode::invalid_argument);  // no region was begun
    ASSERT_TRUE(me.begin_region());
    expect(me.begin_region(), ErrorCode::invalid_argument);
    EXPECT_TRUE(me.wait(me.end_region()));
  });
}

INSTANTIATE_TEST_SUITE_P(Over, BadInput,
                         testing::Values(Setup{"smp", "smp", "on", "none"},
                                         Setup{"loop", "loop", "off", "none"},
                                         Setup{"loop_native", "loop", "off", "rma"}),
                         [](const auto& info) { return info.param.name; });

#ifdef AQUEDUCT_CHECKED
/// Rank 1 makes no progress, so that the put cannot complete.
void with_a_put_in_flight(const std::function<void(Event)>& misuse) {
  Config config;
  static_cast<void>(config.set("conduit", "loop"));
  static_cast<void>(config.set("near", "off"));
  auto job = Job::in_process(2, config);
  std::byte bytes[8] = {};
  misuse(put_nb(job->endpoint(0), GlobalPtr<std::byte>{1, 0}, bytes));
}
#endif

// Dropping a live Event: checked builds end the program, with the place and the reason.
TEST(DroppedEvent, IsMisuse) {
#ifndef AQUEDUCT_CHECKED
  GTEST_SKIP() << "only checked builds look for it";
#else
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      with_a_put_in_flight([](Event event) { static_cast<void>(event); }), testing::KilledBySignal(SIGABRT),
      "aqueduct: misuse at .*event.hpp:[0-9]+: an Event was dropped while its operation is in flight");
  EXPECT_EXIT(with_a_put_in_flight([](Event event) { static_cast<void>(event.status()); }),
              testing::KilledBySignal(SIGABRT),
              "misuse at .*event.hpp:[0-9]+: Event::status\\(\\) of an operation");
#endif
}

}  // namespace
}  // namespace aqueduct
