// The curves of the source (R-…, docs/simulator.md) that a model of messages can carry, beside what the simulator makes of them.

#include "coll/algorithms/algorithms.hpp"
#include "tools/aqsim/run.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>

namespace aqueduct::aqsim {

using coll::Algorithm;
using coll::Operation;
using coll::Shape;

namespace {

/// A row: what the source says, and what comes out here.
struct Finding {
  const char* id;
  const char* what;
  std::string source;
  std::string ours;
  bool agrees;
  const char* why;  ///< where they differ
};

/// Nishtala's Table 5.1: the Sun cluster. As in his models the gap of a message comes before it, so it adds to the latency.
coll::LogGP sun() {
  return {.latency = 4'000'000, .overhead = 500'000, .gap = 2'000'000, .femtoseconds_per_byte = 1'000'000};
}
/// A machine with less to wait for between messages, as the Cray XT's are: chosen, since the source has no figures.
coll::LogGP cray() {
  return {.latency = 5'000'000, .overhead = 500'000, .gap = 500'000, .femtoseconds_per_byte = 500'000};
}

coll::Machine machine_of(const coll::LogGP& link) {
  coll::Machine machine;
  machine.levels = {{1, link}};
  return machine;
}

struct Setup {
  Rank ranks = 256;
  std::uint64_t bytes = 8;
  coll::LogGP link = sun();
  coll::Sync sync = coll::Sync::none;
  std::uint32_t times = 1;
  bool in_flight = false;
};

/// Microseconds of one operation; of several, their average.
double time_of(const Algorithm& algorithm, std::uint32_t parameter, const Setup& setup) {
  Shape shape;
  shape.operation = algorithm.operation;
  shape.in = shape.out = setup.sync;
  shape.addresses = coll::Addresses::single;
  shape.ranks = setup.ranks;
  shape.bytes = shape.pitch = setup.bytes;
  for (std::size_t i = 0; i < algorithm.parameters.size(); ++i)
    shape.parameters[i] = algorithm.parameters[i].name == "segments" ? 1 : algorithm.parameters[i].usual;
  if (parameter != 0) shape.parameters[0] = parameter;
  sim::Network network;
  network.machine = machine_of(setup.link);
  sim::Job job;
  job.algorithm = &algorithm;
  job.shape = shape;
  job.times = setup.times;
  job.in_flight = setup.in_flight;
  return static_cast<double>(sim::simulate(job, network).replayed.time) / 1e6 / setup.times;
}

constexpr std::array<std::uint32_t, 4> kRadices{2, 4, 8, 16};

struct Best {
  std::uint32_t radix = 0;
  double us = 0;
};
Best best_radix(const Algorithm& algorithm, const Setup& setup) {
  Best best;
  for (const std::uint32_t radix : kRadices) {
    const double us = time_of(algorithm, radix, setup);
    if (best.radix == 0 || us < best.us) best = {radix, us};
  }
  return best;
}

std::string percent(double ratio) { return fmt::format("{:.0f} %", (ratio - 1) * 100); }

// which radix.
Finding k_ary() {
  const Best best = best_radix(coll::kBroadcastKAry, {});
  const double eight = time_of(coll::kBroadcastKAry, 8, {});
  return {"R-05",
          "broadcast of 8 B, 256 nodes: best k-ary tree",
          "8-ary (Sun), 4-ary (XT4)",
          fmt::format("{}-ary; 8-ary is {} behind", best.radix, percent(eight / best.us)),
          best.radix == 4,
          "Table 5.1 has g = 2 us, so eight children cost more than a level less saves. The model of the "
          "source says 4-ary too (R-21)"};
}
Finding k_nomial() {
  const Best small = best_radix(coll::kBroadcastKNomial, {});
  const Best large = best_radix(coll::kBroadcastKNomial, {.bytes = 8192});
  return {"R-06",
          "broadcast, 256 nodes: best k-nomial tree, 8 B and 8 KiB",
          "4-nomial small, binomial large",
          fmt::format("{}-nomial, {}-nomial", small.radix, large.radix),
          small.radix == 4 && large.radix == 2,
          ""};
}
Finding nomial_against_ary() {
  double most = 0;
  double of_sun = 0;
  for (std::uint64_t bytes = 8; bytes <= 2048; bytes *= 2) {
    const Setup on_cray{.ranks = 1024, .bytes = bytes, .link = cray()};
    most = std::max(
        most, best_radix(coll::kBroadcastKAry, on_cray).us / best_radix(coll::kBroadcastKNomial, on_cray).us);
    of_sun = std::max(of_sun, best_radix(coll::kBroadcastKAry, {.bytes = bytes}).us /
                                  best_radix(coll::kBroadcastKNomial, {.bytes = bytes}).us);
  }
  return {"R-07",
          "broadcast of 8 B to 2 KiB: the best k-nomial tree before the best k-ary",
          "up to 22 % (XT); none on Sun",
          fmt::format("up to {} (g = o), up to {} (g = 4 o)", percent(most), percent(of_sun)),
          most < 1.22 && of_sun > 1.22,
          "The gain grows with g / o. The source has no figures of the XT; 22 % lie between the two. On Sun "
          "other "
          "traffic, which the model does not have, may even the trees out"};
}
Finding broadcasts_in_flight() {
  const Algorithm& tree = coll::kBroadcastKAry;
  const Setup one{.ranks = 256, .sync = coll::Sync::all, .times = 32};
  Setup all = one;
  all.in_flight = true;
  const double ratio = time_of(tree, 2, one) / time_of(tree, 2, all);
  return {"R-11",        "32 broadcasts of 8 B in flight against one after the other",
          "much faster", fmt::format("{:.1f} times as many in a time", ratio),
          ratio > 1.5,   ""};
}
Finding exchange_radix() {
  // 64 nodes of 4 threads: a message carries 16 blocks.
  const auto bruck = [](std::uint32_t radix, std::uint64_t bytes) {
    return time_of(coll::kAllToAllBruck, radix, {.ranks = 64, .bytes = bytes * 16});
  };
  const double gain = bruck(2, 128) / bruck(8, 128);
  return {"R-24",
          "exchange of 128 B, 256 cores: radix 8 against radix 2",
          "35 % less time",
          fmt::format("{:.0f} % less", (1 - 1 / gain) * 100),
          1 - 1 / gain > 0.25 && 1 - 1 / gain < 0.5,
          ""};
}
Finding exchange_crossover() {
  std::uint64_t flat_from = 0;
  std::uint64_t eight_from = 0;
  for (std::uint64_t bytes = 4; bytes <= 65536; bytes *= 2) {
    const Setup setup{.ranks = 64, .bytes = bytes * 16};
    double best = time_of(coll::kAllToAllDirect, 0, setup);
    const double flat = best;
    std::uint32_t radix = 0;
    for (const std::uint32_t k : kRadices) {
      const double us = time_of(coll::kAllToAllBruck, k, setup);
      if (us < best) {
        best = us;
        radix = k;
      }
    }
    if (radix >= 8 && eight_from == 0) eight_from = bytes;
    if (flat <= best && flat_from == 0) flat_from = bytes;
  }
  return {"R-24",
          "exchange, 256 cores: from which size radix 8 and flat are best",
          "radix 8 from 32 B, flat from about 512 B",
          fmt::format("radix 8 or more from {} B, flat from {} B", eight_from, flat_from),
          flat_from >= 64 && flat_from <= 1024,
          "Flat sends 63 messages at g = 2 us, 126 us, whatever their size; the bytes that radix 8 sends "
          "twice take as long "
          "from this size on"};
}
Finding exchanges_in_flight() {
  const Setup one{.ranks = 64, .bytes = 512, .sync = coll::Sync::mine, .times = 8};
  Setup all = one;
  all.in_flight = true;
  const double ratio = time_of(coll::kAllToAllBruck, 8, one) / time_of(coll::kAllToAllBruck, 8, all);
  return {"R-28",        "exchanges in flight against one after the other",
          "little gain", fmt::format("{:.2f} times as many in a time", ratio),
          ratio < 1.35,  ""};
}
Finding gather_to_all() {
  bool always = true;
  std::uint64_t wins = 0;
  for (std::uint64_t bytes = 8; bytes <= 16384; bytes *= 2) {
    const Setup setup{.ranks = 256, .bytes = bytes * 4};
    const bool faster =
        time_of(coll::kAllGatherCirculant, 0, setup) < time_of(coll::kAllGatherDirect, 0, setup);
    always = always && faster;
    if (faster) wins = bytes;
  }
  return {"R-29",
          "gather-to-all of 8 B to 16 KiB: dissemination against flat",
          "dissemination always",
          always ? std::string("dissemination always") : fmt::format("dissemination up to {} B", wins),
          always,
          ""};
}
Finding gathers_in_flight() {
  std::array<double, 2> gains{};
  const std::array<std::uint64_t, 2> sizes{32, 16384};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const Setup one{.ranks = 64, .bytes = sizes[i] * 4, .sync = coll::Sync::mine, .times = 8};
    Setup all = one;
    all.in_flight = true;
    gains[i] = 1 - time_of(coll::kAllGatherCirculant, 0, all) / time_of(coll::kAllGatherCirculant, 0, one);
  }
  return {"R-31",
          "gather-to-all in flight, 32 B and 16 KiB: less time",
          "48 %, 13 %",
          fmt::format("{:.0f} %, {:.0f} %", gains[0] * 100, gains[1] * 100),
          gains[0] > gains[1] && gains[0] > 0.2,
          "Eight in flight here; ports without a limit to the messages that wait"};
}

struct Guided {
  double alone = 0;        ///< what the model chooses, against the best
  std::size_t needed = 0;  ///< how many of its first must be tried for the best
  std::size_t all = 0;
  double spent = 0;  ///< the time of these trials, of that of all
};
/// A search that tries candidates in the order of a model: the closed forms, on the replay's times.
Guided guided(const std::vector<std::pair<double, double>>& modelled_and_real) {
  auto order = modelled_and_real;
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  Guided out;
  out.all = order.size();
  double best = order.front().second;
  double total = 0;
  for (const auto& [model, real] : order) {
    best = std::min(best, real);
    total += real;
  }
  out.alone = order.front().second / best;
  double spent = 0;
  for (const auto& [model, real] : order) {
    spent += real;
    ++out.needed;
    if (real == best) break;
  }
  out.spent = spent / total;
  return out;
}
Finding guided_broadcast() {
  std::vector<std::pair<double, double>> candidates;
  const Setup setup{.ranks = 256, .bytes = 8};
  for (std::uint32_t k : {2U, 3U, 4U, 6U, 8U, 12U, 16U, 24U, 32U, 48U, 64U}) {
    std::uint32_t levels = 0;
    for (std::uint64_t reach = 1; reach < setup.ranks; reach *= k) ++levels;
    const double model =
        levels * (2.0 + 0.5 + k * 2.0 + k * 1e-3 * static_cast<double>(setup.bytes));  // F-03
    candidates.emplace_back(model, time_of(coll::kBroadcastKAry, k, setup));
    candidates.emplace_back(model, time_of(coll::kBroadcastKNomial, k, setup));
  }
  const Guided out = guided(candidates);
  return {"R-43",
          "broadcast of 8 B, search guided by the closed form: its first, trials for the best, time",
          "1.28 x, 40 % of all, 25 % of the time",
          fmt::format("{:.2f} x, {} of {}, {:.0f} % of the time", out.alone, out.needed, out.all,
                      out.spent * 100),
          out.alone < 1.43 && out.spent < 0.3,
          ""};
}
Finding guided_exchange() {
  std::vector<std::pair<double, double>> candidates;
  const Setup setup{.ranks = 256, .bytes = 8 * 16};
  for (std::uint32_t k : {2U, 4U, 8U, 16U, 32U, 64U, 256U}) {
    double model = 0;
    for (std::uint64_t reach = 1; reach < setup.ranks; reach *= k) {
      const double peers = std::min<double>(k, std::ceil(256.0 / static_cast<double>(reach))) - 1;
      model += 2.0 + peers * (0.5 + 2.0 + 1e-3 * 8 * 256 * 16 / k);  // F-05
    }
    candidates.emplace_back(
        model, k == 256 ? time_of(coll::kAllToAllDirect, 0, setup) : time_of(coll::kAllToAllBruck, k, setup));
  }
  const Guided out = guided(candidates);
  return {"R-45",
          "exchange of 8 B, search guided by the closed form: its first, trials for the best, time",
          "1.25 x, 3 trials",
          fmt::format("{:.2f} x, {} of {}, {:.0f} % of the time", out.alone, out.needed, out.all,
                      out.spent * 100),
          out.needed <= 3,
          ""};
}
Finding teams() {
  // 16 x 16 ranks, 16 on a node with one card: when all columns broadcast, a card sends for 16.
  coll::LogGP shared = sun();
  shared.gap *= 16;
  shared.femtoseconds_per_byte *= 16;
  const Setup column{
      .ranks = 16, .bytes = 8, .link = shared, .sync = coll::Sync::none, .times = 16, .in_flight = true};
  const double two = time_of(coll::kBroadcastKAry, 2, column);
  const double four = time_of(coll::kBroadcastKNomial, 4, column);
  const double eight = time_of(coll::kBroadcastKAry, 8, column);
  return {"R-46",
          "16 columns of 16 broadcast 8 B over shared cards: 4-nomial and 8-ary against 2-ary",
          "2.42 x, 4.34 x",
          fmt::format("{:.2f} x, {:.2f} x", four / two, eight / two),
          four / two > 1.5 && eight / two > four / two * 0.99,
          "Cards alone limit it here, so the factors are the ratios of children: 6, 8 and 2 at the root"};
}

// Guidelines: what must hold whatever the network. Rows of their own.

double fastest(Operation operation, const Setup& setup) {
  double best = 0;
  for (const Algorithm* const algorithm : coll::all_algorithms()) {
    if (algorithm->operation != operation) continue;
    Shape shape;
    shape.operation = operation;
    shape.in = shape.out = setup.sync;
    shape.addresses = coll::Addresses::single;
    shape.ranks = setup.ranks;
    shape.bytes = shape.pitch = setup.bytes;
    for (std::size_t i = 0; i < algorithm->parameters.size(); ++i)
      shape.parameters[i] = algorithm->parameters[i].usual;
    if (coll::Schedule::refusal(*algorithm, shape) != nullptr) continue;
    const double us = time_of(*algorithm, 0, setup);
    if (best == 0 || us < best) best = us;
  }
  return best;
}
Finding guideline_sum() {
  double worst = 0;
  for (const Rank ranks : {5U, 16U, 64U, 100U}) {
    for (std::uint64_t bytes = 8; bytes <= 65536; bytes *= 16) {
      const Setup setup{.ranks = ranks, .bytes = bytes, .sync = coll::Sync::mine};
      worst = std::max(worst, fastest(Operation::all_reduce, setup) /
                                  (fastest(Operation::reduce, setup) + fastest(Operation::broadcast, setup)));
    }
  }
  return {"guideline", "T(all-reduce) / (T(reduce) + T(broadcast)), worst",
          "<= 1",      fmt::format("{:.2f}", worst),
          worst <= 1,  ""};
}
Finding guideline_step() {
  double worst = 0;
  for (const Operation operation :
       {Operation::barrier, Operation::broadcast, Operation::all_gather, Operation::all_reduce}) {
    for (const Rank ranks : {4U, 7U, 8U, 16U, 31U, 32U, 64U}) {
      const Setup setup{.ranks = ranks, .bytes = operation == Operation::barrier ? 0U : 64U};
      Setup more = setup;
      ++more.ranks;
      // Nobody can do with fewer rounds.
      const double rounds = coll::rounds_of(more.ranks, 2) / static_cast<double>(coll::rounds_of(ranks, 2));
      worst = std::max(worst, fastest(operation, more) / fastest(operation, setup) / std::max(1.3, rounds));
    }
  }
  return {"guideline", "T(P + 1) / T(P), as a share of 1.3 or of the ratio of ceil(log2 P), worst",
          "<= 1",      fmt::format("{:.2f}", worst),
          worst <= 1,  ""};
}
Finding guideline_bytes() {
  std::size_t falls = 0;
  std::size_t all = 0;
  for (const Algorithm* const algorithm : coll::all_algorithms()) {
    if (algorithm->operation == Operation::barrier || algorithm->operation > Operation::exscan) continue;
    double before = 0;
    for (std::uint64_t bytes = 64; bytes <= 65536; bytes *= 2) {
      const double us = time_of(*algorithm, 0, {.ranks = 16, .bytes = bytes});
      ++all;
      falls += us < before ? 1 : 0;
      before = us;
    }
  }
  return {"guideline", "every algorithm, 64 B to 64 KiB: sizes that take less time than a smaller one",
          "0",         fmt::format("{} of {}", falls, all),
          falls == 0,  ""};
}

}  // namespace

int study(bool json) {
  const std::array<Finding (*)(), 15> all{k_ary,
                                          k_nomial,
                                          nomial_against_ary,
                                          broadcasts_in_flight,
                                          exchange_radix,
                                          exchange_crossover,
                                          exchanges_in_flight,
                                          gather_to_all,
                                          gathers_in_flight,
                                          guided_broadcast,
                                          guided_exchange,
                                          teams,
                                          guideline_sum,
                                          guideline_step,
                                          guideline_bytes};
  bool right = true;
  for (const auto& look : all) {
    const Finding found = look();
    right = right && (found.agrees || *found.why != '\0');
    if (json) {
      fmt::print("{}\n", nlohmann::json{{"id", found.id},
                                        {"what", found.what},
                                        {"source", found.source},
                                        {"ours", found.ours},
                                        {"agrees", found.agrees},
                                        {"why", found.why}}
                             .dump());
      continue;
    }
    fmt::print("{:<10} {}\n{:10} source: {}\n{:10} ours:   {}   {}\n", found.id, found.what, "", found.source,
               "", found.ours, found.agrees ? "agrees" : "DIFFERS");
    if (*found.why != '\0') fmt::print("{:10} {}\n", "", found.why);
  }
  return right ? 0 : 1;
}

}  // namespace aqueduct::aqsim
