#include "tools/aqperf/calibrate/calibration.hpp"

#include <aqueduct/aqueduct.hpp>

#include "core/endpoint_state.hpp"
#include "core/entry.hpp"
#include "core/mapping.hpp"
#include "kernels/reduce.hpp"
#include "rma/transfers.hpp"
#include "tools/aqperf/calibrate/fit.hpp"
#include "tools/aqperf/calibrate/levels.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

#include <sched.h>

namespace aqueduct::perf {
namespace {

// See fit_costs: each but the last is a line of the model, of which there are NetworkModel::kMostCosts at most.
constexpr std::array<std::size_t, 8> kSizes{8, 1024, 4096, 16384, 32768, 131072, 262144, kCalibratedBytes};
constexpr std::size_t kFewTrials = 5;  // chosen: see usual()
constexpr std::size_t kTrials = 15;
constexpr int kTurns = 50;                    // of round trips; of long puts fewer
constexpr std::size_t kMostTurned = 4 << 20;  // bytes of all turns
constexpr std::size_t kShortStream = 16;      // the two streams whose difference is free of their ends
constexpr std::size_t kLongStream = 80;
constexpr std::size_t kMostStreamed = 64 << 20;  // bytes of a stream
constexpr std::size_t kMostDepth = 256;
constexpr SignalSlot kSlot = 0;

/// The measurements of one rank; rank 0 begins, and the last one answers.
class Measuring {
 public:
  explicit Measuring(Session& session)
      : session_(session), ep_(session.ep()), peer_(session.rank() == 0 ? session.ranks() - 1 : 0) {}

  bool begins() const { return session_.rank() == 0; }
  bool answers() const { return session_.rank() + 1 == session_.ranks(); }

  /// What trials take, as `usual_of` says: of few if these have settled. Only rank 0's value means something.
  template <class Trial>
  double usual(const Trial& trial) {
    std::vector<double> samples;
    // In virtual time all trials are alike.
    const std::size_t most = ep_.state().own_time ? 1 : kTrials;
    while (samples.size() < most) {
      if (samples.size() < kFewTrials)
        require(ep_.barrier(), "barrier");
      else if (session_.share(have_settled(samples)))  // which brings the ranks together too
        break;
      samples.push_back(trial());
    }
    return usual_of(samples);
  }
  /// What it costs to look at the clock. To be called before `alone`.
  void measure_clock() {
    clock_ = usual([&] {
      const double from = now();
      for (int i = 0; i < kTurns; ++i) static_cast<void>(now());
      return (now() - from) / (kTurns + 1);
    });
  }

