#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace aqueduct::conduits::smp {

/// The NUMA node to which these processors belong. Nothing if they are of several nodes, if there is one node, or if the
/// system does not say. May throw std::bad_alloc.
///
/// `folder`: of the system's files on nodes (Linux): `online`, and for each node a folder with an entry for each processor.
std::optional<unsigned> node_of(std::span<const int> processors,
                                const std::string& folder = "/sys/devices/system/node");
/// The processors on which the calling thread may run, as many as there is room for; none if the system does not say.
std::span<const int> my_processors(std::span<int> room) noexcept;

/// Asks the system to take pages of shared memory from a node, whichever process touches them first. Where that node has
/// none left, another one serves. `at` is at a border of pages. False: the system refuses, errno says why.
bool prefer_node(void* at, std::size_t bytes, unsigned node) noexcept;

/// Asks for memory on the node of the calling thread, if it is bound to one: this rank uses its own memory most, but others
/// may be the first to touch it. Does nothing on a machine of one node. Returns the node; nothing if the memory was not placed.
std::optional<unsigned> place_on_own_node(void* at, std::size_t bytes);

}  // namespace aqueduct::conduits::smp
