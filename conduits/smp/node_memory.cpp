#include "conduits/smp/node_memory.hpp"

#include <array>
#include <fstream>

#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace aqueduct::conduits::smp {

namespace {

constexpr unsigned kMostNodes = 1024;  // specified: Linux has no more
constexpr unsigned kWordBits = 8 * sizeof(unsigned long);

}  // namespace

std::optional<unsigned> node_of(std::span<const int> processors, const std::string& folder) {
  std::ifstream file(folder + "/online");
  std::string online;
  std::getline(file, online);
  if (processors.empty() || online.find_first_of(",-") == std::string::npos) return std::nullopt;
  const auto has = [&](unsigned node, int processor) {
    return ::access((folder + "/node" + std::to_string(node) + "/cpu" + std::to_string(processor)).c_str(),
                    F_OK) == 0;
  };
  unsigned node = 0;
  while (node < kMostNodes && !has(node, processors[0])) ++node;
  if (node == kMostNodes) return std::nullopt;
  for (const int processor : processors) {
    if (!has(node, processor)) return std::nullopt;
  }
  return node;
}

std::span<const int> my_processors(std::span<int> room) noexcept {
  cpu_set_t set;
  std::size_t count = 0;
  // With more processors than the set has room for, the call fails.
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return {};
  for (int i = 0; i < CPU_SETSIZE && count < room.size(); ++i) {
    if (CPU_ISSET(i, &set)) room[count++] = i;
  }
  return room.first(count);
}

bool prefer_node(void* at, std::size_t bytes, unsigned node) noexcept {
  std::array<unsigned long, kMostNodes / kWordBits> mask{};
  if (node >= kMostNodes) return false;
  mask[node / kWordBits] = 1ul << node % kWordBits;
  // The policy is one of the shared memory, and not of this mapping.
  return ::syscall(SYS_mbind, at, bytes, MPOL_PREFERRED, mask.data(), kMostNodes + 1, 0) == 0;
}

std::optional<unsigned> place_on_own_node(void* at, std::size_t bytes) {
  std::array<int, CPU_SETSIZE> room{};
  const auto node = node_of(my_processors(room));
  // A refusal, as by a container's filter, costs speed and nothing else.
  return node && prefer_node(at, bytes, *node) ? node : std::nullopt;
}

}  // namespace aqueduct::conduits::smp
