#pragma once

#include <cstdint>

namespace aqueduct::coll {

/// What it costs to read or write lines of memory that another processor has written, in femtoseconds: `first` + n × `each` for n
/// lines, and `first` + d × n × `shared` for each of d processors that do so over one link at a time.
/// Source: Li, Hoefler and Snir, NUMA-Aware Shared-Memory Collective Communication for MPI, HPDC 2013, section 2.1.
struct LineCost {
  std::uint64_t first = 0;
  std::uint64_t each = 0;
  std::uint64_t shared = 0;
};

/// A host of domains of memory with as many members each.
struct MemoryMachine {
  LineCost inside;
  LineCost across;
  std::uint32_t domains = 1;
  std::uint32_t members = 1;  ///< of a domain

  std::uint64_t all() const noexcept { return std::uint64_t{domains} * members; }
};

/// A time that rises with the number of lines of a block, in femtoseconds.
struct LineTime {
  std::uint64_t fixed = 0;
  std::uint64_t each = 0;

  std::uint64_t of(std::uint64_t lines) const noexcept { return fixed + each * lines; }
  friend LineTime operator+(LineTime a, LineTime b) noexcept { return {a.fixed + b.fixed, a.each + b.each}; }
  friend LineTime operator*(std::uint64_t times, LineTime a) noexcept {
    return {times * a.fixed, times * a.each};
  }
  friend bool operator==(const LineTime&, const LineTime&) = default;
};

// The closed forms of requirements HF-01 to HF-17, from the same source, where that has no mistake. What it leaves open is said
// at each form.

/// HF-01: when `sharers` use a link at the same time. No fewer than one.
LineTime access(const LineCost& cost, std::uint64_t sharers) noexcept;

/// How many transfers of a round of an n-ary reduction tree go on at the same time, to the parents' child number `child` (from 1
/// on): for six members and two children, 3, 1 and 1. The source adds up one round more than there are, and has n^i in place of
/// this number, which its own example contradicts (HG-02).
std::uint64_t transfers_at_once(std::uint64_t members, std::uint32_t arity, std::uint32_t round,
                                std::uint32_t child) noexcept;
/// HF-02 to HF-04: a reduction by a tree, inside domains and then across. Links between domains are not shared.
LineTime reduce_by_tree(const MemoryMachine& machine, std::uint32_t arity = 2) noexcept;
/// HF-09, HF-10: by tiles inside domains, and then by a binary tree across. Here and below the source takes B for any number of
/// readers, also where that is less than what one alone needs (b): the greater counts, as in HF-01.
LineTime reduce_by_tiles(const MemoryMachine& machine) noexcept;

/// HF-05: all read the root's block, or one of each domain does, and the others read its. The shorter time counts.
LineTime broadcast_in_one_stage(const MemoryMachine& machine) noexcept;
LineTime broadcast_in_two_stages(const MemoryMachine& machine) noexcept;
std::uint64_t broadcast_time(const MemoryMachine& machine, std::uint64_t lines) noexcept;

/// H-17: down a tree, across and then inside domains. The children of a member read its block at the same time. Not in the source as
/// a form.
LineTime broadcast_by_tree(const MemoryMachine& machine, std::uint32_t arity) noexcept;
/// A member reads the blocks of all others, one after the other, while nobody else does. Not in the source as a form.
LineTime blocks_read_by_one(const MemoryMachine& machine) noexcept;

/// HF-06, HF-11: a reduction and then a broadcast.
std::uint64_t all_reduce_by_tree_time(const MemoryMachine& machine, std::uint64_t lines) noexcept;
std::uint64_t all_reduce_by_tiles_time(const MemoryMachine& machine, std::uint64_t lines) noexcept;
/// HF-07, HF-08: an all-reduce by rounds of as many members of each domain as the largest power of two; the others give theirs
/// before, and get the result behind. Of domains beyond a power of two the source says nothing (S-3.6): they do the same, across.
LineTime all_reduce_by_rounds(const MemoryMachine& machine) noexcept;

/// HF-13: the least number of lines for which tiles are as fast as a binary tree; kTilesNever if they never are.
inline constexpr std::uint64_t kTilesNever = ~std::uint64_t{0};
std::uint64_t tiles_from(const MemoryMachine& machine) noexcept;

/// Of operations in which each member has a block of its own, and reads those of all others, or combines what all have of its own.
/// Not in the source. All members read at the same time.
LineTime blocks_as_they_are(const MemoryMachine& machine) noexcept;
/// The same if each block crosses once for each domain.
LineTime blocks_by_domains(const MemoryMachine& machine) noexcept;

/// HF-14, HF-15: an all-reduce of one line by a binary tree, out of what it takes to read a line: of this processor's own cache, of
/// another one of its domain, of another domain, and of the most distant one. Links are not shared. In the unit of the latencies.
struct LineLatencies {
  double own = 0;
  double inside = 0;
  double across = 0;
  double distant = 0;  ///< for the first stage of a broadcast in two stages
};
double one_line_all_reduce(const LineLatencies& latencies, std::uint32_t domains, std::uint32_t members,
                           bool two_stages) noexcept;

/// HF-16: lines that cross the borders of domains, for blocks of one line.
struct Crossings {
  std::uint64_t reduce_by_tree = 0;
  std::uint64_t reduce_by_tiles = 0;       ///< that keep to domains
  std::uint64_t reduce_by_any_tiles = 0;   ///< and of those that do not
  std::uint64_t all_reduce_by_rounds = 0;  ///< of powers of two
  std::uint64_t broadcast_in_one_stage = 0;
  std::uint64_t broadcast_in_two_stages = 0;
  std::uint64_t blocks_as_they_are = 0;  ///< of a block of each member
  std::uint64_t blocks_by_domains = 0;
  std::uint64_t packed_blocks = 0;  ///< of which those of a domain fit into a line
};
Crossings crossings(const MemoryMachine& machine) noexcept;

/// HF-17: how many times as many bytes as a block has are read or written in an all-reduce of long blocks. The source's figures are
/// rough, such as 3 p for p members; these are exact. A pass over several sources reads each of them, and writes the result.
struct Touches {
  std::uint64_t tiles = 0;         ///< 3 p - 1: each input is read once, and each result copied to all others
  std::uint64_t domain_tiles = 0;  ///< 3 p + 2 s - 1 with s domains, whose partial results are in outputs
  std::uint64_t tree = 0;  ///< 5 (p - 1): pairs are combined, and the result is copied, where they lie
  /// The same if a member combines all that its children have in one pass: 3 (p - 1), and 2 for each member with children.
  std::uint64_t tree_in_passes = 0;
  std::uint64_t copied_tiles =
      0;  ///< 5 p + 1: the same as `tiles`, but copied into shared memory and out of it
  std::uint64_t copied_tree =
      0;  ///< 7 p - 3, and 2 for each member with children, which copies the result for these
  std::uint64_t copied_rounds = 0;  ///< 5 p log2 p + 4 p: recursive doubling
  std::uint64_t messages = 0;  ///< a reduce-scatter and an all-gather: 11 (p - 1) by the source's channel
  std::uint64_t message_rounds = 0;  ///< recursive doubling: 7 p log2 p by the source's channel
};
/// How often a message is copied, from the sender's memory to where the receiver uses it. The source's channel copies all twice.
struct MessageCopies {
  std::uint64_t combined = 2;  ///< of a message that is combined with others
  std::uint64_t kept = 2;
};
/// `parents`: the members of the tree that have children.
Touches touches(const MemoryMachine& machine, std::uint64_t parents,
                const MessageCopies& copies = {}) noexcept;

// Two machines that were made up, so that the forms give what the source has found: tiles from 16 KiB on, and broadcasts in one
// stage at all sizes, on one; tiles from 14 KiB on, and broadcasts in two stages at all sizes, on the other one.
inline constexpr MemoryMachine kTwoDomainsOfSix{.inside = {26'496'000, 2'000'000, 1'500'000},
                                                .across = {102'789'500, 2'410'500, 1'600'000},
                                                .domains = 2,
                                                .members = 6};
inline constexpr MemoryMachine kFourDomainsOfEight{.inside = {44'800'000, 2'000'000, 1'200'000},
                                                   .across = {120'000'000, 8'700'000, 8'000'000},
                                                   .domains = 4,
                                                   .members = 8};

}  // namespace aqueduct::coll
