#include "tools/aqtune/study.hpp"

#include "coll/tune/bandit.hpp"
#include "coll/tune/operation_word.hpp"
#include "coll/tune/ranking.hpp"
#include "coll/tune/search.hpp"
#include "coll/tune/table.hpp"
#include "sim/network.hpp"
#include "sim/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <span>
#include <string_view>

namespace aqueduct::aqtune {

namespace {

/// Beyond so many ranks, candidates that the model finds slower by this factor than its best are not tried: shared links do
/// not make up for that, and simulating them would take most of the time.
constexpr Rank kAllUpTo = 64;
constexpr std::uint64_t kHopelessFactor = 4;
/// Beyond so many ranks only algorithms of O(log P) steps are tried: others have a message for each pair of ranks, or one member
/// that sends P of them.
constexpr Rank kAnyStepsUpTo = 256;
constexpr std::uint64_t kStepsOfRound = 8;
/// Then blocks of operations that have one for each member are so short that all members together receive no more than these bytes.
constexpr double kMostBytesOfAll = 16.0 * (1 << 30);

constexpr std::array<std::string_view, 3> kTopologies{"fat-tree", "torus", "dragonfly"};

using Random = std::mt19937_64;

/// By chance between two numbers, on a logarithmic scale.
double between(Random& random, double least, double most) {
  std::uniform_real_distribution<double> part(0, 1);
  return least * std::pow(most / least, part(random));
}

std::uint32_t below(Random& random, std::uint32_t most) {
  return std::uniform_int_distribution<std::uint32_t>(0, most - 1)(random);
}

/// From slow Ethernet to fast adapters.
std::string random_machine(Random& random, std::string_view topology) {
  const double latency = between(random, 0.3, 30);
  const double per_byte = between(random, 0.02, 2);
  return fmt::format(
      R"({{"version": 1, "levels": [{{"latency_us": {:.4f}, "overhead_us": {:.4f}, "gap_us": {:.4f}, "ns_per_byte": {:.4f}}}],
          "reduce_ns_per_byte": {:.4f}, "topology": {{"kind": "{}"}}, "host_link": {{"hop_us": {:.4f}, "ns_per_byte": {:.4f}}},
          "link": {{"hop_us": {:.4f}, "ns_per_byte": {:.4f}}}, "packet": 16384}})",
      latency, between(random, 0.05, 3), between(random, 0.02, 3), per_byte, between(random, 0.02, 0.5),
      topology, latency / 20, per_byte, latency / 10, per_byte);
}

/// What a calibration between rank 0 and the last rank would find on an idle network.
NetworkModel calibrated(const sim::Network& network, Rank ranks) {
  const coll::LogGP& link = network.machine.levels.back().link;
  sim::SharedLinks links(*network.topology, network.places, network.of_hosts, network.of_switches, 1);
  links.begin();
  const auto time = [](coll::Picoseconds ps) { return Picoseconds(static_cast<std::int64_t>(ps)); };
  NetworkModel model;
  model.origin = NetworkModel::Origin::profile;
  model.by_size[0] = {0, time(links.arrival(0, 0, ranks - 1, 0, link)), time(link.overhead), time(link.gap),
                      link.femtoseconds_per_byte};
  model.copy_femtoseconds_per_byte = network.machine.copy_femtoseconds_per_byte;
  model.reduce_femtoseconds_per_byte = network.machine.reduce_femtoseconds_per_byte;
  return model;
}

/// So much scratch that nothing is cut into pieces.
coll::ScratchLayout ample(Rank ranks) {
  return coll::ScratchLayout({.banks = 2, .counters = 65535, .bytes = std::uint64_t{1} << 50}, ranks);
}

bool has_block_for_each(Collective operation) noexcept {
  switch (operation) {
    case Collective::scatter:
    case Collective::gather:
    case Collective::all_gather:
    case Collective::all_to_all:
    case Collective::reduce_scatter: return true;
    default: return false;
  }
}

