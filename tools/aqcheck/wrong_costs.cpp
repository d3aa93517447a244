#include "tools/aqcheck/wrong_costs.hpp"

#include "tools/aqcheck/study.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace aqueduct::aqcheck {

using coll::Shape;

namespace {

/// The puts of a circulant all-gather of blocks that differ: in the round that brings a member from `had` to `has` blocks it
/// sends its first has - had ones, if there is anything in them.
std::uint64_t circulant_puts(const Case& checked) {
  const Rank ranks = checked.shape.ranks;
  const auto length = [&](Rank member) {
    return checked.blocks->sent(member, (member + 1) % ranks, checked.shape.bytes).bytes;
  };
  std::uint64_t puts = 0;
  for (Rank has = ranks; has > 1; has = (has + 1) / 2) {
    for (Rank member = 0; member < ranks; ++member) {
      std::uint64_t bytes = 0;
      for (Rank i = 0; i < has - (has + 1) / 2; ++i) bytes += length((member + i) % ranks);
      puts += bytes != 0 ? 1 : 0;
    }
  }
  return puts;
}

/// The cost of blocks that differ: a message for each that is not empty, and the passes. Each block goes to each of its
/// receivers once, also if others pass it on.
coll::Cost cost_of_blocks(const Case& checked) {
  Shape passes = checked.shape;
  passes.bytes = 0;
  coll::Cost cost = coll::Schedule::cost(*checked.algorithm, passes);
  const coll::Cost with_blocks = coll::Schedule::cost(*checked.algorithm, checked.shape);
  const bool circulant = checked.algorithm->name == "circulant";
  std::uint64_t puts = 0;
  for (Rank from = 0; from < passes.ranks; ++from) {
    for (Rank to = 0; to < passes.ranks; ++to) {
      const std::uint64_t bytes = from == to ? 0 : checked.blocks->sent(from, to, checked.shape.bytes).bytes;
      puts += bytes != 0 ? 1 : 0;
      cost.bytes += bytes;
    }
  }
  cost.messages += circulant && puts != 0 ? circulant_puts(checked) : puts;
  if (puts != 0) cost.depth = with_blocks.depth;
  cost.depth_is_limit = true;
  return cost;
}

}  // namespace

std::string wrong_costs(const Case& checked, const Counted& counted) {
  const auto agrees = [](std::uint64_t found, std::uint64_t expected, bool limit) {
    return limit ? found <= expected : found == expected;
  };
  const coll::Cost cost = checked.blocks != nullptr ? cost_of_blocks(checked)
                                                    : coll::Schedule::cost(*checked.algorithm, checked.shape);
  if (counted.messages != cost.messages || counted.bytes != cost.bytes ||
      !agrees(counted.depth, cost.depth, cost.depth_is_limit)) {
    return fmt::format("the formula says {} messages, {} bytes, depth {}; counted are {}, {}, {}",
                       cost.messages, cost.bytes, cost.depth, counted.messages, counted.bytes, counted.depth);
  }
  const StudyEntry* const entry = find_in_study(*checked.algorithm);
  if (entry == nullptr || checked.blocks != nullptr) return {};
  const Studied said = studied(*entry, checked.shape);
  if (agrees(counted.messages, said.messages, said.fewer_messages) && counted.bytes == said.bytes &&
      agrees(counted.depth, said.depth, said.less_depth))
    return {};
  const auto most = [](bool limit) { return limit ? "at most " : ""; };
  return fmt::format("the study says {}{} messages, {} bytes, depth {}{}; counted are {}, {}, {}",
                     most(said.fewer_messages), said.messages, said.bytes, most(said.less_depth), said.depth,
                     counted.messages, counted.bytes, counted.depth);
}

}  // namespace aqueduct::aqcheck
