#include "coll/tune/memory_lines.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace aqueduct::coll {

namespace {

LineCost line_cost(const NetworkModel& model, std::uint64_t bytes) noexcept {
  const NetworkCost& cost = model.at(bytes);
  const auto first = static_cast<std::uint64_t>((cost.latency + cost.overhead).count()) * 1000;
  // A machine takes some time for a line.
  const std::uint64_t each = std::max<std::uint64_t>(64 * cost.femtoseconds_per_byte, 1);
  return {first, each, each};
}

std::string text_of_time(std::uint64_t femtoseconds) {
  return fmt::format("{:.3f} us", static_cast<double>(femtoseconds) / 1e9);
}

}  // namespace

MemoryMachine memory_machine(const MemoryDomains& domains, const NetworkModel& inside,
                             const NetworkModel& across, std::uint64_t bytes) noexcept {
  return {.inside = line_cost(inside, bytes),
          .across = line_cost(across, bytes),
          .domains = domains.count,
          .members = domains.largest};
}

std::string memory_lines(const Shape& shape, const MemoryMachine& machine) {
  const std::uint64_t lines = (shape.bytes + 63) / 64;
  std::string text = "  by the model of memory:";
  const auto add = [&](const char* algorithm, std::uint64_t time) {
    text += fmt::format("{} {} {}", text.back() == ':' ? "" : ",", algorithm, text_of_time(time));
  };
  const auto end_of_reduction = [&] {
    const std::uint64_t from = tiles_from(machine);
    text += from == kTilesNever ? std::string("; tiles never gain")
                                : fmt::format("; tiles gain from {} bytes on", 64 * from);
  };
  switch (shape.operation) {
    case Operation::broadcast:
      add("mapped", broadcast_in_one_stage(machine).of(lines));
      add("mapped-domains", broadcast_in_two_stages(machine).of(lines));
      break;
    case Operation::reduce:
      add("flags-tree", reduce_by_tree(machine).of(lines));
      add("mapped-domain-tiles", reduce_by_tiles(machine).of(lines));
      end_of_reduction();
      break;
    case Operation::all_reduce:
      add("flags-tree", all_reduce_by_tree_time(machine, lines));
      add("mapped-domain-tiles", all_reduce_by_tiles_time(machine, lines));
      add("flags-dissemination", all_reduce_by_rounds(machine).of(lines));
      end_of_reduction();
      break;
    case Operation::all_gather:
      add("mapped", blocks_as_they_are(machine).of(lines));
      add("mapped-domain-blocks", blocks_by_domains(machine).of(lines));
      break;
    case Operation::reduce_scatter:
      add("mapped-tiles", blocks_as_they_are(machine).of(lines));
      add("mapped-domain-tiles", blocks_by_domains(machine).of(lines));
      break;
    default: return {};
  }
  return text + '\n';
}

}  // namespace aqueduct::coll