coll::Shape random_shape(Random& random, Rank ranks) {
  coll::Shape shape;
  shape.operation = static_cast<Collective>(1 + below(random, 10));
  shape.ranks = ranks;
  // A block of an all-to-all for each member: shorter ones, as programs have them.
  const bool many = shape.operation == Collective::all_to_all;
  shape.element = 8;
  double most = many ? 512 : 131'072;
  if (ranks > kAnyStepsUpTo && has_block_for_each(shape.operation))
    most = std::min(most, kMostBytesOfAll / 8 / ranks / ranks);
  shape.bytes = static_cast<std::uint64_t>(between(random, 1, most)) * 8;
  shape.pitch = shape.bytes;
  return shape;
}

/// Whether no member has more than some steps for each doubling of the team.
bool has_few_steps(const coll::Algorithm& algorithm, const coll::Shape& shape) {
  const std::uint64_t most = kStepsOfRound * static_cast<std::uint64_t>(std::bit_width(shape.ranks - 1));
  for (const Rank member : {Rank{0}, Rank{1}, shape.ranks / 2, shape.ranks - 1}) {
    std::uint64_t steps = 0;
    for (std::uint32_t lane = 0; lane < algorithm.lanes(shape, member); ++lane)
      steps += algorithm.length(shape, member, lane);
    if (steps > most) return false;
  }
  return true;
}

StudiedKey study_one(const sim::Network& network, const coll::TuningTable& table, const coll::Shape& shape) {
  const coll::TeamTraits team{.ranks = shape.ranks, .one_host = false, .mapped = false};
  const coll::ScratchLayout scratch = ample(shape.ranks);
  const coll::TuningKey key = coll::key_of(shape, team);
  auto all = coll::candidates_of(key, team, scratch, false);
  if (shape.ranks > kAnyStepsUpTo) {
    std::erase_if(all, [&](const coll::Timed& one) {
      const coll::Fit how = coll::fit_or_cut(*one.algorithm, one.wanted, shape, team, scratch);
      return how.refusal != nullptr || !has_few_steps(*one.algorithm, how.shape);
    });
  }
  StudiedKey out{
      network.name, shape.ranks, std::string(coll::operation_word(shape.operation)), shape.bytes, {}};
  const auto ranked = coll::rank_by_model(all, coll::judged_shape(key), table, team, scratch, {});
  std::uint64_t fastest = std::numeric_limits<std::uint64_t>::max();
  for (const coll::Ranked& one : ranked) fastest = std::min(fastest, one.timed.picoseconds);
  for (const coll::Ranked& one : ranked) {
    const bool hopeless = one.timed.picoseconds / kHopelessFactor > fastest;
    // What stage 0 would choose is always tried.
    if (hopeless && shape.ranks > kAllUpTo && !out.times.empty()) continue;
    const coll::Fit how = coll::fit_or_cut(*one.timed.algorithm, one.timed.wanted, shape, team, scratch);
    if (how.refusal != nullptr) continue;
    sim::Job job;
    job.algorithm = one.timed.algorithm;
    job.shape = how.shape;
    out.times.push_back(sim::simulate(job, network).replayed.time);
  }
  return out;
}

double percentile(std::vector<double> values, double which) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const auto at = static_cast<std::size_t>(which * static_cast<double>(values.size()));
  return values[std::min(at, values.size() - 1)];
}

double regret_of(const StudiedKey& key, const StudyOptions& options, std::size_t stage) {
  switch (stage) {
    case 0: return key.regret(1);
    case 1: return key.searched(options.searched, options.noise).regret;
    default: return key.learned(options.searched, options.calls, options.noise).regret;
  }
}

}  // namespace

double Noise::factor() {
  if (size_ == 0) return 1;
  const double usual = 1 + size_ * std::exponential_distribution<double>(1)(random_);
  return below(random_, 20) == 0 ? usual * std::uniform_real_distribution<double>(2, 5)(random_) : usual;
}

