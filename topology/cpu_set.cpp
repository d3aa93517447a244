#include "topology/cpu_set.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>

#include <sched.h>

namespace aqueduct::topology {
namespace {

/// Takes a number off the beginning of the text.
bool take_number(std::string_view& text, std::uint32_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number >= kMostCpus) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

}  // namespace

std::string text_of(const CpuSet& cpus) {
  std::string text;
  for (std::size_t first = 0; first < cpus.size();) {
    std::size_t last = first;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(cpus[first]);
    if (last != first) text += (last == first + 1 ? ',' : '-') + std::to_string(cpus[last]);
    first = last + 1;
  }
  return text;
}

bool read_list(std::string_view text, std::vector<std::uint32_t>& numbers) {
  numbers.clear();
  while (!text.empty()) {
    std::uint32_t first = 0;
    if (!take_number(text, first)) return false;
    std::uint32_t last = first;
    if (text.starts_with('-')) {
      text.remove_prefix(1);
      if (!take_number(text, last) || last < first) return false;
    }
    if (numbers.size() + (last - first) >= kMostCpus) return false;
    for (std::uint32_t number = first; number <= last; ++number) numbers.push_back(number);
    if (text.empty()) return true;
    if (text.front() != ',' || text.size() == 1) return false;
    text.remove_prefix(1);
  }
  return !numbers.empty();
}

CpuSet read_set(std::string_view text) {
  CpuSet cpus;
  if (!read_list(text, cpus)) return {};
  std::ranges::sort(cpus);
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

CpuSet cpus_of_this_thread() {
  // The system refuses a set that is too small for all the processors it could have.
  for (std::size_t most = CPU_SETSIZE; most <= kMostCpus; most *= 4) {
    cpu_set_t* const set = CPU_ALLOC(most);
    if (set == nullptr) return {};
    const std::size_t bytes = CPU_ALLOC_SIZE(most);
    CPU_ZERO_S(bytes, set);
    CpuSet cpus;
    if (::sched_getaffinity(0, bytes, set) == 0) {
      for (std::size_t cpu = 0; cpu < most; ++cpu) {
        if (CPU_ISSET_S(cpu, bytes, set)) cpus.push_back(static_cast<std::uint32_t>(cpu));
      }
    }
    CPU_FREE(set);
    if (!cpus.empty()) return cpus;
  }
  return {};
}

}  // namespace aqueduct::topology
