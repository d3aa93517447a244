#include "coll/tune/memory_lines.hpp"

#include "coll/algorithms/algorithms.hpp"
#include "coll/tune/board_choice.hpp"
#include "coll/tune/memory_choice.hpp"

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

std::string memory_lines(const Shape& shape, const MemoryMachine& machine, const TeamTraits& team,
                         std::string_view costs) {
  std::string times;
  for (const Algorithm& algorithm : board_algorithms()) {
    if (algorithm.operation != shape.operation) continue;
    const auto time = time_of_bytes(algorithm.board, shape, machine);
    if (!time || fit_board(algorithm, {}, shape, team).refusal != nullptr) continue;
    times += fmt::format("{} {} {}", times.empty() ? "" : ",", algorithm.name, text_of_time(*time));
  }
  if (times.empty()) return {};
  std::string text = fmt::format("  by the model of memory ({}):{}", costs, times);
  if (shape.operation == Operation::reduce || shape.operation == Operation::all_reduce) {
    const std::uint64_t from = tiles_from(machine);
    text += from == kTilesNever ? std::string("; tiles never gain")
                                : fmt::format("; tiles gain from {} bytes on", 64 * from);
  }
  return text + '\n';
}

std::string guess_lines(const Shape& shape, const TeamTraits& team) {
  const BoardGuesses guesses = guesses_of(shape, team);
  std::string times;
  for (const BoardGuess& one : guesses.made()) {
    times += fmt::format("{} {}{} {}", times.empty() ? "" : ",", one.algorithm->name,
                         one.wanted[0] == 0 ? std::string() : fmt::format(":radix={}", one.wanted[0]),
                         text_of_time(one.femtoseconds));
  }
  if (times.empty()) return {};
  return fmt::format("  by assumed costs of memory, the least of which is preferred to rules:{}\n", times);
}

std::string packed_lines(const Shape& shape, std::span<const std::uint32_t> first) {
  const std::uint64_t domains = first.size() - 1;
  std::uint64_t across = 0;
  for (std::uint64_t domain = 0; domain < domains; ++domain)
    across += (domains - 1) * lines_of_payload((first[domain + 1] - first[domain]) * shape.bytes);
  const std::uint64_t inside =
      (shape.ranks - domains) * (lines_of_payload(shape.bytes) + lines_of_payload(shape.ranks * shape.bytes));
  return fmt::format("  {} lines cross between {} domains of memory, and {} move inside them\n", across,
                     domains, inside);
}

}  // namespace aqueduct::coll