double Noise::mean() const { return size_ == 0 ? 1 : (1 + size_) * (1 + 0.05 * 2.5); }

double effort_of_search(const std::vector<StudiedKey>& keys, const StudyOptions& options) {
  double sum = 0;
  for (const StudiedKey& one : keys) sum += one.searched(options.searched, options.noise).effort;
  return keys.empty() ? 0 : 100 * sum / static_cast<double>(keys.size());
}

double p95_of_stage(const std::vector<StudiedKey>& keys, const StudyOptions& options, std::size_t stage) {
  std::vector<double> regrets;
  for (const StudiedKey& one : keys) regrets.push_back(100 * regret_of(one, options, stage));
  return percentile(regrets, 0.95);
}

double StudiedKey::regret(std::size_t tried) const {
  if (times.empty()) return 0;
  const auto end = times.begin() + static_cast<std::ptrdiff_t>(std::min(tried, times.size()));
  const auto best = static_cast<double>(*std::min_element(times.begin(), times.end()));
  return best == 0 ? 0 : static_cast<double>(*std::min_element(times.begin(), end)) / best - 1;
}

StudiedKey::Learned StudiedKey::learned(std::size_t tried, std::uint64_t calls, double noise) const {
  if (times.empty()) return {};
  Noise noisy(noise, times[0]);
  coll::Bandit bandit(std::min(tried, times.size()));
  coll::Bandit::Words words{};
  double spent = 0;
  for (std::uint64_t call = 0; call < calls; ++call) {
    if (bandit.due() == coll::Bandit::Due::combine) words = bandit.words();
    if (bandit.due() == coll::Bandit::Due::go_on) bandit.go_on(words);
    const std::size_t candidate = bandit.next();
    const auto time = static_cast<double>(times[candidate]);
    bandit.took(candidate, static_cast<std::uint64_t>(time * noisy.factor()));
    spent += time;
  }
  const auto used = static_cast<double>(times[bandit.best()]);
  const auto best = static_cast<double>(*std::min_element(times.begin(), times.end()));
  if (best == 0 || calls == 0) return {};
  return {used / best - 1, spent / (used * static_cast<double>(calls)) - 1};
}

StudiedKey::Searched StudiedKey::searched(std::size_t tried, double noise) const {
  if (times.empty()) return {};
  Noise noisy(noise, times[0]);
  double spent = 0;
  const auto measure = [&](std::span<const std::size_t> who,
                           std::uint32_t calls) -> Result<std::vector<coll::Samples>> {
    std::vector<coll::Samples> samples(who.size());
    for (std::uint32_t call = 0; call < calls; ++call) {
      for (std::size_t i = 0; i < who.size(); ++i) {
        const double took = static_cast<double>(times[who[i]]) * noisy.factor();
        samples[i].push_back(static_cast<std::uint64_t>(took));
        spent += took;
      }
    }
    return samples;
  };
  const std::chrono::nanoseconds no_limit(std::numeric_limits<std::int64_t>::max());
  const auto found = coll::search(std::min(tried, times.size()), no_limit, measure);
  const double once = std::accumulate(times.begin(), times.end(), 0.0) * noisy.mean();
  const auto best = static_cast<double>(*std::min_element(times.begin(), times.end()));
  if (!found || best == 0) return {};
  return {static_cast<double>(times[found->best]) / best - 1, spent / once / coll::kMostRepetitions,
          spent / once / found->samples};
}

std::vector<StudiedKey> study(const StudyOptions& options) {
  std::vector<StudiedKey> out;
  Random random(options.seed);
  for (std::uint32_t model = 0; model < options.models; ++model) {
    for (const std::string_view topology : kTopologies) {
      const std::string text = random_machine(random, topology);
      for (const std::uint32_t asked : options.ranks) {
        const Rank ranks = asked > 1 ? asked : 2 + below(random, 63);
        const sim::Network network = sim::parse_network(text, std::string(topology), ranks);
        const NetworkModel known = calibrated(network, ranks);
        const coll::TuningTable table({known, known}, {});
        for (std::uint32_t i = 0; i < options.keys; ++i)
          out.push_back(study_one(network, table, random_shape(random, ranks)));
      }
    }
  }
  return out;
}

