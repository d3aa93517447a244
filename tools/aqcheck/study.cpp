#include "tools/aqcheck/study.hpp"

#include "tools/aqcheck/study_formulas.hpp"
#include "tools/aqcheck/study_rows.hpp"

#include <algorithm>
#include <span>

namespace aqueduct::aqcheck {

using coll::Operation;
using coll::Shape;
using coll::Sync;

namespace {

/// The signals of Sync::all: the barrier's dissemination, or, where nothing begins before the root or ends after it, half
/// of the barrier's 4-nomial tree; where members share processors, up an 8-nomial tree and down it.
void add_pass(Studied& to, const Shape& shape, bool on_tree) {
  if (shape.groups.of != nullptr) return add_pass_by_hosts(to, shape, on_tree);
  if (!on_tree && shape.few_signals && shape.ranks > 2) {
    to.messages += 2 * others(shape);
    to.depth += 2 * deepest(shape, 8);
    to.less_depth = true;  // the root goes on before the others
    return;
  }
  to.messages += on_tree ? others(shape) : std::uint64_t{shape.ranks} * lg(shape);
  to.depth += on_tree ? deepest(shape, 4) : lg(shape);
}

}  // namespace

const StudyEntry* find_in_study(const coll::Algorithm& algorithm) noexcept {
  for (const std::span<const StudyEntry> rows : {rows_of_broadcasts(), rows_of_blocks(), rows_of_reductions(),
                                                 rows_of_hosts(), rows_of_team_trees()}) {
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const StudyEntry& entry) {
      return entry.operation == algorithm.operation && entry.algorithm == algorithm.name;
    });
    if (found != rows.end()) return &*found;
  }
  return nullptr;
}

Studied studied(const StudyEntry& entry, const Shape& shape) {
  if (shape.ranks == 1) return {};
  const bool barrier = shape.operation == Operation::barrier;
  Studied out;
  if (barrier || shape.bytes > 0) out = entry.formula(shape);
  if (barrier) return out;
  const bool from_root = shape.operation == Operation::broadcast || shape.operation == Operation::scatter;
  const bool to_root = shape.operation == Operation::reduce || shape.operation == Operation::gather;
  if (shape.in == Sync::all) add_pass(out, shape, from_root);
  if (shape.out == Sync::all) add_pass(out, shape, to_root);
  return out;
}

}  // namespace aqueduct::aqcheck
