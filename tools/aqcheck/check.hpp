#pragma once

#include "coll/schedule/schedule.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace aqueduct::aqcheck {

/// Changes a step of a schedule before it is checked: for mutations. It is given the member, the lane and the number.
using Change = std::function<void(Rank position, std::uint32_t lane, std::uint32_t index, coll::Step&)>;

/// Blocks of different lengths: what every member sends and receives, in one run.
struct CaseBlocks {
  std::vector<std::vector<coll::BlockAt>> sends;     ///< [sender][receiver]; of a permute: one
  std::vector<std::vector<coll::BlockAt>> receives;  ///< [receiver][sender]; likewise
  std::vector<coll::MemberBlocks> views;             ///< [member]
  /// The run's part of the block from one member to another, at its source and at its target.
  coll::BlockAt sent(Rank from, Rank to, std::uint64_t bytes) const noexcept;
  coll::BlockAt received(Rank from, Rank to, std::uint64_t bytes) const noexcept;
};

struct Case {
  const coll::Algorithm* algorithm = nullptr;
  coll::Shape shape;
  /// The output is where the input is: the same buffer; of a gather, the input is the member's block of the output; of a
  /// scatter and a reduce_scatter, the output is the member's block of the input.
  bool in_place = false;
  std::shared_ptr<const CaseBlocks> blocks = nullptr;    ///< null: all blocks are alike
  std::shared_ptr<const coll::Groups> groups = nullptr;  ///< of shape.groups
  std::shared_ptr<const coll::TeamTree> tree = nullptr;  ///< of shape.team_tree
  std::string tree_text = {};                            ///< what tree it is
  /// Whose outputs peers reach, where members announce them.
  enum class Reached : std::uint8_t { none, odd, all } reached = Reached::none;

  bool is_reached(Rank position) const noexcept {
    return reached == Reached::all || (reached == Reached::odd && position % 2 != 0);
  }

  /// The shape as the member at `position` sees it.
  coll::Shape shape_of(Rank position) const noexcept {
    coll::Shape mine = shape;
    if (blocks != nullptr) mine.blocks.of = &blocks->views[position];
    return mine;
  }
};

/// What a run has sent.
struct Counted {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint32_t depth = 0;
};

struct Verdict {
  std::string problem;  ///< empty: the schedule is right
  Counted counted;
};

/// Executes the schedules of all members on symbols, and proves for this shape that every execution ends, gives the right
/// result, and has no two conflicting accesses whose order is not fixed. The user's own accesses before the call and
/// after the return, as the sync modes allow them, are among the accesses.
///
/// One execution is enough. Steps are data; counters only rise; a wait is for all that is ever added to its counter,
/// which is checked first. So the steps that can run only become more, a deadlock in one order is a deadlock in all, and
/// without unordered accesses every order writes the same bytes.
Verdict check(const Case& checked, const Change& change = nullptr);

/// "all_reduce"
const char* name_of(coll::Operation operation) noexcept;
/// "all_reduce multiplying radix=2, 5 members, root 0, 7 bytes in elements of 1, in all, out mine, local"
std::string describe(const Case& checked);

}  // namespace aqueduct::aqcheck
