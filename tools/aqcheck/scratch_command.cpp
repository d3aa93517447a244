#include "tools/aqcheck/scratch_command.hpp"

#include "tools/aqcheck/scratch_pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <string>

namespace aqueduct::aqcheck {

namespace {

/// Whether all pairs of teams of that size are right. Adds their number to `checked`.
bool all_pairs_right(Rank ranks, const ScratchOptions& options, std::uint64_t& checked) {
  std::mt19937 chance(options.seed + ranks);
  std::uint64_t pairs = 0;
  std::string problem;
  const auto begin = std::chrono::steady_clock::now();
  for_each_pair({.ranks = ranks, .all = true}, [&](const ScratchPair& pair) {
    if (options.share > 1 && chance() % options.share != 0) return true;
    ++pairs;
    const std::string found = check_pair(pair);
    if (!found.empty()) problem = fmt::format("{}: {}", describe(pair), found);
    return found.empty();
  });
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  checked += pairs;
  fmt::print("{:>3} members {:>9} pairs  {:>6.1f} s  {}\n", ranks, pairs, spent.count(),
             !problem.empty() ? "WRONG"
             : pairs != 0     ? "right"
                              : "nothing to check");
  if (!problem.empty()) fmt::print("  counterexample: {}\n", problem);
  return problem.empty();
}

/// Whether a mistake is found, whichever member makes it. Some need three members, or an epoch that ends by a barrier.
bool is_found(ScratchMistake::Kind kind, Rank ranks) {
  Rank missed = kNoRank;
  std::uint64_t pairs = 0;
  std::uint64_t found = 0;
  for (Rank member = 0; member < ranks; ++member) {
    const std::uint64_t before = found;
    for_each_pair({.ranks = ranks}, [&](const ScratchPair& pair) {
      ++pairs;
      found += check_pair(pair, {kind, member}).empty() ? 0 : 1;
      return true;
    });
    if (found == before) missed = member;
  }
  fmt::print("{:<36} found in {:>6} of {} pairs\n", name_of(kind), found, pairs);
  if (missed != kNoRank) fmt::print("  NOT FOUND if member {} makes it\n", missed);
  return missed == kNoRank;
}

}  // namespace

int run_scratch(const ScratchOptions& options) {
  if (options.most < 2) {
    fmt::print(stderr, "aqcheck: --scratch is about teams of at least two members: give greater --ranks\n");
    return 2;
  }
  bool right = true;
  if (options.mutations) {
    for (const ScratchMistake::Kind kind : scratch_mistakes()) right &= is_found(kind, options.most);
    return right ? 0 : 1;
  }
  std::uint64_t checked = 0;
  for (Rank ranks = std::max<Rank>(options.least, 2); ranks <= options.most; ++ranks)
    right &= all_pairs_right(ranks, options, checked);
  if (checked == 0) {
    fmt::print(stderr, "aqcheck: nothing was checked: no pair by chance: give a smaller --share\n");
    return 2;
  }
  return right ? 0 : 1;
}

}  // namespace aqueduct::aqcheck