void print_study(const std::vector<StudiedKey>& keys, const StudyOptions& options) {
  if (options.json) {
    for (const StudiedKey& one : keys)
      fmt::print(
          R"({{"topology": "{}", "ranks": {}, "operation": "{}", "bytes": {}, "candidates": {}, "stage_0": {:.4f}, "stage_1": {:.4f}, "stage_2": {:.4f}}})"
          "\n",
          one.topology, one.ranks, one.operation, one.bytes, one.times.size(), regret_of(one, options, 0),
          regret_of(one, options, 1), regret_of(one, options, 2));
    return;
  }
  std::map<std::string, std::vector<const StudiedKey*>> groups;
  for (const StudiedKey& one : keys) {
    groups["all"].push_back(&one);
    groups[fmt::format("{}, P {}", one.topology,
                       one.ranks <= 64 ? std::string("<= 64") : fmt::format("= {}", one.ranks))]
        .push_back(&one);
    groups[one.operation].push_back(&one);
  }
  fmt::print(
      "regret in percent: stage 0 chooses by the model, stage 1 measures its first {}, stage 2 tries these "
      "during {} calls; noise {} %\n",
      options.searched, options.calls, 100 * options.noise);
  fmt::print("{:<24}{:>6}", "", "keys");
  for (int stage = 0; stage < 3; ++stage)
    fmt::print("   {:>8}{:>8}{:>8}{:>8}", "median", "p95", "max", "<= 5 %");
  fmt::print("\n");
  for (const auto& [name, group] : groups) {
    std::string line = fmt::format("{:<24}{:>6}", name, group.size());
    for (std::size_t stage = 0; stage < 3; ++stage) {
      std::vector<double> regrets;
      for (const StudiedKey* const one : group) regrets.push_back(100 * regret_of(*one, options, stage));
      const auto good = std::count_if(regrets.begin(), regrets.end(), [](double r) { return r <= 5; });
      line += fmt::format("   {:>8.1f}{:>8.1f}{:>8.1f}{:>7.1f}%", percentile(regrets, 0.5),
                          percentile(regrets, 0.95), percentile(regrets, 1),
                          100.0 * static_cast<double>(good) / static_cast<double>(group.size()));
    }
    fmt::print("{}\n", line);
  }
  std::vector<double> lost;
  for (const StudiedKey& one : keys)
    lost.push_back(100 * one.learned(options.searched, options.calls, options.noise).lost);
  fmt::print(
      "\nwhat stage 2 loses while it learns, in percent of the calls' time: median {:.2f}, p95 {:.2f}\n",
      percentile(lost, 0.5), percentile(lost, 0.95));
  fmt::print(
      "\nhow good a search is: the best of all / what a search of the first x finds, on average; and its "
      "time as a share of that "
      "of an exhaustive search, which calls all of them {} times, or as often as this one its best\n",
      coll::kMostRepetitions);
  for (const std::size_t tried : {1u, 2u, 3u, 4u, 6u, 8u, 12u, 16u, 24u, 32u}) {
    double quality = 0;
    double effort = 0;
    double of_calls = 0;
    for (const StudiedKey& one : keys) {
      const StudiedKey::Searched searched = one.searched(tried, options.noise);
      quality += 1 / (1 + searched.regret);
      effort += searched.effort;
      of_calls += searched.effort_of_calls;
    }
    const auto count = static_cast<double>(std::max<std::size_t>(keys.size(), 1));
    fmt::print("x = {:>2}   {:.4f}   {:.4f}   {:.4f}\n", tried, quality / count, effort / count,
               of_calls / count);
  }
}

}  // namespace aqueduct::aqtune
