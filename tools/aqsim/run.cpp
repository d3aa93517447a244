#include "tools/aqsim/run.hpp"

#include "coll/algorithms/algorithms.hpp"
#include "coll/tune/coll_settings.hpp"
#include "coll/tune/operation_word.hpp"
#include "coll/tune/table.hpp"
#include "sim/plot.hpp"
#include "sim/trace.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>
#include <optional>

namespace aqueduct::aqsim {

using sim::BadInput;

namespace {

coll::Picoseconds picoseconds(double us) { return static_cast<coll::Picoseconds>(std::llround(us * 1e6)); }
double microseconds(coll::Picoseconds time) { return static_cast<double>(time) / 1e6; }

/// So much scratch that nothing is cut into pieces.
coll::ScratchLayout ample(Rank ranks) {
  return coll::ScratchLayout({.banks = 2, .counters = 65535, .bytes = std::uint64_t{1} << 50}, ranks);
}

Chosen with_parameters(const coll::Algorithm& algorithm, const coll::WantedParameters& wanted,
                       coll::Shape shape, bool single) {
  shape.addresses = single || algorithm.direct ? coll::Addresses::single : coll::Addresses::local;
  coll::TeamTraits team{.ranks = shape.ranks, .one_host = false, .mapped = false};
  const coll::Fit fit = coll::fit_or_cut(algorithm, wanted, shape, team, ample(shape.ranks));
  if (fit.refusal != nullptr) {
    throw BadInput(fmt::format("{} {} of {} ranks and {} bytes: {}", coll::operation_word(shape.operation),
                               algorithm.name, shape.ranks, shape.bytes, fit.refusal));
  }
  return {&algorithm, fit.shape};
}

struct Idle {
  double mean_us = 0;
  double most_us = 0;
  Rank rank = 0;
};
Idle idle_of(const coll::Replayed& replayed) {
  Idle out;
  for (Rank rank = 0; rank < replayed.members.size(); ++rank) {
    const double idle = microseconds(replayed.members[rank].idle());
    out.mean_us += idle / static_cast<double>(replayed.members.size());
    if (idle > out.most_us) {
      out.most_us = idle;
      out.rank = rank;
    }
  }
  return out;
}

/// The links that have carried most, the busiest first.
std::vector<sim::Link> busiest(const std::vector<std::uint64_t>& bytes, std::size_t count) {
  std::vector<sim::Link> order(bytes.size());
  std::iota(order.begin(), order.end(), 0U);
  count = std::min(count, order.size());
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
      [&](sim::Link a, sim::Link b) { return bytes[a] != bytes[b] ? bytes[a] > bytes[b] : a < b; });
  order.resize(count);
  return order;
}

class Printer {
 public:
  explicit Printer(const Options& options) : options_(options) {}

  void row(const Chosen& chosen, const sim::Network& network, const sim::Outcome& outcome) {
    const double us = microseconds(outcome.replayed.time);
    const double rate =
        outcome.wall_seconds > 0 ? static_cast<double>(outcome.replayed.messages) / outcome.wall_seconds : 0;
    const std::string name = coll::name_of(*chosen.algorithm, chosen.shape);
    lines_[fmt::format("{}", name)].push_back({chosen.shape, us});
    const Idle idle = idle_of(outcome.replayed);
    if (options_.json) {
      nlohmann::json line{{"op", coll::operation_word(chosen.shape.operation)},
                          {"algorithm", name},
                          {"ranks", chosen.shape.ranks},
                          {"bytes", chosen.shape.bytes},
                          {"virtual_us", us},
                          {"messages", outcome.replayed.messages},
                          {"bytes_sent", outcome.replayed.bytes},
                          {"wall_s", outcome.wall_seconds},
                          {"messages_per_s", rate},
                          {"network", network.name},
                          {"method", sim::word_of(outcome.method)},
                          {"idle_mean_us", idle.mean_us},
                          {"idle_most_us", idle.most_us}};
      if (options_.idle) {
        nlohmann::json all = nlohmann::json::array();
        for (const coll::ReplayedMember& member : outcome.replayed.members)
          all.push_back(microseconds(member.idle()));
        line["idle_us"] = std::move(all);
      }
      if (!outcome.link_bytes.empty()) {
        line["hops"] = outcome.hops;
        line["links"] = nlohmann::json::array();
        for (const sim::Link link : busiest(outcome.link_bytes, std::max<std::uint32_t>(1, options_.links)))
          line["links"].push_back({{"link", link}, {"bytes", outcome.link_bytes[link]}});
      }
      fmt::print("{}\n", line.dump());
      return;
    }
    if (!header_) {
      fmt::print("{:<34} {:>8} {:>10} {:>14} {:>12} {:>14} {:>9} {:>8}  {}\n", "algorithm", "ranks", "bytes",
                 "time us", "messages", "bytes sent", "wall s", "M/s", "method");
      header_ = true;
    }
    fmt::print("{:<34} {:>8} {:>10} {:>14.3f} {:>12} {:>14} {:>9.4f} {:>8.1f}  {}\n", name,
               chosen.shape.ranks, chosen.shape.bytes, us, outcome.replayed.messages, outcome.replayed.bytes,
               outcome.wall_seconds, rate / 1e6, sim::word_of(outcome.method));
    if (options_.idle) {
      fmt::print("  idle: {:.3f} us on average, {:.3f} us at most (rank {})\n", idle.mean_us, idle.most_us,
                 idle.rank);
    }
    for (const sim::Link link : busiest(outcome.link_bytes, options_.links))
      fmt::print("  link {}: {} bytes\n", link, outcome.link_bytes[link]);
  }

