#pragma once

#include "coll/tune/chooser.hpp"
#include "coll/tune/fit.hpp"
#include "coll/tune/forced.hpp"

#include <mutex>
#include <set>
#include <string>
#include <string_view>

namespace aqueduct::coll {

/// Chooses by a table of rules (rules.cpp): the first line that applies and whose algorithm can do the shape with the
/// team's scratch, in one or in pieces. If no line serves, the first algorithm that can do it at all. A setting of the
/// user (coll_settings.hpp) comes before the table; but one that asks for `team-tree` says nothing of teams without a tree,
/// nor of reductions in an order that the tree does not keep: these are chosen as without it.
///
/// If the team's conduit does the shape too, whichever of the two is expected to be faster (native_choice.hpp).
///
/// Barriers of a team are carried out as all-reduces (barrier_shape.hpp), and have questions of their own. A setting for barriers
/// says nothing of teams that cannot do what it asks for. `choose` with Operation::barrier is about schedules of that operation,
/// which the simulator runs.
///
/// If not even one element fits, and none are combined, elements are cut: by the algorithm with the largest pieces.
///
/// Choice::shape has the caller's element, but for an operation that combines nothing and whose elements are too large for
/// the scratch: then it is 1, since such elements may be cut.
/// Threads: any. Choice::why lives as long as the chooser.
class TableChooser final : public Chooser {
 public:
  explicit TableChooser(const ForcedAlgorithms& forced = {}) noexcept : forced_(forced) {}

  Choice choose(const Shape& shape, const TeamTraits& team,
                const ScratchLayout& scratch) const noexcept override;
  /// Which algorithm runs, with its parameters, its pieces, what one piece needs, and the cost of the whole operation; then
  /// a line for each other algorithm of the operation: why it does not run.
  std::string explain(const Shape& shape, const TeamTraits& team,
                      const ScratchLayout& scratch) const override;
  /// The same of the team's barriers. Of TeamTraits::native nothing is used.
  Choice choose_barrier(const TeamTraits& team, const ScratchLayout& scratch) const noexcept;
  std::string explain_barrier(const TeamTraits& team, const ScratchLayout& scratch) const;
  /// Why the team's barriers are not what the setting for barriers asks for. Null: they are, or nothing is set.
  const char* why_barrier_differs(const TeamTraits& team, const ScratchLayout& scratch) const noexcept;
  /// Whether a setting decides about the shape, or about the team's barriers: it names an algorithm, which the team
  /// can follow.
  bool is_set(const Shape& shape, const TeamTraits& team) const noexcept {
    return asked(shape, team).is_forced();
  }
  bool is_barrier_set(const TeamTraits& team, const ScratchLayout& scratch) const noexcept {
    return asked_barrier(team, scratch).is_forced();
  }
  /// What `explain` says of a setting that the team cannot follow: "(a setting asks for …, but …)". Empty without one.
  std::string left_line(const Shape& shape, const TeamTraits& team) const {
    return line_of(asked(shape, team));
  }
  std::string left_barrier_line(const TeamTraits& team, const ScratchLayout& scratch) const {
    return line_of(asked_barrier(team, scratch));
  }
  /// Whether a setting of the user names an algorithm for the operation.
  bool is_forced(Operation operation) const noexcept { return forced(operation).algorithm != nullptr; }

 private:
  const Forced& forced(Operation operation) const noexcept {
    return forced_[static_cast<std::size_t>(operation)];
  }
  std::string_view keep(std::string text) const;
  std::string_view why_not(const Forced& forced, const char* reason, const Shape& shape,
                           const TeamTraits& team, const ScratchLayout& scratch) const noexcept;

  /// A shape, and what the settings say about it.
  struct Asked {
    Shape shape;
    Forced user;
    const char* left = nullptr;  ///< why the choice is made as without them; null: it is not
    bool barrier = false;

    bool is_forced() const noexcept { return user.algorithm != nullptr && left == nullptr; }
  };
  Asked asked(const Shape& shape, const TeamTraits& team) const noexcept;
  Asked asked_barrier(const TeamTraits& team, const ScratchLayout& scratch) const noexcept;
  static std::string line_of(const Asked& asked);
  Choice choose(const Asked& asked, const TeamTraits& team, const ScratchLayout& scratch) const noexcept;
  std::string explain(const Asked& asked, const TeamTraits& team, const ScratchLayout& scratch) const;

  ForcedAlgorithms forced_;
  mutable std::mutex mutex_;
  mutable std::set<std::string, std::less<>> texts_;  ///< what Choice::why points to
};

/// How one algorithm does a shape, with elements cut if that is the only way. See TableChooser.
Fit fit_or_cut(const Algorithm& algorithm, const WantedParameters& wanted, const Shape& shape,
               const TeamTraits& team, const ScratchLayout& scratch) noexcept;
/// How the first candidate does it that can with any parameters of the table, or its refusal. An algorithm that only settings
/// choose: with its usual parameters.
Fit fit_with_any(const Algorithm& algorithm, const Shape& shape, const TeamTraits& team,
                 const ScratchLayout& scratch) noexcept;

/// "k-nomial:radix=4,segments=1", which is also how a setting names it.
std::string name_of(const Algorithm& algorithm, const Shape& shape);

}  // namespace aqueduct::coll
