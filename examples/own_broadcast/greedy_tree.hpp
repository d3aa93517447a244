#pragma once

#include <aqueduct/algorithm.hpp>

#include <array>
#include <cstdint>

// A broadcast that the library does not have: the fastest tree for short blocks on a network in which a message takes `delay`
// times as long as the sender needs for it. Whoever has the bytes sends without a pause, always to the next member that has
// nothing yet. With a delay of 1 that is the binomial tree, with a long one the flat tree.
//
// Source: Karp, Sahay, Santos and Schauser, Optimal broadcast and summation in the LogP model, SPAA 1993.

namespace example {

constexpr aqueduct::Rank kMostOfGreedyTree = 128;

/// The tree, with members counted from the root, in the order in which they get the bytes.
struct GreedyTree {
  std::array<aqueduct::Rank, kMostOfGreedyTree> parent{};
  std::uint32_t depth = 0;

  GreedyTree(aqueduct::Rank ranks, std::uint32_t delay) noexcept {
    std::array<std::uint32_t, kMostOfGreedyTree> free{};  // when a member can send its next message
    std::array<std::uint32_t, kMostOfGreedyTree> depths{};
    for (aqueduct::Rank next = 1; next < ranks; ++next) {
      aqueduct::Rank first = 0;
      for (aqueduct::Rank i = 1; i < next; ++i) {
        if (free[i] < free[first]) first = i;
      }
      parent[next] = first;
      depths[next] = depths[first] + 1;
      depth = depths[next] > depth ? depths[next] : depth;
      free[next] = free[first] + delay;
      free[first] += 1;
    }
  }
};

inline aqueduct::CollectiveAlgorithm greedy_tree() {
  using aqueduct::AlgorithmCall;
  using aqueduct::StepMemory;
  return {
      .name = "greedy-tree",
      .operation = aqueduct::Collective::broadcast,
      .parameters = {{.name = "delay", .least = 1, .most = 64, .usual = 4}},
      .refusal = [](const AlgorithmCall& call) noexcept -> const char* {
        return call.ranks > kMostOfGreedyTree ? "it is for up to 128 members" : nullptr;
      },
      .needs = [](const AlgorithmCall& call) noexcept -> aqueduct::AlgorithmNeeds {
        return {.scratch = call.bytes, .counters = 1};
      },
      .cost = [](const AlgorithmCall& call) noexcept -> aqueduct::AlgorithmCost {
        const std::uint64_t others = call.ranks - 1;
        return {others, others * call.bytes, GreedyTree(call.ranks, call.parameters[0]).depth};
      },
      .build =
          [](const AlgorithmCall& call, aqueduct::Rank member, aqueduct::StepList& steps) noexcept {
            const GreedyTree tree(call.ranks, call.parameters[0]);
            const aqueduct::Rank me = (member + call.ranks - call.root) % call.ranks;
            if (me != 0) steps.wait(0, 1);  // until the parent's put is here
            const auto from = me == 0 ? StepMemory::input : StepMemory::scratch;
            for (aqueduct::Rank child = me + 1; child < call.ranks; ++child) {
              if (tree.parent[child] == me)
                steps.put((child + call.root) % call.ranks, {from, 0}, /*to_scratch=*/0, call.bytes,
                          /*counter=*/0);
            }
            steps.copy({from, 0}, {StepMemory::output, 0}, call.bytes);
          },
  };
}

}  // namespace example
