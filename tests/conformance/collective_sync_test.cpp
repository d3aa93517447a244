#include <aqueduct/signal.hpp>

#include "tests/conformance/collective_trial.hpp"
#include "tests/conformance/fabric_test.hpp"

namespace aqueduct::conformance {
namespace {

/// What each of the nine sync modes promises.
class CollectiveSync : public FabricTest {};

constexpr std::uint64_t kCount = 9;
constexpr SignalSlot kBegun = 3;
constexpr std::chrono::seconds kPatience{30};

// Also the calls before and after have other modes: nothing of one call may be taken for part of the next.
TEST_P(CollectiveSync, AllNineModesGiveTheRightResults) {
  as_each_of(std::min<Rank>(many(), 5), 4096, [seed = seed(), rounds = often(2)](Endpoint& me) {
    CollMemory memory(me.world(), kCount * 8 * me.ranks());
    ASSERT_TRUE(memory.ok());
    std::uint64_t number = 1;
    Random random(seed);
    for (int round = 0; round < rounds; ++round) {
      for (const Collective operation : kCollectives) {
        for (int mode = 0; mode < 9; ++mode) {
          CollectiveCall call{.operation = operation,
                              .count = kCount,
                              .root = static_cast<Rank>(random.below(me.ranks())),
                              .place = kCollPlaces[random.below(kCollPlaces.size())],
                              .form = kCollForms[random.below(kCollForms.size())]};
          call.options.in = kSyncs[static_cast<std::size_t>(mode) / 3];
          call.options.out = kSyncs[static_cast<std::size_t>(mode) % 3];
          ASSERT_NO_FATAL_FAILURE(try_call<std::int32_t>(me, me.world(), memory, call, ++number));
        }
      }
    }
    ASSERT_TRUE(memory.release());
  });
}

// Sync::all at the end: when a member returns, it can fetch the others' results from them.
// M-28.
TEST_P(CollectiveSync, AllAtTheEndMakesEveryOutputFinal) {
  as_each_of(std::min<Rank>(many(), 4), 4096, [](Endpoint& me) {
    constexpr std::uint64_t kElements = 700;
    CollMemory memory(me.world(), kElements * 8 * me.ranks());
    ASSERT_TRUE(memory.ok());
    std::uint64_t number = 1;
    for (const Collective operation : kCollectives) {
      for (const Sync in : kSyncs) {
        for (const CollPlace place : {CollPlace::segment, CollPlace::on_all, CollPlace::on_each}) {
          CollectiveCall call{.operation = operation,
                              .count = kElements,
                              .root = static_cast<Rank>(mix(number) % me.ranks()),
                              .place = place};
          call.options.in = in;
          CollTrial<double> trial(memory, me.world(), call, ++number);
          if (in == Sync::none) {
            ASSERT_TRUE(me.barrier());
          }
          ASSERT_TRUE(me.wait(trial.begin())) << text_of(call);
          for (Rank i = 1; i < me.ranks(); ++i) ASSERT_TRUE(trial.check_of(me, (me.rank() + i) % me.ranks()));
          ASSERT_TRUE(trial.check());
          ASSERT_TRUE(me.barrier());  // others may still read my output
        }
      }
    }
    ASSERT_TRUE(memory.release());
  });
}

/// Whether no member's call may end before the late one has called. With Sync::mine and Sync::none at the end a member
/// may be done earlier; with Sync::none at the beginning the late one's buffers may be used without its call.
bool nobody_ends_early(const CollectiveCall& call, Rank late) {
  if (call.options.in == Sync::all) return call.options.out != Sync::none;
  return call.options.in == Sync::mine && call.options.out == Sync::all && writes(call, late);
}

/// One member calls late: after the others have begun, and made progress. Until then nobody touches what the mode
/// protects: not its output, and not its input, which it writes at the last moment.
void call_late(Endpoint& me, CollMemory& memory, const CollectiveCall& call, Rank late, std::uint64_t number,
               std::uint64_t& begun) {
  Team& world = me.world();
  CollTrial<std::int32_t> trial(memory, world, call, number);
  if (world.index() == late && call.options.in != Sync::none) trial.spoil_input();
  ASSERT_TRUE(me.barrier());
  if (me.rank() == late) begun += world.size() - 1;  // each rank has a counter of its own
  if (world.index() == late) {
    ASSERT_TRUE(wait_until(me, kBegun, begun, kAnyRank, kPatience)) << text_of(call);
    if (call.options.in != Sync::none) {
      ASSERT_TRUE(trial.is_untouched()) << "before this member has called";
      trial.restore_input();
    }
    Event event = trial.begin();
    ASSERT_TRUE(me.wait(event)) << text_of(call);
  } else {
    Event event = trial.begin();
    bool early = false;
    for (int i = 0; i < 100; ++i) early = me.test(event) || early;
    EXPECT_FALSE(early && nobody_ends_early(call, late))
        << "ended before member " << late << " has called: " << text_of(call);
    ASSERT_TRUE(signal(me, world.rank_of(late), {kBegun, 1}));
    ASSERT_TRUE(me.wait(event)) << text_of(call);
  }
  if (call.options.out == Sync::none) {
    ASSERT_TRUE(settle(world)) << text_of(call);
  }
  ASSERT_TRUE(trial.check());
}

// M-30.
TEST_P(CollectiveSync, NothingOfALateMemberIsTouchedBeforeItsCall) {
  as_each_of(3, 4096, [](Endpoint& me) {
    CollMemory memory(me.world(), kCount * 8 * me.ranks());
    ASSERT_TRUE(memory.ok());
    std::uint64_t number = 1;
    std::uint64_t begun = 0;
    for (const Collective operation : kCollectives) {
      for (const Sync in : kSyncs) {
        for (const Sync out : kSyncs) {
          for (const CollPlace place : {CollPlace::heap, CollPlace::on_all}) {
            ++number;
            CollectiveCall call{.operation = operation,
                                .count = kCount,
                                .root = static_cast<Rank>((mix(number) >> 16) % 3),
                                .in_place = has_place(operation) && (mix(number) >> 32) % 2 == 0,
                                .place = place,
                                .form = CollForm::nb};
            call.options.in = in;
            call.options.out = out;
            const Rank late = static_cast<Rank>(mix(number) % 3);
            ASSERT_NO_FATAL_FAILURE(call_late(me, memory, call, late, number, begun));
          }
        }
      }
    }
    ASSERT_TRUE(memory.release());
  });
}

// The values that the root broadcasts, and all add up, are those that it has when it calls, not before.
// M-28, M-30.
TEST_P(CollectiveSync, TheInputOfALateMemberIsReadAfterItsCall) {
  as_each_of(3, 4096, [](Endpoint& me) {
    Team& world = me.world();
    auto segment = Segment::create<std::uint64_t>(world, 4);
    ASSERT_TRUE(segment) << segment.status().text();
    std::uint64_t begun = 0;
    for (const Sync in : {Sync::mine, Sync::all}) {
      for (const bool sums : {false, true}) {
        for (Rank late = 0; late < 3; ++late) {
          segment->mine()[0] = 100;
          segment->mine()[1] = 0;
          ASSERT_TRUE(me.barrier());
          if (me.rank() == late) begun += 2;  // each rank has a counter of its own
          CollOptions options;
          options.in = in;
          const auto from = on_all(*segment, 0, 1);
          const auto to = on_all(*segment, 1, 1);
          const auto begin = [&] {
            return sums ? all_reduce_nb(world, from, to, ReduceOp::sum, options)
                        : broadcast_nb(world, from, to, late, options);
          };
          Event event;
          if (me.rank() == late) {
            ASSERT_TRUE(wait_until(me, kBegun, begun, kAnyRank, kPatience));
            EXPECT_EQ(segment->mine()[1], 0u);
            segment->mine()[0] = 7;
            event = begin();
          } else {
            event = begin();
            for (int i = 0; i < 100; ++i)
              EXPECT_FALSE(me.test(event)) << "member " << late << " has not called";
            ASSERT_TRUE(signal(me, late, {kBegun, 1}));
          }
          ASSERT_TRUE(me.wait(event));
          EXPECT_EQ(segment->mine()[1], sums ? 207u : 7u);
          ASSERT_TRUE(me.barrier());
        }
      }
    }
    ASSERT_TRUE(segment->release());
  });
}

// Sync::mine at the end: a member's buffers are its own again, whatever the others do.
// M-30.
TEST_P(CollectiveSync, MineAtTheEndGivesTheBuffersBack) {
  as_each_of(std::min<Rank>(many(), 4), 4096, [](Endpoint& me) {
    const std::uint64_t elements = reasonable(me, 4096) / 8;
    CollMemory memory(me.world(), elements * 8 * me.ranks());
    ASSERT_TRUE(memory.ok());
    std::uint64_t number = 1;
    for (int round = 0; round < 3; ++round) {
      for (const Collective operation : kCollectives) {
        for (const Sync in : {Sync::mine, Sync::all}) {
          for (const CollPlace place : {CollPlace::heap, CollPlace::on_all}) {
            CollectiveCall call{.operation = operation,
                                .count = elements,
                                .root = static_cast<Rank>(mix(++number) % me.ranks()),
                                .place = place,
                                .form = CollForm::nb};
            call.options.in = in;
            call.options.out = Sync::mine;
            // No barrier between the calls: this member overwrites its buffers as soon as the Event is done.
            ASSERT_NO_FATAL_FAILURE(try_call<double>(me, me.world(), memory, call, number));
            CollTrial<double> spoiled(memory, me.world(), call, ~number);
          }
        }
      }
    }
    ASSERT_TRUE(memory.release());
  });
}

INSTANTIATE_TEST_SUITE_P(On, CollectiveSync, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
