#pragma once

#include "bench/peers/layer.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <sys/resource.h>

namespace peers {

/// The order for one loop. All ranks of a job get the same one, at the same time.
struct Work {
  std::string loop;
  std::size_t bytes = 0;    ///< per operation
  std::size_t piece = 0;    ///< of spaced transfers
  std::size_t batch = 1;    ///< operations between two readings of the clock
  std::size_t samples = 1;  ///< batches
  bool verify = false;      ///< check the received bytes afterwards
};

/// The result of a loop. Units: nanoseconds.
struct Answer {
  std::vector<double> samples;  ///< an active rank's: time per operation, for each sample
  double processor = 0;         ///< user and system time of this rank for the whole loop
};

/// Every loop, over any layer. Ranks 2i and 2i + 1 are a pair: the even one is active, the odd
/// one is its peer. Barriers are of all ranks.
template <Layer L>
class Loops {
 public:
  explicit Loops(L& layer)
      : layer_(layer),
        memory_(static_cast<std::byte*>(std::aligned_alloc(kPage, kPage + kSegmentBytes))),
        here_(memory_.get() + reinterpret_cast<std::uintptr_t>(layer.segment()) % kPage),
        peer_(layer.rank() ^ 1),
        active_(layer.rank() % 2 == 0) {}

