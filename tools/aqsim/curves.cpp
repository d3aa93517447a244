#include "tools/aqsim/curves.hpp"

#include "tools/aqsim/run.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>

namespace aqueduct::aqsim {

coll::Shape shape_for(const coll::Algorithm& algorithm, std::uint32_t parameter, const Setup& setup) {
  coll::Shape shape;
  shape.operation = algorithm.operation;
  shape.in = shape.out = setup.sync;
  shape.addresses = coll::Addresses::single;
  shape.ranks = setup.ranks;
  shape.bytes = shape.pitch = setup.bytes;
  for (std::size_t i = 0; i < algorithm.parameters.size(); ++i)
    shape.parameters[i] = algorithm.parameters[i].name == "segments" ? 1 : algorithm.parameters[i].usual;
  if (parameter != 0) shape.parameters[0] = parameter;
  return shape;
}

double time_of(const coll::Algorithm& algorithm, std::uint32_t parameter, const Setup& setup) {
  sim::Network network;
  network.machine.levels.front().link = setup.link;
  sim::Job job;
  job.algorithm = &algorithm;
  job.shape = shape_for(algorithm, parameter, setup);
  job.times = setup.times;
  job.in_flight = setup.in_flight;
  return static_cast<double>(sim::simulate(job, network).replayed.time) / 1e6 / setup.times;
}

Best best_radix(const coll::Algorithm& algorithm, const Setup& setup) {
  Best best;
  for (const std::uint32_t radix : {2U, 4U, 8U, 16U}) {
    const double us = time_of(algorithm, radix, setup);
    if (best.radix == 0 || us < best.us) best = {radix, us};
  }
  return best;
}

std::string percent(double ratio) { return fmt::format("{:.0f} %", (ratio - 1) * 100); }

namespace {

void print(const Finding& found, bool as_json) {
  if (as_json) {
    const nlohmann::json line{{"id", found.id},     {"what", found.what},     {"source", found.source},
                              {"ours", found.ours}, {"agrees", found.agrees}, {"why", found.why}};
    fmt::print("{}\n", line.dump());
    return;
  }
  fmt::print("{:<10} {}\n{:10} source: {}\n{:10} ours:   {}   {}\n", found.id, found.what, "", found.source,
             "", found.ours, found.agrees ? "agrees" : "DIFFERS");
  if (*found.why != '\0') fmt::print("{:10} {}\n", "", found.why);
}

}  // namespace

int curves(bool as_json) {
  bool right = true;
  for (const auto& group : {form_curves, tree_curves, host_curves, fork_curves, exchange_curves, model_curves,
                            search_curves, guidelines}) {
    for (const Finding& found : group()) {
      right = right && (found.agrees || *found.why != '\0');
      print(found, as_json);
    }
  }
  return right ? 0 : 1;
}

}  // namespace aqueduct::aqsim