  /// Of a processor, for each put.
  double overhead(std::size_t bytes) {
    constexpr int kFew = 8;  // so few that no queue is full
    return usual([&] {
      if (!begins()) return 0.0;
      const double from = now();
      for (int i = 0; i < kFew; ++i) post(bytes);
      const double time = now() - from;
      require(ep_.wait_implicit(), "wait_implicit");
      return time / kFew;
    });
  }
  /// From the post of a put with signal to its notice.
  double one_way(std::size_t bytes) {
    return usual([&] {
      const double from = now();
      for (int turn = 0; turn < turns_of(bytes); ++turn) round_trip(bytes, [&] { send(bytes); });
      const double time = (now() - from) / (2 * turns_of(bytes));
      require(ep_.wait_implicit(), "wait_implicit");
      return time;
    });
  }
  /// The same while the peer does likewise: each processor sends one and takes another, as in collective operations.
  double crossing(std::size_t bytes) {
    return usual([&] {
      const double from = now();
      for (int turn = 0; turn < turns_of(bytes) && (begins() || answers()); ++turn) {
        send(bytes);
        hear(bytes);
      }
      const double time = (now() - from) / turns_of(bytes);
      require(ep_.wait_implicit(), "wait_implicit");
      return time;
    });
  }
  /// From the post of a put with signal to its notice between ranks that share a processor, which takes most of that time to go
  /// over from one to the other. Each round trip counts alone: what else runs there takes a time slice of one now and then,
  /// and would make an average many times as long.
  double hop(std::size_t bytes) {
    return usual([&] {
      std::vector<double> hops;
      for (int turn = 0; turn < turns_of(bytes); ++turn) {
        const double from = now();
        round_trip(bytes, [&] { send(bytes); });
        hops.push_back((now() - from) / 2);
      }
      require(ep_.wait_implicit(), "wait_implicit");
      return usual_of(hops);
    });
  }
  /// How long a rank that waits keeps the processor that both share: this one yields many times while its peer waits, and each time
  /// that one looks and yields too.
  double turn() {
    constexpr int kYields = 64;  // chosen: soon over, before a wait sleeps
    return usual([&] {
      if (answers()) {
        require(wait_until(ep_, kSlot, ++heard_, peer_), "wait_until");
        send(8);
        require(ep_.wait_implicit(), "wait_implicit");
        return 0.0;
      }
      if (!begins()) return 0.0;
      std::vector<double> turns;
      for (int i = 0; i < kYields; ++i) {
        const double from = now();
        static_cast<void>(ep_.progress());
        ::sched_yield();
        turns.push_back((now() - from) / 2);
      }
      send(8);
      require(wait_until(ep_, kSlot, ++heard_, peer_), "wait_until");
      require(ep_.wait_implicit(), "wait_implicit");
      return usual_of(turns);
    });
  }
  /// Of a processor, for a put with signal while nothing else is on its way.
  double alone(std::size_t bytes) {
    return usual([&] {
      double posts = 0;
      for (int turn = 0; turn < turns_of(bytes); ++turn) {
        round_trip(bytes, [&] {
          const double from = now();
          send(bytes);
          posts += now() - from;
        });
      }
      require(ep_.wait_implicit(), "wait_implicit");
      return std::max(0.0, posts / turns_of(bytes) - clock_);
    });
  }
  /// Between two puts of a stream.
  double interval(std::size_t bytes) {
    const std::size_t most = std::max<std::size_t>(kMostStreamed / bytes, 12);
    const std::size_t longer = std::min(kLongStream, most);
    const std::size_t shorter = std::min(kShortStream, longer / 4);
    const auto of = [&](std::size_t count) {
      return usual([&] { return begins() ? stream(bytes, count) : 0.0; });
    };
    const double first = of(shorter);
    return std::max(0.0, of(longer) - first) / static_cast<double>(longer - shorter);
  }
  /// How many puts in flight are as fast as any number of them, up to a tenth.
  std::uint32_t depth() {
    constexpr std::size_t kPuts = 1024;
    const auto with = [&](std::size_t window) {
      return usual([&] {
        if (!begins()) return 0.0;
        std::vector<Event> events(window);
        const double from = now();
        for (std::size_t i = 0; i < kPuts; ++i) {
          Event& place = events[i % window];
          require(ep_.wait(place), "wait");
          place = put_nb(ep_, session_.target(peer_), std::span<const std::byte>(session_.buffer().first(8)));
        }
        for (Event& one : events) require(ep_.wait(one), "wait");
        return now() - from;
      });
    };
    const double best = with(kMostDepth);
    for (std::size_t window = 1; window < kMostDepth; window *= 2) {
      const std::size_t enough = session_.share(with(window) <= 1.1 * best ? window : std::size_t{0});
      if (enough != 0) return static_cast<std::uint32_t>(enough);
    }
    return kMostDepth;
  }
  /// The largest put that gives its source back about as soon as the smallest one.
  std::uint64_t inline_limit(double way) {
    std::uint64_t limit = 0;
    for (std::size_t bytes = 8; bytes <= 16384; bytes *= 2) {
      const double call = usual([&] {
        if (!begins()) return 0.0;
        PutOptions options;
        options.source = SourceReuse::at_return;
        const double from = now();
        Event event = put_nb(ep_, session_.target(peer_),
                             std::span<const std::byte>(session_.buffer().first(bytes)), options);
        const double time = now() - from;
        require(ep_.wait(event), "wait");
        return time;
      });
      if (!session_.share(call < way)) break;
      limit = bytes;
    }
    return limit;
  }

 private:
  double now() const {
    return std::chrono::duration<double, std::nano>(ep_.state().clock.now().time_since_epoch()).count();
  }
  void post(std::size_t bytes) {
    require(put_nbi(ep_, session_.target(peer_), std::span<const std::byte>(session_.buffer().first(bytes))),
            "put_nbi");
  }
  /// A put with a signal, as a collective operation sends it: nobody waits for its completion, so a network need not
  /// acknowledge it at once. In a round trip the peer would do that before it answers.
  void send(std::size_t bytes) {
    const GlobalPtr<std::byte> to = session_.target(peer_);
    const Signal signal{kSlot, 1};
    if (core::find_mapped(ep_.state(), to, bytes) != nullptr) {
      require(put_signal_nbi(ep_, to, std::span<const std::byte>(session_.buffer().first(bytes)), signal),
              "put_signal_nbi");
      return;
    }
    const core::Entry entry(ep_.state());
    require(ep_.state()
                .transfers
                ->put(to, session_.buffer().data(), bytes, rma::Transfers::Completion::group, {}, &signal,
                      nullptr, {rma::WordPromise::any, nullptr, nullptr, true})
                .status,
            "a put with a signal");
  }
  static int turns_of(std::size_t bytes) {
    return static_cast<int>(std::clamp<std::size_t>(kMostTurned / bytes, 8, kTurns));
  }
  template <class Send>
  void round_trip(std::size_t bytes, const Send& send_first) {
    if (begins()) send_first();
    if (begins() || answers()) hear(bytes);
    if (answers()) send(bytes);
  }
  /// Waits for the peer's put, and looks at it as its receiver would. Memory that only its writer touches stays in that one's cache,
  /// and to write it again costs much less.
  void hear(std::size_t bytes) {
    require(wait_until(ep_, kSlot, ++heard_, peer_), "wait_until");
    constexpr std::size_t kLine = 64;
    const std::span<std::byte> mine = session_.mine();
    for (std::size_t at = 0; at < bytes; at += kLine)
      static_cast<void>(*const_cast<volatile std::byte*>(&mine[at]));
  }
  double stream(std::size_t bytes, std::size_t count) {
    const double from = now();
    for (std::size_t i = 0; i < count; ++i) post(bytes);
    require(ep_.wait_implicit(), "wait_implicit");
    return now() - from;
  }

