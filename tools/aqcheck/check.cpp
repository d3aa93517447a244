#include "tools/aqcheck/check.hpp"

#include "tools/aqcheck/run.hpp"

#include <fmt/format.h>

#include <array>

namespace aqueduct::aqcheck {

namespace {

constexpr std::array kOperations{"barrier",        "broadcast",  "scatter", "gather",
                                 "all_gather",     "all_to_all", "reduce",  "all_reduce",
                                 "reduce_scatter", "scan",       "exscan",  "permute"};
constexpr std::array kModes{"none", "mine", "all"};
constexpr std::array kOrders{"", ", the same everywhere", ", exact"};

}  // namespace

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
  text += fmt::format(", {} members, root {}, {} bytes in elements of {}, {} apart, in {}, out {}, {}{}{}{}",
                      shape.ranks, shape.root, shape.bytes, shape.element, shape.pitch,
                      kModes[static_cast<std::size_t>(shape.in)], kModes[static_cast<std::size_t>(shape.out)],
                      shape.addresses == coll::Addresses::single ? "single" : "local",
                      kOrders[static_cast<std::size_t>(shape.order)],
                      shape.commutative ? "" : ", not commutative", checked.in_place ? ", in place" : "");
  return text;
}

}  // namespace aqueduct::aqcheck
