#include "coll/schedule/added_samples.hpp"

#include "coll/schedule/added_steps.hpp"
#include "coll/schedule/schedule.hpp"

#include <fmt/format.h>

#include <functional>
#include <vector>

namespace aqueduct::coll {

namespace {

/// Chosen: `build` may take a time that rises with the square of the members, so that larger ones are for the checker.
constexpr Rank kTeams[] = {2, 3, 5, 8, 16, 33, 64};
constexpr std::uint64_t kBlocks[] = {0, 8, 4096};

/// Visits calls that the algorithm does: of few bytes, without passes, from the first root and from the last.
void for_each_sample(const AddedAlgorithm& added, const std::function<void(const Shape&)>& visit) {
  Shape shape;
  shape.operation = added.given.operation;
  shape.in = Sync::none;
  shape.out = Sync::mine;
  shape.order = Order::same_everywhere;
  shape.added.of = &added;
  for (std::size_t i = 0; i < added.parameters.size(); ++i) shape.parameters[i] = added.parameters[i].usual;
  for (const Rank ranks : kTeams) {
    for (const std::uint64_t bytes : kBlocks) {
      shape.ranks = ranks;
      shape.bytes = shape.pitch = bytes;
      shape.element = bytes == 0 ? 1 : 8;
      shape.root = 0;
      if (Schedule::refusal(added.algorithm, shape) == nullptr) visit(shape);
      if (!has_root(shape.operation)) continue;
      shape.root = ranks - 1;
      if (Schedule::refusal(added.algorithm, shape) == nullptr) visit(shape);
    }
  }
}

/// Every wait is for all that is ever added to its counter, and what is added is waited for.
std::string wrong_counters(const AddedAlgorithm& added, const Shape& shape) {
  const std::uint32_t counters = added.algorithm.needs(shape).counters;
  std::vector<std::uint64_t> raised(std::size_t{shape.ranks} * counters);
  std::vector<std::uint64_t> awaited(raised.size());
  for (Rank member = 0; member < shape.ranks; ++member) {
    for (const Step& step : all_steps(shape, member)) {
      if (step.raise != kNoCounter) ++raised[std::size_t{step.peer} * counters + step.raise];
      if (step.done != kNoCounter) ++raised[std::size_t{member} * counters + step.done];
      if (step.wait_for == kNoCounter) continue;
      std::uint64_t& value = awaited[std::size_t{member} * counters + step.wait_for];
      if (value != 0 && value != step.wait_until)
        return fmt::format("member {} of {} waits for {} and for {} on counter {}", member, shape.ranks,
                           value, step.wait_until, step.wait_for);
      value = step.wait_until;
    }
  }
  for (std::size_t i = 0; i < raised.size(); ++i) {
    if (raised[i] != awaited[i])
      return fmt::format("member {} of {} waits for {} on counter {}, to which {} is added in all",
                         i / counters, shape.ranks, awaited[i], i % counters, raised[i]);
  }
  return {};
}

std::uint64_t mixed(std::uint64_t hash, std::uint64_t with) noexcept {
  hash = (hash ^ with) * 0x9e37'79b9'7f4a'7c15;
  return hash ^ (hash >> 29);
}

std::uint64_t mixed(std::uint64_t hash, const Place& place) noexcept {
  return mixed(mixed(hash, static_cast<std::uint64_t>(place.space)), place.offset);
}

std::uint64_t mixed(std::uint64_t hash, const Step& step) noexcept {
  hash = mixed(hash, static_cast<std::uint64_t>(step.kind) | std::uint64_t{step.peer} << 32);
  for (const Place* const place : {&step.from, &step.with, &step.to}) hash = mixed(hash, *place);
  hash = mixed(hash, step.bytes);
  hash = mixed(
      hash, std::uint64_t{step.wait_for} | std::uint64_t{step.raise} << 16 | std::uint64_t{step.done} << 32);
  return mixed(hash, step.wait_until);
}

}  // namespace

std::string wrong_samples(const AddedAlgorithm& added) {
  std::string problem;
  for_each_sample(added, [&](const Shape& shape) {
    for (Rank member = 0; member < shape.ranks && problem.empty(); ++member)
      problem = wrong_steps(added.algorithm, shape, member);
    if (problem.empty()) problem = wrong_counters(added, shape);
  });
  return problem;
}

std::uint64_t hash_of_samples(const AddedAlgorithm& added) {
  std::uint64_t hash = 1;
  for_each_sample(added, [&](const Shape& shape) {
    const Needs needs = added.algorithm.needs(shape);
    const Cost cost = added.algorithm.cost(shape);
    for (const std::uint64_t number :
         {needs.scratch, needs.temp, std::uint64_t{needs.counters}, cost.messages, cost.bytes,
          std::uint64_t{cost.depth}, std::uint64_t{shape.ranks}, shape.bytes})
      hash = mixed(hash, number);
    for (Rank member = 0; member < shape.ranks; ++member) {
      for (const Step& step : all_steps(shape, member)) hash = mixed(hash, step);
    }
  });
  return hash;
}

}  // namespace aqueduct::coll