  Session& session_;
  Endpoint& ep_;
  Rank peer_;
  std::uint64_t heard_ = 0;
  double clock_ = 0;
};

/// Femtoseconds for a byte, in real time, of what `work` does to so many bytes.
std::uint64_t per_byte(std::size_t bytes, const std::function<void()>& work) {
  using Real = std::chrono::steady_clock;
  double best = 1e30;
  for (std::size_t trial = 0; trial < kTrials; ++trial) {
    const auto from = Real::now();
    work();
    best = std::min(best, std::chrono::duration<double, std::nano>(Real::now() - from).count());
  }
  return static_cast<std::uint64_t>(best * 1e6 / static_cast<double>(bytes));
}

}  // namespace

Calibration to_measure(Session& session) {
  const Rank last = session.ranks() - 1;
  const Rank other = session.rank() == last ? 0 : last;
  Calibration found;
  found.conduit = session.ep().conduit_of(other);
  found.network = session.ep().state().conduit(other).properties().network;
  found.level = level_between(session, 0, last);
  return found;
}

Calibration calibrate(Session& session) {
  Measuring measuring(session);
  Calibration found = to_measure(session);
  const bool on_one = share_processor(session, 0, session.ranks() - 1);
  std::array<MeasuredSize, kSizes.size()> sizes{};
  measuring.measure_clock();
  for (std::size_t i = 0; i < kSizes.size(); ++i) {
    sizes[i].bytes = kSizes[i];
    sizes[i].overhead = measuring.overhead(kSizes[i]);
    sizes[i].alone = measuring.alone(kSizes[i]);
    sizes[i].one_way = measuring.one_way(kSizes[i]);
    sizes[i].crossing = on_one ? measuring.hop(kSizes[i]) : measuring.crossing(kSizes[i]);
    sizes[i].interval = measuring.interval(kSizes[i]);
    sizes[i] = session.share(sizes[i]);
  }
  const double turn = on_one ? session.share(measuring.turn()) : 0;
  std::vector<MeasuredSize> measured(sizes.begin(), sizes.end());
  undisturb(measured);
  NetworkModel& model = found.model;
  model.origin = NetworkModel::Origin::profile;
  model.turn = Picoseconds(std::llround(turn * 1000));
  const std::vector<NetworkCost> costs = fit_costs(measured);
  model.sizes = static_cast<std::uint32_t>(std::min(costs.size(), NetworkModel::kMostCosts));
  std::copy_n(costs.begin(), model.sizes, model.by_size.begin());
  model.peak_bytes = peak_bytes(measured);
  model.rendezvous_limit = rendezvous_limit(measured);
  model.injection_depth = measuring.depth();
  model.inline_limit = measuring.inline_limit(measured.front().one_way);
  // In turns, since the ranks share a processor's caches, and perhaps a processor.
  if (measuring.begins()) {
    constexpr std::size_t kBytes = kCalibratedBytes / 4;
    std::byte* const from = session.buffer().data();
    std::byte* const to = session.mine().data();
    model.copy_femtoseconds_per_byte = per_byte(kBytes, [&] { std::memcpy(to, from, kBytes); });
    std::vector<double> sums(kBytes / sizeof(double), 1.0), terms(sums);
    const auto combine = kernels::combine_of(ElementType::f64, ReduceOp::sum);
    model.reduce_femtoseconds_per_byte = per_byte(kBytes, [&] {
      combine(reinterpret_cast<std::byte*>(sums.data()), reinterpret_cast<const std::byte*>(sums.data()),
              reinterpret_cast<const std::byte*>(terms.data()), sums.size(), nullptr);
    });
  }
  static_assert(sizeof(std::uint64_t[2]) <= 256);
  const auto shared =
      session.share(std::array{model.copy_femtoseconds_per_byte, model.reduce_femtoseconds_per_byte});
  model.copy_femtoseconds_per_byte = shared[0];
  model.reduce_femtoseconds_per_byte = shared[1];
  return found;
}

}  // namespace aqueduct::perf
