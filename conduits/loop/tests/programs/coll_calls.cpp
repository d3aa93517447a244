// The program that count_instructions.py runs under callgrind: broadcasts and puts of 8 bytes over loop, by all ranks in
// turn on one thread.

#include <aqueduct/aqueduct.hpp>
#include <aqueduct/coll.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <new>
#include <optional>
#include <utility>

using namespace aqueduct;
using Number = std::array<std::uint64_t, 1>;

namespace {

constexpr CollOptions kNoSync{.in = Sync::none, .out = Sync::none};

}  // namespace

/// Room for an Event that a counted function makes: its end is not to be counted.
struct alignas(Event) Place {
  std::byte bytes[sizeof(Event)];
  Event& event() noexcept { return *std::launder(reinterpret_cast<Event*>(bytes)); }
};

// The script looks for these names. A tail call would leave the counted function, and equal functions would become one:
// the different comments prevent both.
extern "C" {
/// A member begins a call that waits for the root.
[[gnu::noinline]] void count_start(Team& team, Number& data, Place& place) {
  new (place.bytes) Event(broadcast_nb(team, data, 0, kNoSync));
  asm volatile("# start" ::: "memory");
}
/// The same call, bound before.
[[gnu::noinline]] void count_plan_start(CollPlan& plan, Place& place) {
  new (place.bytes) Event(plan.start());
  asm volatile("# plan" ::: "memory");
}
/// The root begins a call, and puts to two members.
[[gnu::noinline]] void count_two_puts(Team& team, Number& data, Place& place) {
  new (place.bytes) Event(broadcast_nb(team, data, 0, kNoSync));
  asm volatile("# two" ::: "memory");
}
/// The root begins a call, and puts to six.
[[gnu::noinline]] void count_six_puts(Team& team, Number& data, Place& place) {
  new (place.bytes) Event(broadcast_nb(team, data, 0, kNoSync));
  asm volatile("# six" ::: "memory");
}
[[gnu::noinline]] bool count_put(Endpoint& ep, const GlobalPtr<std::uint64_t>& to, const Number& from) {
  const bool begun = put_signal_nbi(ep, to, from, {0, 1}).ok();
  asm volatile("# put" ::: "memory");
  return begun;
}
}

namespace {

constexpr Rank kRanks = 7;
constexpr Rank kFew = 3;
constexpr int kTurns = 200;
constexpr int kWarm = 50;  // turns that are not counted: methods are chosen, pools filled

class Calls {
 public:
  explicit Calls(Job& job) : job_(job) {
    job.run_each([this](Endpoint& me) {
      auto made = me.world().split(me.rank() < kFew ? std::optional<std::uint32_t>(0) : std::nullopt, 0);
      if (made && *made) few_[me.rank()].emplace(std::move(**made));
    });
  }

  bool run() {
    for (Rank rank = 0; rank < kFew; ++rank) right_ = right_ && few_[rank].has_value();
    for (int turn = 0; turn < kWarm && right_; ++turn) {
      for (const Rank ranks : {kFew, kRanks}) {
        for (Rank rank = 0; rank < ranks; ++rank)
          new (places_[rank].bytes) Event(broadcast_nb(team(rank, ranks), data_[rank], 0, kNoSync));
        finish(ranks);
      }
    }
    for (int turn = 0; turn < kTurns && right_; ++turn) {
      counted(kFew, count_two_puts);
      counted(kRanks, count_six_puts);
      planned();
      right_ = count_put(job_.endpoint(0), {1, 0}, data_[0]) && right_;
      settle();
      right_ = job_.endpoint(0).wait_implicit().ok() && right_;
    }
    return right_;
  }

  void end() {
    job_.run_each([this](Endpoint& me) {
      if (few_[me.rank()]) static_cast<void>(few_[me.rank()]->end());
    });
  }

 private:
  Team& team(Rank rank, Rank ranks) { return ranks == kRanks ? job_.endpoint(rank).world() : *few_[rank]; }

  /// A broadcast: the other members first, so that they wait for the root. One of them is counted.
  void counted(Rank ranks, void (*root)(Team&, Number&, Place&)) {
    for (Rank rank = ranks - 1; rank > 0; --rank) {
      if (rank == 1 && ranks == kRanks) {
        count_start(team(rank, ranks), data_[rank], places_[rank]);
      } else {
        new (places_[rank].bytes) Event(broadcast_nb(team(rank, ranks), data_[rank], 0, kNoSync));
      }
    }
    root(team(0, ranks), data_[0], places_[0]);
    finish(ranks);
  }

  void planned() {
    for (Rank rank = 0; rank < kRanks && !plans_[rank]; ++rank) {
      auto plan = broadcast_plan(team(rank, kRanks), data_[rank], 0, kNoSync);
      right_ = right_ && plan.status().ok();
      if (plan.status().ok()) plans_[rank].emplace(std::move(*plan));
    }
    if (!right_) return;
    for (Rank rank = kRanks - 1; rank > 0; --rank) {
      if (rank == 1) {
        count_plan_start(*plans_[rank], places_[rank]);
      } else {
        new (places_[rank].bytes) Event(plans_[rank]->start());
      }
    }
    new (places_[0].bytes) Event(plans_[0]->start());
    finish(kRanks);
  }

  /// Ends the calls, and lets their scratch be free again before the next ones.
  void finish(Rank ranks) {
    for (Rank rank = 0; rank < ranks; ++rank) {
      for (int round = 0; !places_[rank].event().done() && round < 100'000; ++round) settle();
      if (!places_[rank].event().done()) std::_Exit(3);  // an Event in flight cannot be destroyed
      right_ = places_[rank].event().status().ok() && right_;
      places_[rank].event().~Event();
    }
    for (int round = 0; round < 4; ++round) settle();
  }
  void settle() {
    for (Rank rank = 0; rank < kRanks; ++rank) job_.endpoint(rank).progress();
  }

  Job& job_;
  std::array<std::optional<Team>, kRanks> few_;
  std::array<std::optional<CollPlan>, kRanks> plans_;
  std::array<Number, kRanks> data_{};
  std::array<Place, kRanks> places_{};
  bool right_ = true;
};

}  // namespace

int main() {
  Config config = Config::from_variables({});
  bool set = true;
  for (const auto& [name, value] : {std::pair{"conduit", "loop"},
                                    {"near", "off"},
                                    {"segment_bytes", "64K"},
                                    {"loop_native", "rma"},
                                    {"coll_broadcast", "flat"}}) {
    set = config.set(name, value).ok() && set;
  }
  auto job = Job::in_process(kRanks, config);
  if (!set || !job) return 2;
  bool right = false;
  {
    Calls calls(*job);
    right = calls.run();
    calls.end();
  }
  std::cout << kTurns << "\n";  // how often each counted function was called
  return job->finish().ok() && right ? 0 : 1;
}