  /// Collective. Ends the program if the loop is unknown or a byte is wrong.
  Answer run(const Work& work) {
    const bool memory = work.verify && moves_memory(work.loop);
    if (work.verify) prepare();
    // Two barriers: after the second, the first has no unsent acknowledgements.
    layer_.barrier();
    layer_.barrier();
    const double began = processor_time();
    Answer answer;
    answer.samples = choose(work);
    layer_.barrier();
    answer.processor = processor_time() - began;
    if (memory) look(work);
    if (work.verify) layer_.barrier();
    return answer;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kPage = 4096;
  static constexpr std::size_t kUntimed =
      2;  ///< batches before the first sample: warm the caches and wake the core

  std::vector<double> choose(const Work& work) {
    const std::string_view loop = work.loop;
    const std::size_t bytes = work.bytes;
    const std::byte* from = here_;
    std::byte* to = here_;
    if (loop == "barrier") return samples(work, [&] { layer_.barrier(); });
    if (is_collective(loop)) return collective(work);
    if (loop == "idle") return idle(work);
    if (loop == "put") return transfers(work, [=, this] { layer_.put(peer_, from, bytes); });
    if (loop == "get") return transfers(work, [=, this] { layer_.get(peer_, to, bytes); });
    if (loop == "put-window") {
      return windows(
          work, [=, this] { layer_.put_begin(peer_, from, bytes); }, [this] { layer_.transfers_end(); });
    }
    if (loop == "get-window") {
      return windows(
          work, [=, this] { layer_.get_begin(peer_, to, bytes); }, [this] { layer_.transfers_end(); });
    }
    if (loop == "fetch-add") return atomics(work, [this] { layer_.fetch_add(peer_, 1); });
    if (loop == "compare-swap") {
      return atomics(work, [this] {
        if (layer_.compare_swap(peer_, swapped_, swapped_ + 1) != swapped_)
          fail("a compare-swap met a wrong value");
        ++swapped_;
      });
    }
    if (loop == "add-window") {
      return atomics(
          work,
          [this] {
            for (std::size_t i = 0; i < kWindow; ++i) layer_.add_begin(peer_, 1);
            layer_.atomics_end();
          },
          kWindow);
    }
    if (loop == "fetch-add-window") {
      return atomics(
          work,
          [this] {
            for (std::size_t i = 0; i < kWindow; ++i) layer_.fetch_add_begin(peer_, 1, &results_[i]);
            layer_.atomics_end();
          },
          kWindow);
    }
    if (loop == "am-short") return round_trips(work, Message::no_payload);
    if (loop == "am-medium") return round_trips(work, Message::buffered);
    if (loop == "am-long") return round_trips(work, Message::into_segment);
    if (loop == "flood-short") return floods(work, Message::no_payload);
    if (loop == "flood-medium") return floods(work, Message::buffered);
    if (loop == "flood-long") return floods(work, Message::into_segment);
    for (const bool both : {false, true}) {
      const std::string sides = both ? "both" : "one";
      const Spacing spacing = work.piece == 0 ? Spacing{} : Spacing::of(work.piece, bytes);
      if (loop == "put-spaced-" + sides) {
        return transfers(work, [=, this] { layer_.put_spaced(peer_, from, spacing, both); });
      }
      if (loop == "get-spaced-" + sides) {
        return transfers(work, [=, this] { layer_.get_spaced(peer_, to, spacing, both); });
      }
    }
    fail("there is no loop '" + work.loop + "'");
  }

  // Not inline: the loop's own variables shall be in registers. On the stack they may lie where the copies' bytes do in
  // their page, and each turn then waits for the stores of the one before.
  template <class Once>
  [[gnu::noinline]] std::vector<double> samples(const Work& work, Once once, double operations = 1) {
    std::vector<double> found;
    found.reserve(work.samples);
    for (std::size_t i = 0; i < work.samples + kUntimed; ++i) {
      const auto began = Clock::now();
      for (std::size_t j = 0; j < work.batch; ++j) once();
      const std::chrono::duration<double, std::nano> took = Clock::now() - began;
      if (i >= kUntimed) found.push_back(took.count() / static_cast<double>(work.batch) / operations);
    }
    return found;
  }
  static std::size_t times(const Work& work) { return (work.samples + kUntimed) * work.batch; }

  template <class Once>
  std::vector<double> transfers(const Work& work, Once once, double operations = 1) {
    std::vector<double> found;
    if (active_) {
      found = samples(work, once, operations);
      layer_.release(peer_);
    } else {
      layer_.serve_transfers(peer_);
    }
    return found;
  }
  template <class Begin, class End>
  std::vector<double> windows(const Work& work, Begin begin, End end) {
    // A larger window would only exceed the caches.
    const std::size_t window = std::clamp<std::size_t>((std::size_t{4} << 20) / work.bytes, 4, kWindow);
    return transfers(
        work,
        [=] {
          for (std::size_t i = 0; i < window; ++i) begin();
          end();
        },
        static_cast<double>(window));
  }
  template <class Once>
  std::vector<double> atomics(const Work& work, Once once, std::size_t operations = 1) {
    swapped_ = 0;
    set_word(0);
    layer_.barrier();
    auto found = transfers(work, once, static_cast<double>(operations));
    layer_.barrier();
    if (!active_ && get_word() != times(work) * operations) fail(work.loop + ": operations were lost");
    return found;
  }
  std::vector<double> round_trips(const Work& work, Message kind) {
    if (!active_) {
      layer_.serve_round_trips(peer_, kind, work.bytes, times(work));
      return {};
    }
    return samples(work, [=, this] { layer_.round_trip(peer_, kind, here_, work.bytes); });
  }
  std::vector<double> floods(const Work& work, Message kind) {
    if (!active_) {
      layer_.serve_floods(peer_, kind, work.bytes, times(work));
      return {};
    }
    return samples(
        work, [=, this] { layer_.flood(peer_, kind, here_, work.bytes); }, kWindow);
  }
  static bool is_collective(std::string_view loop) {
    constexpr std::array<std::string_view, 9> kAll{"broadcast",  "scatter",        "gather",
                                                   "all-gather", "all-to-all",     "reduce",
                                                   "all-reduce", "reduce-scatter", "scan"};
    return std::find(kAll.begin(), kAll.end(), loop) != kAll.end();
  }
  static bool adds(std::string_view loop) { return loop.find("reduce") != loop.npos || loop == "scan"; }

  /// Every rank's clock counts. Rank 0 is the root, output is the segment; the broadcast's data is too. `bytes` are those of a
  /// block: what a rank sends to, or gets from, another one.
  std::vector<double> collective(const Work& work) {
    const std::size_t bytes = work.bytes;
    const auto ranks = static_cast<std::size_t>(layer_.ranks());
    const bool blocks = work.loop.find("to-all") != work.loop.npos ||
                        work.loop.find("gather") != work.loop.npos ||
                        work.loop.find("scatter") != work.loop.npos;
    if (bytes * (blocks ? ranks : 1) > kWordOffset)
      fail(work.loop + ": the segment has no room for these bytes");
    std::byte* const to = layer_.segment();
    const auto once = [&] { call(work.loop, to, bytes); };
    if (work.verify) look_at_collective(work, once);
    return samples(work, once);
  }
  void call(std::string_view loop, std::byte* to, std::size_t bytes) {
    if (loop == "broadcast") return layer_.broadcast(0, to, bytes);
    if (loop == "reduce") return layer_.reduce(0, here_, to, bytes);
    if (loop == "all-reduce") return layer_.all_reduce(here_, to, bytes);
    if (loop == "all-gather") return layer_.all_gather(here_, to, bytes);
    if constexpr (HasAllCollectives<L>) {
      if (loop == "scatter") return layer_.scatter(0, here_, to, bytes);
      if (loop == "gather") return layer_.gather(0, here_, to, bytes);
      if (loop == "all-to-all") return layer_.all_to_all(here_, to, bytes);
      if (loop == "reduce-scatter") return layer_.reduce_scatter(here_, to, bytes);
      if (loop == "scan") return layer_.scan(here_, to, bytes);
    }
    fail("this library has no " + std::string(loop));
  }

  /// One call, whose result is compared byte by byte, or word by word.
  template <class Once>
  void look_at_collective(const Work& work, Once once) {
    std::byte* const to = layer_.segment();
    const auto ranks = static_cast<std::size_t>(layer_.ranks());
    const auto mine = static_cast<std::size_t>(layer_.rank());
    const std::size_t room = std::min(kWordOffset, work.bytes * ranks);
    for (std::size_t i = 0; i < room; ++i) {
      here_[i] = pattern(layer_.rank(), i);
      to[i] = work.loop == "broadcast" ? here_[i] : std::byte{0};
    }
    layer_.barrier();
    once();
    layer_.segment();
    const bool rooted = work.loop == "gather" || work.loop == "reduce";
    if (!rooted || mine == 0) {
      if (adds(work.loop)) {
        look_at_sums(work, mine, ranks);
      } else {
        look_at_blocks(work, mine, ranks);
      }
    }
    layer_.barrier();
  }
  /// Block k of the output is block `mine` of rank k's input for all-to-all, its only block for gathers.
  void look_at_blocks(const Work& work, std::size_t mine, std::size_t ranks) {
    const bool gathers = work.loop.ends_with("gather");
    const bool exchanges = work.loop == "all-to-all";
    const std::size_t block = exchanges || work.loop == "scatter" ? mine : 0;
    for (std::size_t from = 0; from < (gathers || exchanges ? ranks : 1); ++from) {
      for (std::size_t i = 0; i < work.bytes; ++i) {
        const std::size_t at = from * work.bytes + i;
        if (layer_.segment()[at] != pattern(static_cast<int>(from), block * work.bytes + i))
          fail(work.loop + ": byte " + std::to_string(at) + " is wrong");
      }
    }
  }
  void look_at_sums(const Work& work, std::size_t mine, std::size_t ranks) {
    const std::size_t offset = work.loop == "reduce-scatter" ? mine * work.bytes : 0;
    const std::size_t last = work.loop == "scan" ? mine : ranks - 1;
    for (std::size_t i = 0; i + sizeof(std::uint64_t) <= work.bytes; i += sizeof(std::uint64_t)) {
      std::uint64_t sum = 0;
      for (std::size_t rank = 0; rank <= last; ++rank)
        sum += pattern_word(static_cast<int>(rank), offset + i);
      std::uint64_t found = 0;
      std::memcpy(&found, layer_.segment() + i, sizeof found);
      if (found != sum) fail(work.loop + ": the word at byte " + std::to_string(i) + " is wrong");
    }
  }
  /// Rank 0 sleeps for `bytes` milliseconds before it enters a barrier; the figure is the
  /// processor time that the others use meanwhile.
  std::vector<double> idle(const Work& work) {
    const auto began = Clock::now();
    if (layer_.rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(work.bytes));
    layer_.barrier();
    return {std::chrono::duration<double, std::nano>(Clock::now() - began).count()};
  }

  static double processor_time() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto ns = [](const timeval& t) {
      return 1e9 * static_cast<double>(t.tv_sec) + 1e3 * static_cast<double>(t.tv_usec);
    };
    return ns(used.ru_utime) + ns(used.ru_stime);
  }

