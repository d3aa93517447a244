#pragma once

#include "coll/schedule/added.hpp"
#include "coll/schedule/algorithm.hpp"
#include "coll/schedule/shape.hpp"
#include "coll/scratch/layout.hpp"
#include "coll/shared/board_lines.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace aqueduct::core {
class NativeTeam;
}
namespace aqueduct::topology {
class Placement;
}

namespace aqueduct::coll {

/// The domains of memory in which a team's members are: the narrowest ones that several members share.
struct MemoryDomains {
  std::uint32_t count = 1;
  std::uint32_t smallest = 0;  ///< members of a domain
  std::uint32_t largest = 0;
  bool in_team_order = false;  ///< those of a domain follow each other
  /// The members' places; null: only the numbers above are known. Not kept longer than what has been asked.
  const topology::Placement* placed = nullptr;
};

/// How chosen algorithms run on a team's board.
struct OnBoard {
  MemoryDomains domains{};   ///< the members' places, also where nothing is chosen by them
  std::uint32_t narrow = 0;  ///< bytes of an element in the users' buffers, if it is converted for combining
};

/// What a team is made of, as far as a choice depends on it: the same on all members.
struct TeamTraits {
  Rank ranks = 1;
  bool one_host = true;  ///< all members share a host
  bool mapped = true;    ///< and reach each other's memory without a network
  bool sockets =
      false;  ///< and not mapped: processors move the bytes, at least those of one of the job's ranks
  bool crowded = false;  ///< a member's host has more of the job's ranks than processors
  /// The most bytes of one put or get that each conduit of each rank of the job can do.
  std::uint64_t most_transfer = ~std::uint64_t{0};
  /// The collective operations of its conduit; null: all members do without. Its answers are the same on all members.
  const core::NativeTeam* native = nullptr;
  BoardRoom board{};        ///< what each member has of the team's board; no slots: the team has none
  MemoryDomains domains{};  ///< filled in for shapes for which it matters: depends_on_domains
  /// For `explain`; null: `domains` says all. Nothing is chosen by it. A pointer, as each team keeps its traits.
  const OnBoard* on_board = nullptr;
  /// So many members after one another share a host, from the first member on; 1: their hosts are in no such order.
  Rank block = 1;
  /// The members by hosts; null: they are on one host, or each on its own.
  const Groups* groups = nullptr;
  /// The team's tree, from Team::use_tree or from AQUEDUCT_COLL_TREE. Null if it has none, as where the setting lists the
  /// parents of another number of members.
  const TeamTree* tree = nullptr;
  /// Algorithms that the program has added; null: none. They outlive the job's teams.
  const aqueduct::detail::AddedAlgorithms* added = nullptr;

  /// Shape::few_signals of the team's calls.
  bool few_signals() const noexcept { return one_host && crowded; }
};

/// What a choice comes from.
enum class ChosenBy : std::uint8_t { rules, model, measurement };

/// An algorithm for a shape.
struct Choice {
  const Algorithm* algorithm = nullptr;  ///< null: none can do it; `why` says why
  Shape shape;  ///< with the parameters set; `bytes` and `pitch` are those of the whole operation
  /// The operation runs in pieces of this many bytes of each block; a multiple of the element. At least shape.bytes: in one.
  std::uint64_t piece = 0;
  std::string_view why;
  /// `algorithm` is null because something does not suffice: this process's memory to choose, or the team's scratch.
  bool no_memory = false;
  bool lacks_here = false;  ///< it is this process's memory: other members may have chosen
  ChosenBy by = ChosenBy::rules;
};

/// Chooses algorithms. All members call it with equal arguments and equal settings, and get equal answers.
class Chooser {
 public:
  virtual ~Chooser() = default;
  /// Cost: not for the hot path; the engine keeps the answers for the shapes that a team has used last.
  virtual Choice choose(const Shape& shape, const TeamTraits& team,
                        const ScratchLayout& scratch) const noexcept = 0;
  /// Which algorithm runs, and why the others do not: lines of text.
  virtual std::string explain(const Shape& shape, const TeamTraits& team,
                              const ScratchLayout& scratch) const = 0;
};

}  // namespace aqueduct::coll
