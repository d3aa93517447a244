#include "sim/member_counts.hpp"

#include "sim/free_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace aqueduct::sim {

using coll::BlockAt;
using coll::Operation;

namespace {

/// Blocks one after the other.
std::vector<BlockAt> side_by_side(std::span<const std::uint64_t> bytes, std::size_t stride = 1) {
  std::vector<BlockAt> out;
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < bytes.size(); i += stride) {
    out.push_back({at, bytes[i]});
    at += bytes[i];
  }
  return out;
}

/// Refuses a simulation whose lists of blocks do not fit into memory. A list has one entry for each member.
void need_lists(std::uint64_t lists, Rank ranks) {
  need_memory(lists * ranks * sizeof(BlockAt),
              fmt::format("{} lists of the blocks of {} members", lists, ranks));
}

std::uint32_t count_senders(std::span<const BlockAt> blocks, Rank member) {
  const auto full =
      std::count_if(blocks.begin(), blocks.end(), [](const BlockAt& block) { return block.bytes != 0; });
  return static_cast<std::uint32_t>(full) - (blocks[member].bytes != 0 ? 1 : 0);
}

}  // namespace

MemberCounts::MemberCounts(const coll::Shape& shape, std::span<const std::uint64_t> bytes)
    : longest_(bytes.empty() ? 0 : *std::max_element(bytes.begin(), bytes.end())), views_(shape.ranks) {
  if (bytes.size() > shape.ranks)
    set_pairs(shape.ranks, bytes);
  else
    set_members(shape, bytes);
}

void MemberCounts::set_pairs(Rank ranks, std::span<const std::uint64_t> bytes) {
  need_lists(2 * std::uint64_t{ranks}, ranks);
  for (Rank member = 0; member < ranks; ++member) {
    const auto& sends = lists_.emplace_back(side_by_side(bytes.subspan(std::size_t{member} * ranks, ranks)));
    views_[member].sends = sends.data();
    const auto& receives = lists_.emplace_back(side_by_side(bytes.subspan(member), ranks));
    views_[member].receives = receives.data();
    views_[member].senders = count_senders(receives, member);
  }
}

// Members whose blocks are equally long share a list, and so do all members that receive a block from each, and those
// that receive nothing.
void MemberCounts::set_members(const coll::Shape& shape, std::span<const std::uint64_t> bytes) {
  need_lists(std::set<std::uint64_t>(bytes.begin(), bytes.end()).size() + 2, shape.ranks);
  const bool from_root = shape.operation == Operation::scatter_v;
  const bool to_root = shape.operation == Operation::gather_v;
  const std::uint64_t step = shape.operation == Operation::all_to_all_v ? 1 : 0;  // one block for each peer
  std::map<std::uint64_t, std::vector<BlockAt>> found;                            // by length
  const auto alike = [&](std::uint64_t each) {
    const auto [at, is_new] = found.try_emplace(each);
    if (is_new) {
      for (Rank peer = 0; peer < shape.ranks; ++peer) at->second.push_back({step * peer * each, each});
    }
    return at->second.data();
  };
  const std::vector<BlockAt> of_all = side_by_side(bytes);
  const auto senders = count_senders(of_all, 0) + (of_all.front().bytes != 0 ? 1 : 0);
  lists_.push_back(of_all);
  const BlockAt* const all = lists_.front().data();
  for (Rank member = 0; member < shape.ranks; ++member) {
    const bool root = member == shape.root;
    const std::uint64_t mine = bytes[member];
    coll::MemberBlocks& view = views_[member];
    if (from_root) {
      view.sends = root ? all : alike(0);
      view.receives = alike(mine);
      view.senders = !root && mine != 0 ? 1 : 0;
    } else {
      const bool receives = !to_root || root;
      view.sends = alike(mine);
      view.receives = receives ? all : alike(0);
      view.senders = receives ? senders - (mine != 0 ? 1 : 0) : 0;
    }
  }
  for (auto& [length, list] : found) lists_.push_back(std::move(list));  // which keeps where they are
}

}  // namespace aqueduct::sim
