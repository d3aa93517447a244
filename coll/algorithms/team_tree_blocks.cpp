#include "coll/algorithms/team_tree_blocks.hpp"

namespace aqueduct::coll {

TeamTreeBlocks::TeamTreeBlocks(const Shape& shape) noexcept
    : places(*shape.team_tree.of),
      tree(places, shape.root),
      root(shape.root),
      at_root(places.place_of(shape.root)),
      ranks(shape.ranks),
      bytes(shape.bytes),
      pitch(shape.pitch),
      run_(places.run_of(at_root)) {}

std::uint64_t TeamTreeBlocks::blocks_sent() const noexcept {
  std::uint64_t blocks = 0;
  for (Rank member = 0; member < ranks; ++member) blocks += member == root ? 0 : tree.subtree(member);
  return blocks;
}

TeamTreeBlocks::Piece TeamTreeBlocks::piece(std::uint32_t index) const noexcept {
  Rank begin = at_root + 1;
  Rank end = places.run_end(run_);
  if (first_is_empty()) ++index;
  if (index > 0) {
    const std::uint32_t run = run_ + index < places.runs() ? run_ + index : run_ + index - places.runs();
    begin = places.run_begin(run);
    end = run == run_ ? at_root : places.run_end(run);
  }
  return {places.member_at(begin), end - begin, tree.behind(at_root, begin)};
}

}  // namespace aqueduct::coll
