#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace aqueduct::topology {

/// Processors by the system's numbers, in rising order.
using CpuSet = std::vector<std::uint32_t>;

/// "0-3,8"; empty for none.
std::string text_of(const CpuSet& cpus);
/// Reads numbers and ranges, in any order and repeated: "8,0-3". False if the text is something else, or names more than
/// kMostCpus processors.
bool read_list(std::string_view text, std::vector<std::uint32_t>& numbers);
/// As read_list, as a set. Empty if the text is none.
CpuSet read_set(std::string_view text);

/// More than any host has. Chosen.
inline constexpr std::uint32_t kMostCpus = 65536;

/// The processors on which the calling thread may run; empty if the system does not say.
CpuSet cpus_of_this_thread();

}  // namespace aqueduct::topology
