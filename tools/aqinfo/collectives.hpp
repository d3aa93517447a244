#pragma once

#include <aqueduct/config.hpp>

#include "coll/tune/chooser.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace aqueduct::aqinfo {

/// What `aqinfo --collectives` is asked.
struct CollectivesQuestion {
  Rank ranks = 16;
  std::uint32_t processors = 0;      ///< of each host; 0: those of this one
  bool sockets = false;              ///< the network's bytes go through sockets; set by gather_collectives
  std::vector<std::uint64_t> bytes;  ///< of a block, rising; empty: 8 bytes to 64 MiB, the powers of two
};

/// Sizes for which the same algorithm runs in the same way: those of the question from `from` to `to`.
struct ChoiceRange {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::string algorithm;    ///< "k-nomial:radix=4", without segments, which differ with the size; empty: none
  std::uint64_t piece = 0;  ///< bytes of each block in a piece; 0: the operation runs in one
  std::string why;          ///< why there is none
  std::string_view by;      ///< "rules", "model" or "measurement"
};

/// The choices of one operation for one kind of team.
struct ChoiceCase {
  bool one_host = true;
  bool single = true;    ///< all members' buffers are known
  bool crowded = false;  ///< the one host has fewer processors than members
  std::vector<ChoiceRange> ranges;
};

struct CollectiveFacts {
  std::string_view operation;
  std::string_view variable;  ///< the setting that names the algorithm
  std::vector<std::string>
      algorithms;  ///< that the setting may name, with limits: "k-nomial:radix=2..64,segments=1..64"
  std::vector<ChoiceCase> cases;
};

/// The processors of a host in the question. Two processes of one host get the same answer, however they are bound.
std::uint32_t processors_of(const CollectivesQuestion& question);

/// For sums of double, with Sync::all at both ends, root 0, and scratch of the usual size.
std::vector<CollectiveFacts> gather_collectives(const Config& config, const CollectivesQuestion& question);

/// The choices as text and as one JSON object, with the problems of the settings.
std::string collectives_as_text(const std::vector<CollectiveFacts>& facts,
                                const CollectivesQuestion& question, const Config& config);
std::string collectives_as_json(const std::vector<CollectiveFacts>& facts,
                                const CollectivesQuestion& question, const Config& config);

/// Reads "8,1K,64M" into `bytes`, in rising order; an empty list has no sizes. Returns what is wrong, or an empty string.
std::string read_byte_list(std::string_view list, std::vector<std::uint64_t>& bytes);

}  // namespace aqueduct::aqinfo
