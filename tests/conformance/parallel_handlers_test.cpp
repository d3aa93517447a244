#include <aqueduct/am_raw.hpp>

#include "tests/conformance/forms.hpp"
#include "tests/conformance/pattern.hpp"
#include "tests/conformance/several_threads.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <optional>
#include <thread>
#include <vector>

// Handlers with HandlerOptions::parallel: several threads of a rank run them at once.

namespace aqueduct::conformance {
namespace {

using std::chrono::seconds;

constexpr std::size_t kHandlerThreads = 3;
constexpr HandlerOptions kParallel{.parallel = true};

class ParallelHandlers : public SeveralThreads {};

/// How a rank's threads are inside the library while handlers run.
enum class Inside : std::uint8_t { progress, wait, wait_for_an_event_of_the_network };

// Each handler ends only when the other has begun. One rank sends at a time: a thread that waits for room for its second
// request may run a handler of this rank, and that one must not wait for a request that is behind the thread's own.
// P-14, M-31.
TEST_P(ParallelHandlers, ThatWaitForEachOtherRunOnTwoThreads) {
  as_each_of(2, 64, [](Endpoint& me) {
    for (int i = 0; i < 6; ++i) {
      const auto inside = static_cast<Inside>(i / 2);
      const Rank sender = static_cast<Rank>(i % 2);
      std::atomic<int> begun{0}, ended{0};
      std::atomic<bool> met{true};
      const auto meets = on_short_request<NoArguments>(
          me,
          [&](auto&, const NoArguments&) {
            ++begun;
            if (!idle_until([&] { return begun == 2; }, seconds(20))) met = false;
            ++ended;
          },
          kParallel);
      ASSERT_TRUE(meets);
      ASSERT_TRUE(me.barrier());
      // Neither request may come while its target is still in the barrier: only one thread of it is in there.
      on_threads(2, [&](std::size_t t) {
        if (me.rank() == sender) {
          if (t == 0) {
            ASSERT_TRUE(wait_until(me, 0, static_cast<std::uint64_t>(i / 2 + 1), kAnyRank, seconds(20)));
            for (int k = 0; k < 2; ++k) ASSERT_TRUE(request(me, next(me), *meets));
          }
          return;
        }
        if (t == 0) {
          ASSERT_TRUE(signal(me, sender, {0, 1}));
        }
        const auto both = [&] { return ended == 2; };
        const auto until = std::chrono::steady_clock::now() + seconds(30);
        switch (inside) {
          case Inside::progress: EXPECT_TRUE(progress_until(me, both)); break;
          case Inside::wait: EXPECT_TRUE(me.wait_until(both, seconds(30))); break;
          case Inside::wait_for_an_event_of_the_network:
            while (!both() && std::chrono::steady_clock::now() < until)
              static_cast<void>(me.progress_for(std::chrono::milliseconds(5)));
        }
      });
      EXPECT_TRUE(met) << "in form " << static_cast<int>(inside);
      EXPECT_EQ(begun, me.rank() == sender ? 0 : 2);
      EXPECT_EQ(ended, begun);
      ASSERT_TRUE(me.barrier());
    }
  });
}

// While a handler runs for long, another thread waits, calls and runs other handlers.
TEST_P(ParallelHandlers, HoldUpNoOtherThread) {
  as_each_of(2, 64, [](Endpoint& me) {
    std::atomic<bool> begun{false}, may_end{false}, ended{false};
    std::atomic<int> others{0};
    const auto lasts = on_short_request<NoArguments>(
        me,
        [&](auto&, const NoArguments&) {
          begun = true;
          EXPECT_TRUE(idle_until([&] { return may_end.load(); }, seconds(20)));
          ended = true;
        },
        kParallel);
    const auto other = on_short_request<NoArguments>(me, [&](auto&, const NoArguments&) { ++others; });
    ASSERT_TRUE(lasts && other);
    ASSERT_TRUE(me.barrier());
    on_threads(2, [&](std::size_t t) {
      if (t == 0) {
        ASSERT_TRUE(request(me, me.rank(), *lasts));
        EXPECT_TRUE(me.wait_until([&] { return ended.load(); }, seconds(30)));
        return;
      }
      // Outside the library until the handler runs on the other thread.
      ASSERT_TRUE(idle_until([&] { return begun.load(); }));
      EXPECT_FALSE(me.in_handler());
      for (int i = 0; i < 5; ++i) ASSERT_TRUE(request(me, me.rank(), *other));
      EXPECT_TRUE(progress_until(
          me, [&] { return others == 5; }, seconds(10)));
      EXPECT_TRUE(fetch_add(me, GlobalPtr<std::uint64_t>{me.rank(), 0}, 1));
      EXPECT_FALSE(ended);
      may_end = true;
    });
    EXPECT_TRUE(ended);
    ASSERT_TRUE(me.barrier());
  });
}

// M-31.
TEST_P(ParallelHandlers, RunOnceEachAndReplyUnderTheRulesOfHandlers) {
  static constexpr int kEach = 200;
  static constexpr int kAll = kEach * static_cast<int>(kHandlerThreads);
  as_each_of(2, 64, [](Endpoint& me) {
    std::atomic<int> requests{0}, replies{0}, wrong{0};
    const auto replied = on_short_reply<NoArguments>(
        me,
        [&](auto&, const NoArguments&) {
          wrong += !me.in_handler();
          ++replies;
        },
        kParallel);
    ASSERT_TRUE(replied);
    std::optional<ShortRequest<NoArguments>> asked;
    const auto made = on_short_request<NoArguments>(
        me,
        [&](auto& context, const NoArguments&) {
          wrong += !me.in_handler();
          wrong += me.progress() != 0;
          wrong += me.progress_for(std::chrono::milliseconds(1)).code() != ErrorCode::in_handler;
          wrong += request(me, context.source(), *asked).code() != ErrorCode::in_handler;
          wrong += !context.reply(*replied).ok();
          wrong += context.reply(*replied).code() != ErrorCode::invalid_argument;
          wrong += !me.in_handler();
          ++requests;
        },
        kParallel);
    ASSERT_TRUE(made);
    asked = *made;
    ASSERT_TRUE(me.barrier());
    on_threads(kHandlerThreads, [&](std::size_t) {
      for (int i = 0; i < kEach; ++i) {
        ASSERT_TRUE(request(me, next(me), *asked));
        wrong += me.in_handler();
      }
      ASSERT_TRUE(progress_until(me, [&] { return replies == kAll; }));
    });
    // The reply is sent before the handler's end.
    ASSERT_TRUE(progress_until(me, [&] { return requests == kAll; }));
    ASSERT_TRUE(me.barrier());
    EXPECT_EQ(requests, kAll);
    EXPECT_EQ(replies, kAll);
    EXPECT_EQ(wrong, 0);
  });
}

struct ParallelPayload {
  std::uint32_t number;
  std::uint32_t place;  ///< of long messages: a multiple of kParallelSlot
};
constexpr std::size_t kParallelSlot = 256;

// A packet's memory is the conduit's: it is used again while the handlers run.
TEST_P(ParallelHandlers, FindTheirPayloadsUntilTheyReturn) {
  static constexpr std::uint32_t kEach = 60;
  static constexpr std::size_t kSlots = kHandlerThreads * kEach;
  as_each_of(2, 2 * kSlots * kParallelSlot, [](Endpoint& me) {
    std::atomic<std::uint32_t> asked{0}, answered{0}, wrong{0};
    const std::size_t most = reasonable(me, least_limits(me).medium);
    const std::size_t long_bytes = std::min(kParallelSlot, least_limits(me).long_reply);
    const auto medium_bytes = [most](std::uint32_t number) { return mix(number) % (most + 1); };
    const auto is_right = [&](std::span<const std::byte> payload, std::uint32_t number, std::size_t bytes) {
      const auto expected = pattern(number, bytes);
      bool right = true;
      for (int look = 0; look < 3; ++look) {
        right = right && holds(payload, expected);
        std::this_thread::yield();
      }
      return right;
    };
    const auto medium_back = on_medium_reply<ParallelPayload>(
        me,
        [&](auto&, const ParallelPayload& args, std::span<std::byte> payload) {
          wrong += !is_right(payload, args.number + 1, medium_bytes(args.number));
          ++answered;
        },
        kParallel);
    const auto long_back = on_long_reply<ParallelPayload>(
        me,
        [&](auto&, const ParallelPayload& args, std::span<std::byte> payload) {
          wrong += !is_right(payload, args.number + 1, long_bytes);
          ++answered;
        },
        kParallel);
    ASSERT_TRUE(medium_back && long_back);
    const auto medium = on_medium_request<ParallelPayload>(
        me,
        [&](RequestContext& context, const ParallelPayload& args, std::span<std::byte> payload) {
          const std::size_t bytes = medium_bytes(args.number);
          wrong += !is_right(payload, args.number, bytes);
          const auto reply = pattern(args.number + 1, bytes);
          Status sent = ErrorCode::refused;
          // Several handlers may negotiate at once; the plain form always finds room.
          if (auto prepared = context.prepare_medium({bytes, bytes}); args.number % 2 == 0 && prepared) {
            std::copy(reply.begin(), reply.end(), prepared->buffer().begin());
            sent = prepared->commit(*medium_back, args, bytes);
          } else {
            sent = context.reply(*medium_back, args, reply);
          }
          wrong += !sent.ok();
          ++asked;
        },
        kParallel);
    const auto large = on_long_request<ParallelPayload>(
        me,
        [&](RequestContext& context, const ParallelPayload& args, std::span<std::byte> payload) {
          wrong += !is_right(payload, args.number, long_bytes);
          const GlobalPtr<std::byte> place{context.source(), (kSlots + args.place) * kParallelSlot};
          wrong += !context.reply(*long_back, args, pattern(args.number + 1, long_bytes), place).ok();
          ++asked;
        },
        kParallel);
    ASSERT_TRUE(medium && large);
    ASSERT_TRUE(me.barrier());
    on_threads(kHandlerThreads, [&](std::size_t t) {
      for (std::uint32_t i = 0; i < kEach; ++i) {
        const auto place = static_cast<std::uint32_t>(t * kEach + i);
        const ParallelPayload args{1000 * (me.rank() + 1) + 2 * place + (i / 2) % 2, place};
        if (i % 2 == 0) {
          ASSERT_TRUE(request(me, next(me), *medium, args, pattern(args.number, medium_bytes(args.number))));
        } else {
          ASSERT_TRUE(
              request(me, *large, args, pattern(args.number, long_bytes), {next(me), place * kParallelSlot}));
        }
      }
      ASSERT_TRUE(progress_until(me, [&] { return answered == kSlots; }));
    });
    ASSERT_TRUE(progress_until(me, [&] { return asked == kSlots; }));
    ASSERT_TRUE(me.barrier());
    EXPECT_EQ(asked, kSlots);
    EXPECT_EQ(answered, kSlots);
    EXPECT_EQ(wrong, 0u);
  });
}

struct StormArgs {
  std::uint32_t wants_reply;
};

// Everybody sends to everybody, itself too. Handlers in parallel are mixed with others; credits are few.
TEST_P(ParallelHandlers, GetThroughAStormWithFewCredits) {
  static constexpr std::uint32_t kEach = 180;
  run({.ranks = 3, .segment_bytes = 64, .settings = {{"threads", "multiple"}, {"credits", "2"}}},
      [](Endpoint& me) {
        std::atomic<std::uint32_t> handled{0}, replies{0}, wrong{0};
        std::uint32_t plain = 0;  // under the lock: these run one at a time
        const auto replied = on_short_reply<NoArguments>(
            me, [&](auto&, const NoArguments&) { ++replies; }, kParallel);
        ASSERT_TRUE(replied);
        const auto answer = [&](RequestContext& context, const StormArgs& args) {
          if (args.wants_reply != 0) wrong += !context.reply(*replied).ok();
        };
        const auto beside = on_short_request<StormArgs>(
            me,
            [&](RequestContext& context, const StormArgs& args) {
              answer(context, args);
              ++handled;
            },
            kParallel);
        const auto alone =
            on_short_request<StormArgs>(me, [&](RequestContext& context, const StormArgs& args) {
              answer(context, args);
              ++plain;
            });
        ASSERT_TRUE(beside && alone);
        ASSERT_TRUE(me.barrier());
        // Of four messages to a rank two want a reply, and of these one is for each handler.
        on_threads(kHandlerThreads, [&](std::size_t) {
          for (std::uint32_t i = 0; i < kEach; ++i) {
            const StormArgs args{i / 2 % 2};
            ASSERT_TRUE(request(me, (me.rank() + i) % me.ranks(), i % 2 == 0 ? *beside : *alone, args));
          }
          ASSERT_TRUE(progress_until(me, [&] { return replies == kHandlerThreads * kEach / 2; }));
        });
        constexpr std::uint32_t kHalf = kHandlerThreads * kEach / 2;
        ASSERT_TRUE(progress_until(me, [&] { return handled == kHalf && plain == kHalf; }))
            << handled << " and " << plain;
        ASSERT_TRUE(me.barrier());
        EXPECT_EQ(handled, kHalf);
        EXPECT_EQ(plain, kHalf);
        EXPECT_EQ(replies, kHalf);
        EXPECT_EQ(wrong, 0u);
      });
}

TEST_P(ParallelHandlers, OfANumberEndBeforeItIsRemoved) {
  constexpr std::uint8_t kNumber = 7;
  as_each_of(2, 64, [](Endpoint& me) {
    std::atomic<bool> begun{false}, may_end{false};
    std::atomic<int> ended{0}, wrong{0};
    auto space = HandlerSpace::create(me, "kit parallel");
    ASSERT_TRUE(space);
    ASSERT_TRUE(space->add(
        kNumber,
        [&](RawContext& message) {
          begun = true;
          wrong += message.tag() != 99 || message.words().size() != 2 || message.words()[1] != 5;
          wrong += HandlerSpace(*space).remove(kNumber).code() != ErrorCode::in_handler;
          wrong += !idle_until([&] { return may_end.load(); }, seconds(20));
          ++ended;
        },
        {}, kParallel));
    ASSERT_TRUE(me.barrier());
    on_threads(3, [&](std::size_t t) {
      if (t == 0) {
        const std::array<std::uint32_t, 2> words{4, 5};
        ASSERT_TRUE(space->request_short(me.rank(), {kNumber, 99, words}));
        EXPECT_TRUE(progress_until(me, [&] { return ended == 1; }));
      } else if (t == 1) {
        ASSERT_TRUE(idle_until([&] { return begun.load(); }));
        EXPECT_TRUE(space->remove(kNumber));
        EXPECT_EQ(ended, 1) << "the handler still ran";
      } else {
        ASSERT_TRUE(idle_until([&] { return begun.load(); }));
        std::this_thread::sleep_for(
            std::chrono::milliseconds(20));  // so that `remove` has something to wait for
        may_end = true;
      }
    });
    EXPECT_FALSE(space->has(kNumber));
    EXPECT_EQ(wrong, 0);
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(ParallelHandlers, AreLikeOthersIfOneThreadMayCall) {
  run({.ranks = 2, .segment_bytes = 64, .settings = {{"threads", "single"}, {"coll_progress", "0"}}},
      [](Endpoint& me) {
        int handled = 0;
        bool inside = false;
        const auto counts = on_short_request<NoArguments>(
            me,
            [&](auto&, const NoArguments&) {
              inside = me.in_handler();
              ++handled;
            },
            kParallel);
        ASSERT_TRUE(counts);
        ASSERT_TRUE(me.barrier());
        for (int i = 0; i < 10; ++i) ASSERT_TRUE(request(me, next(me), *counts));
        ASSERT_TRUE(progress_until(me, [&] { return handled == 10; }));
        EXPECT_TRUE(inside);
        EXPECT_FALSE(me.in_handler());
        ASSERT_TRUE(me.barrier());
      });
}

// The loss is noticed while the handler of the lost rank's message runs.
TEST_P(ParallelHandlers, LearnThatTheirSenderIsLost) {
  if (!fabric().process_each()) GTEST_SKIP() << "a rank of a shared process cannot die alone";
  run({.ranks = 2, .segment_bytes = 64, .settings = {{"threads", "multiple"}}, .leaving = {1}},
      [](Endpoint& me) {
        std::atomic<bool> begun{false}, over{false};
        std::atomic<ErrorCode> answer{ErrorCode::ok};
        const auto replied = on_short_reply<NoArguments>(me, [](auto&, const NoArguments&) {});
        ASSERT_TRUE(replied);
        const auto asked = on_short_request<NoArguments>(
            me,
            [&](auto& context, const NoArguments&) {
              begun = true;
              EXPECT_TRUE(idle_until([&] { return me.is_lost(context.source()); }));
              answer = context.reply(*replied).code();
              over = true;
            },
            kParallel);
        ASSERT_TRUE(asked);
        ASSERT_TRUE(me.barrier());
        if (me.rank() == 1) {
          // Not while rank 0 is still in the barrier, where the handler would run on its only thread.
          ASSERT_TRUE(wait_until(me, 1, 1, kAnyRank, seconds(30)));
          ASSERT_TRUE(request(me, 0, *asked));
          ASSERT_TRUE(wait_until(me, 0, 1, kAnyRank, seconds(30)));
          std::raise(SIGKILL);
        }
        on_threads(3, [&](std::size_t t) {
          if (t == 0) {
            ASSERT_TRUE(signal(me, 1, {1, 1}));
          }
          if (t == 2) {  // it does not run the handler: it is outside the library until another thread does
            ASSERT_TRUE(idle_until([&] { return begun.load(); }));
            static_cast<void>(signal(me, 1, {0, 1}));  // it may die before it has answered
          }
          EXPECT_TRUE(me.wait_until([&] { return over.load(); }, seconds(40)));
        });
        EXPECT_EQ(answer, ErrorCode::peer_lost);
        EXPECT_TRUE(me.is_lost(1));
      });
}

INSTANTIATE_TEST_SUITE_P(On, ParallelHandlers, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
