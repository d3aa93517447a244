#include "tools/aqcheck/check.hpp"

#include "tools/aqcheck/run.hpp"

#include <fmt/format.h>

#include <array>

namespace aqueduct::aqcheck {

namespace {

constexpr std::array kOperations{"barrier",        "broadcast",  "scatter",      "gather",
                                 "all_gather",     "all_to_all", "reduce",       "all_reduce",
                                 "reduce_scatter", "scan",       "exscan",       "permute",
                                 "scatter_v",      "gather_v",   "all_gather_v", "all_to_all_v"};
constexpr std::array kModes{"none", "mine", "all"};
constexpr std::array kReached{"", ", odd outputs reached", ", outputs reached"};
constexpr std::array kOrders{"", ", the same everywhere", ", exact"};

}  // namespace

coll::BlockAt CaseBlocks::sent(Rank from, Rank to, std::uint64_t bytes) const noexcept {
  const coll::MemberBlocks& view = views[from];
  if (view.to != kNoRank && view.to != to) return {};
  return view.part(sends[from][view.to != kNoRank ? 0 : to], bytes);
}
coll::BlockAt CaseBlocks::received(Rank from, Rank to, std::uint64_t bytes) const noexcept {
  const coll::MemberBlocks& view = views[to];
  if (views[from].to != kNoRank && views[from].to != to) return {};
  return view.part(receives[to][view.to != kNoRank ? 0 : from], bytes);
}

Verdict check(const Case& checked, const Change& change) {
  thread_local Run run;  // its memory serves case after case
  return run.check(checked, change);
}

const char* name_of(coll::Operation operation) noexcept {
  return kOperations[static_cast<std::size_t>(operation)];
}

std::string describe(const Case& checked) {
  const coll::Shape& shape = checked.shape;
  std::string text = fmt::format("{} {}", name_of(shape.operation), checked.algorithm->name);
  for (std::size_t i = 0; i < checked.algorithm->parameters.size(); ++i)
    text += fmt::format(" {}={}", checked.algorithm->parameters[i].name, shape.parameters[i]);
  text += fmt::format(
      ", {} members, root {}, {} bytes in elements of {}, {} apart, in {}, out {}, {}{}{}{}{}", shape.ranks,
      shape.root, shape.bytes, shape.element, shape.pitch, kModes[static_cast<std::size_t>(shape.in)],
      kModes[static_cast<std::size_t>(shape.out)],
      shape.addresses == coll::Addresses::single ? "single" : "local",
      kOrders[static_cast<std::size_t>(shape.order)], shape.commutative ? "" : ", not commutative",
      checked.in_place ? ", in place" : "", kReached[static_cast<std::size_t>(checked.reached)]);
  if (shape.few_signals) text += ", few signals";
  if (checked.tree != nullptr) text += ", tree " + checked.tree_text;
  if (checked.groups != nullptr) {
    text += ", hosts of";
    for (Rank group = 0; group < checked.groups->count(); ++group)
      text += fmt::format(" {}", checked.groups->size(group));
    if (!checked.groups->in_team_order()) text += " not in team order";
  }
  if (checked.blocks == nullptr) return text;
  text += fmt::format(", blocks from byte {} on:", checked.blocks->views.front().begin);
  for (const auto& row : checked.blocks->sends) {
    text += " [";
    for (const coll::BlockAt& block : row) text += fmt::format(" {}", block.bytes);
    text += " ]";
  }
  return text;
}

}  // namespace aqueduct::aqcheck
