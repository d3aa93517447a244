// Guidelines: what must hold whatever the network.

#include "coll/algorithms/algorithms.hpp"
#include "tools/aqsim/curves.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace aqueduct::aqsim {

using coll::Algorithm;
using coll::Operation;
using coll::Shape;

namespace {

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
    if (algorithm->hosts || algorithm->team_tree) continue;  // these ranks are not grouped, and have no tree
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

std::vector<Finding> guidelines() { return {guideline_sum(), guideline_step(), guideline_bytes()}; }

}  // namespace aqueduct::aqsim
