#pragma once

#include "coll/schedule/tree_recipe.hpp"
#include "sim/simulate.hpp"
#include "tools/aqsim/counts.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace aqueduct::aqsim {

/// The command line of aqsim, read.
struct Options {
  std::string operation;  ///< "curves" for the table of the source's curves
  std::vector<Rank> ranks{64};
  std::vector<std::uint64_t> bytes{8};
  Counts counts;                   ///< of blocks that differ; by a rule the longest has `bytes`
  std::string algorithm = "auto";  ///< "all" for all that can do it
  std::string network = "ideal";
  std::string profile;                   ///< in place of a network
  std::uint32_t cores = 0;               ///< of each host; 0: what the network says
  bool mixed = false;                    ///< the ranks of a host are in an order by chance
  Rank ranks_per_host = 0;               ///< 0: what the network says
  sim::HostList hosts;                   ///< not given: what ranks_per_host says
  std::optional<coll::TreeRecipe> tree;  ///< of team-tree
  coll::Sync in = coll::Sync::all;
  coll::Sync out = coll::Sync::all;
  bool single = false;
  Rank root = 0;
  std::uint32_t element = 1;
  std::uint32_t times = 1;
  bool in_flight = false;
  double compute_us = 0;
  double late_us = 0;
  double noise_period_us = 0;
  double noise_us = 0;
  std::uint64_t seed = 1;
  std::uint64_t most_messages = 200'000'000;
  bool one_by_one = false;
  bool idle = false;
  std::uint32_t links = 0;
  std::string trace;
  std::string plot;
  bool json = false;
};

/// "A:B" as the powers of two times A up to B, or "A". Units K, M, G, T. Errors: BadInput.
std::vector<std::uint64_t> read_range(const std::string& text, const char* what, std::uint64_t most);
/// "8,8,3", or "64x8,3" for 64 hosts of 8 ranks and one of 3, into `hosts`. Errors: BadInput.
void read_hosts(const std::string& text, Options& options);
/// The hosts that the options give so many ranks; none if the network says. Errors: BadInput.
sim::HostList hosts_for(const Options& options, Rank ranks);
/// As AQUEDUCT_COLL_TREE. Errors: BadInput.
void read_tree(const std::string& text, Options& options);
/// "all:none". Errors: BadInput.
void read_sync(const std::string& text, Options& options);
/// "1000:25": a stop of 25 us in every 1000. Errors: BadInput.
void read_noise(const std::string& text, Options& options);
/// "all_reduce" or "all-reduce". Errors: BadInput.
coll::Operation read_operation(const std::string& word);

}  // namespace aqueduct::aqsim