  void set_word(std::uint64_t value) { std::memcpy(layer_.segment() + kWordOffset, &value, sizeof value); }
  std::uint64_t get_word() {
    std::uint64_t value = 0;
    std::memcpy(&value, layer_.segment() + kWordOffset, sizeof value);
    return value;
  }

  // Every byte of the pattern depends on its writer and its position.

  static std::byte pattern(int writer, std::size_t i) {
    return static_cast<std::byte>(i * 131 + (i >> 8) * 17 + static_cast<std::size_t>(writer) * 29 + 1);
  }
  static std::uint64_t pattern_word(int writer, std::size_t i) {
    std::array<std::byte, sizeof(std::uint64_t)> bytes{};
    for (std::size_t k = 0; k < bytes.size(); ++k) bytes[k] = pattern(writer, i + k);
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    return word;
  }
  static bool moves_memory(std::string_view loop) {
    return loop.starts_with("put") || loop.starts_with("get") || loop.ends_with("-long");
  }
  void prepare() {
    const bool source = active_;
    for (std::size_t i = 0; i < kWordOffset; ++i) {
      here_[i] = source ? pattern(layer_.rank(), i) : std::byte{0};
    }
    std::byte* segment = layer_.segment();
    for (std::size_t i = 0; i < kWordOffset; ++i) segment[i] = pattern(layer_.rank(), i);
  }
  /// Compares what was received: after a get at the active rank, after anything else at the peer.
  void look(const Work& work) {
    const bool got = work.loop.starts_with("get");
    if (active_ != got) return;
    const Spacing spaced = work.piece == 0 ? Spacing{work.bytes, 1, 0} : Spacing::of(work.piece, work.bytes);
    const bool both = work.loop.ends_with("-both");
    const std::byte* to = got ? here_ : layer_.segment();
    const auto place = [&](std::size_t i) { return i / spaced.piece * spaced.stride + i % spaced.piece; };
    for (std::size_t i = 0; i < spaced.piece * spaced.count; ++i) {
      const std::size_t there = got ? (both ? place(i) : i) : place(i);
      const std::size_t source = got ? place(i) : (both ? place(i) : i);
      if (to[there] != pattern(peer_, source)) {
        fail(work.loop + " of " + std::to_string(work.bytes) + " bytes: byte " + std::to_string(i) +
             " is wrong");
      }
    }
  }

  L& layer_;
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::byte, Free> memory_;
  /// The local side of all transfers. It has the same offset within its page as the segment has, because
  /// a copy whose target is a few bytes further in its page than its source takes up to ten times as
  /// long: the processor compares only the last twelve bits of a load's address with those of pending
  /// stores. No library should get that by chance.
  std::byte* here_;
  int peer_;
  bool active_;
  std::uint64_t swapped_ = 0;
  std::array<std::uint64_t, kWindow> results_{};
};

}  // namespace peers