  /// The plots of all rows: time against bytes, and against ranks, if there are several.
  void plot() const {
    std::map<std::string, sim::Series> by_bytes;
    std::map<std::string, sim::Series> by_ranks;
    for (const auto& [name, points] : lines_) {
      for (const auto& [shape, us] : points) {
        const std::string ranks = fmt::format("{}, {} ranks", name, shape.ranks);
        by_bytes[ranks].name = ranks;
        by_bytes[ranks].points.emplace_back(static_cast<double>(std::max<std::uint64_t>(1, shape.bytes)), us);
        const std::string bytes = fmt::format("{}, {} B", name, shape.bytes);
        by_ranks[bytes].name = bytes;
        by_ranks[bytes].points.emplace_back(shape.ranks, us);
      }
    }
    const std::string title = fmt::format("{} on {}", options_.operation, options_.network);
    const auto picture = [&](const std::map<std::string, sim::Series>& of, const char* axis) {
      std::vector<sim::Series> all;
      for (const auto& [name, series] : of) all.push_back(series);
      return sim::plot_svg(title, axis, "microseconds", all);
    };
    std::vector<std::string> pictures;
    const bool one_file = options_.plot.ends_with(".svg");
    if (options_.bytes.size() > 1 || options_.ranks.size() == 1)
      pictures.push_back(picture(by_bytes, "bytes"));
    if (options_.ranks.size() > 1 && (!one_file || pictures.empty()))
      pictures.push_back(picture(by_ranks, "ranks"));
    if (const std::string problem = sim::write_plots(options_.plot, title, pictures); !problem.empty())
      throw BadInput(problem);
  }

 private:
  const Options& options_;
  bool header_ = false;
  std::map<std::string, std::vector<std::pair<coll::Shape, double>>> lines_;
};

sim::Outcome simulate_one(const Options& options, const Chosen& chosen, const sim::Network& network) {
  sim::Job job;
  job.algorithm = chosen.algorithm;
  job.shape = chosen.shape;
  job.times = options.times;
  job.in_flight = options.in_flight;
  job.compute = picoseconds(options.compute_us);
  if (options.late_us > 0)
    job.calls = sim::late_calls(chosen.shape.ranks, picoseconds(options.late_us), options.seed);
  job.detours = {picoseconds(options.noise_period_us), picoseconds(options.noise_us), options.seed};
  job.seed = options.seed;
  job.most_messages = options.most_messages;
  job.one_by_one = options.one_by_one;
  std::optional<sim::Trace> trace;
  if (!options.trace.empty()) {
    trace.emplace(options.trace);
    job.watcher = &*trace;
  }
  sim::Outcome outcome = sim::simulate(job, network);
  if (trace) {
    if (const std::string problem = trace->end(outcome.replayed); !problem.empty()) throw BadInput(problem);
  }
  return outcome;
}

}  // namespace

std::vector<Chosen> choose(const Options& options, coll::Shape shape) {
  shape.addresses = options.single ? coll::Addresses::single : coll::Addresses::local;
  if (options.algorithm == "all") {
    std::vector<Chosen> out;
    for (const coll::Algorithm* const algorithm : coll::all_algorithms()) {
      if (algorithm->operation != shape.operation) continue;
      try {
        out.push_back(with_parameters(*algorithm, {}, shape, options.single));
      } catch (const BadInput&) {
        // It is for other shapes.
      }
    }
    if (out.empty()) throw BadInput("no algorithm can do this");
    return out;
  }
  const coll::ForcedRead read = coll::read_forced(shape.operation, options.algorithm);
  if (!read.problem.empty())
    throw BadInput(fmt::format("--algorithm {}: {}", options.algorithm, read.problem));
  if (read.forced.algorithm != nullptr)
    return {with_parameters(*read.forced.algorithm, read.forced.wanted, shape, options.single)};
  const coll::TeamTraits team{.ranks = shape.ranks, .one_host = false, .mapped = false};
  const coll::Choice choice = coll::TableChooser().choose(shape, team, ample(shape.ranks));
  if (choice.algorithm == nullptr) throw BadInput(std::string(choice.why));
  return {{choice.algorithm, choice.shape}};
}

int run(const Options& options) {
  const coll::Operation operation = read_operation(options.operation);
  const bool moves = operation != coll::Operation::barrier;
  if (!options.trace.empty() &&
      (options.ranks.size() > 1 || (moves && options.bytes.size() > 1) || options.algorithm == "all"))
    throw BadInput("--trace is for one simulation: give one number of ranks, one of bytes and one algorithm");
  Printer printer(options);
  for (const Rank ranks : options.ranks) {
    const sim::Network network = sim::load_network(options.network, ranks);
    for (const std::uint64_t bytes : moves ? options.bytes : std::vector<std::uint64_t>{0}) {
      coll::Shape shape;
      shape.operation = operation;
      shape.in = options.in;
      shape.out = options.out;
      shape.ranks = ranks;
      shape.root = options.root;
      shape.element = options.element;
      shape.bytes = shape.pitch = bytes;
      if (options.root >= ranks)
        throw BadInput(fmt::format("--root {}: there are {} ranks", options.root, ranks));
      if (bytes % options.element != 0)
        throw BadInput(fmt::format("{} bytes are no whole number of elements of {}", bytes, options.element));
      for (const Chosen& chosen : choose(options, shape)) {
        try {
          printer.row(chosen, network, simulate_one(options, chosen, network));
        } catch (const BadInput& problem) {
          if (options.algorithm != "all") throw;
          fmt::print(stderr, "aqsim: {}: {}\n", chosen.algorithm->name, problem.what());
        }
      }
    }
  }
  if (!options.plot.empty()) printer.plot();
  return 0;
}

}  // namespace aqueduct::aqsim
