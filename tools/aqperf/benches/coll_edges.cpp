#include "tools/aqperf/benches/coll_edges.hpp"

#include "coll/schedule/schedule.hpp"
#include "coll/tune/fit.hpp"

namespace aqueduct::perf {

namespace {

/// Adds the steps of a run of this shape, `times` times.
void add_run(CollEdges& edges, const coll::Algorithm& algorithm, const coll::Shape& shape, Rank position,
             std::uint64_t times) {
  const coll::Schedule schedule(algorithm, shape, position);
  for (std::uint32_t lane = 0; lane < schedule.lanes(); ++lane) {
    for (std::uint32_t index = 0; index < schedule.length(lane); ++index) {
      const coll::Step step = schedule.step(lane, index);
      if (step.kind == coll::Step::Kind::put) edges.puts[step.peer] += step.bytes * step.runs * times;
      if (step.kind == coll::Step::Kind::get) edges.gets[step.peer] += step.bytes * step.runs * times;
    }
  }
}

}  // namespace

CollEdges edges_of(const coll::Choice& choice, Rank position) {
  const coll::Shape& shape = choice.shape;
  CollEdges edges{std::vector<std::uint64_t>(shape.ranks), std::vector<std::uint64_t>(shape.ranks)};
  if (shape.bytes <= choice.piece) {
    add_run(edges, *choice.algorithm, shape, position, 1);
    return edges;
  }
  add_run(edges, *choice.algorithm, coll::piece_of(shape, choice.piece), position,
          shape.bytes / choice.piece);
  const std::uint64_t rest = shape.bytes % choice.piece;
  if (rest == 0) return edges;
  const coll::Shape last = coll::piece_of(shape, rest);
  // The engine leaves a rest that is too short for the algorithm to another one: those bytes are not counted.
  if (coll::Schedule::refusal(*choice.algorithm, last) == nullptr)
    add_run(edges, *choice.algorithm, last, position, 1);
  return edges;
}

}  // namespace aqueduct::perf
