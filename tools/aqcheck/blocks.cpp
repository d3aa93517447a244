#include "tools/aqcheck/blocks.hpp"

#include <algorithm>
#include <numeric>
#include <random>

namespace aqueduct::aqcheck {

using coll::BlockAt;
using coll::Operation;

namespace {

/// Gives the blocks of a buffer their places, in any order and with gaps.
void place(std::vector<BlockAt>& blocks, std::mt19937& chance) {
  std::vector<std::size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[chance() % i]);
  std::uint64_t end = 0;
  for (const std::size_t i : order) {
    blocks[i].at = end + chance() % 3;
    end = blocks[i].at + blocks[i].bytes;
  }
}

/// The length of the block from one member to another.
std::uint64_t length_of(const coll::Shape& shape, Rank from, Rank to,
                        const std::vector<std::uint64_t>& lengths) {
  switch (shape.operation) {
    case Operation::scatter_v: return from == shape.root ? lengths[to] : 0;
    case Operation::gather_v: return to == shape.root ? lengths[from] : 0;
    case Operation::all_gather_v: return lengths[from];
    default: return lengths[from * shape.ranks + to];
  }
}

/// Where an operation with one block of a member in one buffer has it: at its beginning, for all peers.
void make_single(std::vector<BlockAt>& blocks) {
  for (BlockAt& block : blocks) block.at = 0;
}

void set_permutation(CaseBlocks& out, Rank ranks, std::uint64_t most, std::mt19937& chance) {
  std::vector<Rank> to(ranks);
  std::iota(to.begin(), to.end(), Rank{0});
  for (std::size_t i = ranks; i > 1; --i) std::swap(to[i - 1], to[chance() % i]);
  for (Rank i = 0; i < ranks; ++i) {
    out.sends.push_back({{chance() % 3, most}});
    out.receives.push_back({{chance() % 3, most}});
    out.views[i].to = to[i];
  }
}

}  // namespace

bool has_blocks(Operation operation) noexcept {
  return operation == Operation::permute || coll::has_counts(operation);
}

std::shared_ptr<const CaseBlocks> chance_blocks(const coll::Shape& shape, std::uint64_t most,
                                                std::uint64_t begin, std::uint32_t seed) {
  std::mt19937 chance(seed);
  auto out = std::make_shared<CaseBlocks>();
  const Rank ranks = shape.ranks;
  out->views.resize(ranks);
  if (shape.operation == Operation::permute) {
    set_permutation(*out, ranks, most, chance);
  } else {
    std::vector<std::uint64_t> lengths(std::size_t{ranks} * ranks);
    for (std::uint64_t& one : lengths) one = chance() % 3 == 0 ? 0 : chance() % (most + 1);
    for (Rank member = 0; member < ranks; ++member) {
      std::vector<BlockAt>& sends = out->sends.emplace_back(ranks);
      std::vector<BlockAt>& receives = out->receives.emplace_back(ranks);
      for (Rank peer = 0; peer < ranks; ++peer) {
        sends[peer].bytes = length_of(shape, member, peer, lengths);
        receives[peer].bytes = length_of(shape, peer, member, lengths);
      }
      place(sends, chance);
      place(receives, chance);
      if (shape.operation == Operation::gather_v || shape.operation == Operation::all_gather_v)
        make_single(sends);
      if (shape.operation == Operation::scatter_v) make_single(receives);
    }
  }
  for (Rank member = 0; member < ranks; ++member) {
    coll::MemberBlocks& view = out->views[member];
    view.sends = out->sends[member].data();
    view.receives = out->receives[member].data();
    view.begin = begin;
    for (Rank from = 0; from < ranks; ++from)
      view.senders += from != member && out->received(from, member, shape.bytes).bytes != 0 ? 1 : 0;
  }
  return out;
}

}  // namespace aqueduct::aqcheck
