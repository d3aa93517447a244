#include "coll/engine/checked_blocks.hpp"

#include "coll/engine/checked_request.hpp"
#include "coll/engine/refusal_text.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <new>

namespace aqueduct::coll {

using aqueduct::detail::CollBlocksCall;
using aqueduct::detail::CollBuffer;
using aqueduct::detail::TeamState;

namespace {

constexpr std::uint64_t kMostBytes = std::numeric_limits<std::uint64_t>::max();

/// One buffer of a call, and where its blocks begin and end.
struct Side {
  const char* name;
  const CollBuffer& given;
  const CollBlocks& blocks;
  bool disjoint;            ///< its blocks must not overlap
  std::uint64_t first = 0;  ///< the beginning of the first block in memory, in bytes
  std::uint64_t end = 0;    ///< the end of the last one; 0: all blocks are empty

  std::byte* memory() const noexcept { return static_cast<std::byte*>(given.memory); }
};

/// Looks at one call. Each function returns the refusal, or Status().
class BlocksCheck {
 public:
  BlocksCheck(TeamState& team, const CollBlocksCall& call, BlocksCall& checked, std::string& why) noexcept
      : call_(call), checked_(checked), why_(why), ranks_(team.size()), me_(team.index) {}

  /// May throw std::bad_alloc.
  Status check() {
    if (const Status status = check_options(call_, ranks_, why_); !status) return status;
    if (call_.operation != Collective::permute && !has_counts(call_.operation))
      return refusal(why_, "operation {} has no form with counts: see coll_v.hpp",
                     static_cast<unsigned>(call_.operation));
    prepare();
    if (const Status status = check_kinds(); !status) return status;
    if (const Status status = read(); !status) return status;
    if (const Status status = check_overlap(); !status) return status;
    take_own_out();
    sum_up();
    return {};
  }

 private:
  bool permutes() const noexcept { return call_.operation == Collective::permute; }
  bool is_root() const noexcept { return me_ == call_.root; }
  bool in_place() const noexcept {
    return call_.operation == Collective::all_gather_v && call_.in.where == CollBuffer::Where::nowhere;
  }
  bool has_in() const noexcept { return call_.operation != Collective::scatter_v || is_root(); }
  bool has_out() const noexcept { return call_.operation != Collective::gather_v || is_root(); }

  void prepare() {
    Request& request = checked_.request;
    request = {};
    Shape& shape = request.shape;
    shape.operation = call_.operation;
    shape.in = call_.options.in;
    shape.out = call_.options.out;
    shape.ranks = ranks_;
    shape.root = has_root(call_.operation) ? call_.root : 0;
    request.description = description_of(call_, ranks_);
    const std::size_t blocks = permutes() ? 1 : ranks_;
    checked_.sends.assign(blocks, {});
    checked_.receives.assign(blocks, {});
    checked_.own_from = checked_.own_to = {};
    checked_.to = checked_.from = kNoRank;
    checked_.told.resize(ranks_);  // now, since all members need them at once if lengths differ
    checked_.heard.resize(ranks_);
    checked_.stage = BlocksCall::Stage::comparing;
    checked_.mine = checked_.all = {};
  }

  Status check_kinds() {
    for (const Side* side : {&in_, &out_}) {
      if (side->given.where == CollBuffer::Where::common || side->given.where == CollBuffer::Where::each)
        return refusal(why_, "{} is a place on all members: this operation takes memory of this member",
                       side->name);
      if (side->given.where > CollBuffer::Where::each)
        return refusal(why_,
                       "{} is a buffer of kind {}, which does not exist: use one of enum aq_buffer_kind",
                       side->name, static_cast<unsigned>(side->given.where));
      const bool needed = side == &in_ ? has_in() && !in_place() : has_out();
      if (needed && side->given.where == CollBuffer::Where::nowhere)
        return refusal(why_, "{} is missing: pass a buffer", side->name);
    }
    return {};
  }

  Status read() {
    switch (call_.operation) {
      case Collective::scatter_v: return read_scatter();
      case Collective::gather_v: return read_gather();
      case Collective::all_gather_v: return read_all_gather();
      case Collective::permute: return read_permute();
      default: break;
    }
    if (const Status status = read_blocks(in_, checked_.sends); !status) return status;
    if (const Status status = read_blocks(out_, checked_.receives); !status) return status;
    return check_own();
  }
  Status read_scatter() {
    if (const Status status = read_whole(out_, checked_.receives[call_.root]); !status) return status;
    if (!is_root()) return {};
    if (const Status status = read_blocks(in_, checked_.sends); !status) return status;
    return check_own();
  }
  Status read_gather() {
    if (const Status status = read_whole(in_, checked_.sends[call_.root]); !status) return status;
    if (!is_root()) return {};
    if (const Status status = read_blocks(out_, checked_.receives); !status) return status;
    return check_own();
  }
  Status read_all_gather() {
    if (const Status status = read_blocks(out_, checked_.receives); !status) return status;
    BlockAt mine{0, checked_.receives[me_].bytes};
    if (in_place()) {
      if (mine.bytes != 0) checked_.request.in.mine = out_.memory() + checked_.receives[me_].at;
    } else if (const Status status = read_whole(in_, mine); !status) {
      return status;
    }
    std::fill(checked_.sends.begin(), checked_.sends.end(), mine);
    return check_own();
  }
  Status read_permute() {
    checked_.to = call_.to;
    checked_.from = call_.from;
    if (call_.to >= ranks_)
      return refusal(why_,
                     "to is {}, but the members of the team are 0 to {}: Team::index_of gives a rank's index",
                     call_.to, ranks_ - 1);
    if (call_.from != kNoRank && call_.from >= ranks_)
      return refusal(why_,
                     "from is {}, but the members of the team are 0 to {}: give none if it is not known",
                     call_.from, ranks_ - 1);
    if (call_.from != kNoRank && (call_.to == me_) != (call_.from == me_))
      return refusal(why_, "to is {} and from is {}: member {} sends to itself, or it does not", call_.to,
                     call_.from, me_);
    if (const Status status = read_whole(in_, checked_.sends[0]); !status) return status;
    if (const Status status = read_whole(out_, checked_.receives[0]); !status) return status;
    if (checked_.sends[0].bytes != checked_.receives[0].bytes)
      return refusal(why_, "in has {} bytes and out has {}: pass as many elements in both",
                     checked_.sends[0].bytes, checked_.receives[0].bytes);
    return {};
  }

  /// A buffer that is one block.
  Status read_whole(Side& side, BlockAt& block) {
    const std::uint64_t bytes = side.given.bytes;
    if (bytes % call_.element != 0)
      return refusal(why_, "{} has {} bytes, which is not a multiple of an element's {}", side.name, bytes,
                     call_.element);
    block = {0, bytes};
    return take_memory(side, 0, bytes);
  }
  /// A buffer with a block for each member.
  Status read_blocks(Side& side, std::vector<BlockAt>& blocks) {
    const CollBlocks& given = side.blocks;
    if (given.counts.size() != ranks_)
      return refusal(why_, "{}_blocks.counts has {} numbers, but the team has {} members: give one for each",
                     side.name, given.counts.size(), ranks_);
    if (!given.displacements.empty() && given.displacements.size() != ranks_)
      return refusal(
          why_,
          "{}_blocks.displacements has {} numbers, but the team has {} members: give one for each, "
          "or none",
          side.name, given.displacements.size(), ranks_);
    const std::uint64_t most = kMostBytes / call_.element;  // elements that can be counted in bytes
    std::uint64_t next = 0;
    std::uint64_t begin = kMostBytes;
    std::uint64_t end = 0;
    bool rising = true;
    for (Rank i = 0; i < ranks_; ++i) {
      const std::uint64_t count = given.counts[i];
      if (count == 0) continue;
      const std::uint64_t first = given.displacements.empty() ? next : given.displacements[i];
      if (first > most || count > most - first)
        return refusal(why_,
                       "{}_blocks gives block {} {} elements from element {} on, whose bytes cannot be "
                       "counted in 64 bits",
                       side.name, i, count, first);
      next = first + count;
      blocks[i] = {first * call_.element, count * call_.element};
      rising = rising && blocks[i].at >= end;
      begin = std::min(begin, blocks[i].at);
      end = std::max(end, next * call_.element);
      if (end > side.given.bytes)
        return refusal(why_,
                       "{}_blocks gives block {} {} elements from element {} on, but {} has {} elements",
                       side.name, i, count, first, side.name, side.given.bytes / call_.element);
    }
    if (side.disjoint && !rising) {
      if (const Status status = check_disjoint(side, blocks); !status) return status;
    }
    return take_memory(side, begin, end);
  }
  Status check_disjoint(const Side& side, const std::vector<BlockAt>& blocks) {
    std::vector<Rank> order;
    for (Rank i = 0; i < ranks_; ++i) {
      if (blocks[i].bytes != 0) order.push_back(i);
    }
    std::sort(order.begin(), order.end(), [&](Rank a, Rank b) {
      return blocks[a].at != blocks[b].at ? blocks[a].at < blocks[b].at : a < b;
    });
    for (std::size_t i = 1; i < order.size(); ++i) {
      const BlockAt& before = blocks[order[i - 1]];
      if (before.at + before.bytes > blocks[order[i]].at)
        return refusal(why_, "{}_blocks: blocks {} and {} overlap: each element of {} belongs to one block",
                       side.name, order[i - 1], order[i], side.name);
    }
    return {};
  }
  Status take_memory(Side& side, std::uint64_t begin, std::uint64_t end) {
    side.first = begin;
    side.end = end;
    const auto first = reinterpret_cast<std::uintptr_t>(side.given.memory);
    if (end != 0 && first == 0)
      return refusal(why_, "{} is a null pointer and has {} bytes: pass memory, or no elements", side.name,
                     end);
    if (end > UINTPTR_MAX - first)
      return refusal(why_, "{} has {} bytes, which go beyond the last address: check its counts", side.name,
                     end);
    (&side == &in_ ? checked_.request.in : checked_.request.out).mine = side.memory();
    return {};
  }
  /// Both ends of the block that this member has for itself.
  Status check_own() {
    const std::uint64_t from = checked_.sends[me_].bytes;
    const std::uint64_t to = checked_.receives[me_].bytes;
    if (from == to) return {};
    return refusal(why_,
                   "this member's own block has {} bytes in in and {} in out: give both the same length",
                   from, to);
  }

  Status check_overlap() {
    const std::byte* const in = checked_.request.in.mine;
    const std::byte* const out = checked_.request.out.mine;
    if (in_place() || in_.end == 0 || out_.end == 0) return {};
    // What lies before the first block of a buffer, or behind the last one, is no part of the call.
    const std::less_equal<const std::byte*> not_after;
    if (not_after(in + in_.end, out + out_.first) || not_after(out + out_.end, in + in_.first)) return {};
    switch (call_.operation) {
      case Collective::scatter_v:
        if (out == in + checked_.sends[me_].at) return {};
        return refusal(why_, "in and out overlap: out may be all of block {} of in, or none of its bytes",
                       me_);
      case Collective::gather_v:
      case Collective::all_gather_v:
        if (in == out + checked_.receives[me_].at) return {};
        return refusal(why_, "in and out overlap: in may be all of block {} of out, or none of its bytes",
                       me_);
      default: break;
    }
    return refusal(why_, "in and out overlap: this operation has no form in place, so pass two buffers");
  }

  /// The own block is copied by itself: it may be far longer than those that travel.
  void take_own_out() noexcept {
    if (permutes() && call_.to != me_) return;
    BlockAt& from = checked_.sends[permutes() ? 0 : me_];
    BlockAt& to = checked_.receives[permutes() ? 0 : me_];
    checked_.own_from = from;
    checked_.own_to = to;
    from.bytes = to.bytes = 0;
  }
  void sum_up() noexcept {
    BlockLengths& lengths = checked_.mine;
    for (const BlockAt& block : checked_.sends) lengths.longest = std::max(lengths.longest, block.bytes);
    if (permutes()) {
      // All members' destinations are all members; or, if sources are known, the pairs are the same from both ends.
      // No block is one that has bytes or not, so an empty one counts too.
      const std::uint64_t sent = checked_.sends.front().bytes + 1;
      const std::uint64_t expected = checked_.receives.front().bytes + 1;
      const bool known = call_.from != kNoRank;
      lengths.difference = known
                               ? mark_of_block(me_, call_.to, sent) - mark_of_block(call_.from, me_, expected)
                               : mark_of_block(0, call_.to, sent) - mark_of_block(0, me_, expected);
      return;
    }
    for (Rank i = 0; i < ranks_; ++i) {
      if (const std::uint64_t bytes = checked_.sends[i].bytes; bytes != 0)
        lengths.difference += mark_of_block(me_, i, bytes);
      if (const std::uint64_t bytes = checked_.receives[i].bytes; bytes != 0)
        lengths.difference -= mark_of_block(i, me_, bytes);
    }
  }

  const CollBlocksCall& call_;
  BlocksCall& checked_;
  std::string& why_;
  Rank ranks_;
  Rank me_;
  Side in_{"in", call_.in, call_.in_blocks, false};
  Side out_{"out", call_.out, call_.out_blocks, true};
};

}  // namespace

CallDescription description_of(const CollBlocksCall& call, Rank ranks) noexcept {
  CallDescription description = description_of(static_cast<const aqueduct::detail::CollCall&>(call), ranks);
  description.bytes = 0;  // the lengths are compared before bytes move
  if (call.operation == Collective::permute && call.from != kNoRank)
    description.facts |= CallDescription::kSourcesKnown;
  return description;
}

Status check_blocks(TeamState& team, const CollBlocksCall& call, BlocksCall& checked,
                    std::string& why) noexcept {
  try {
    return BlocksCheck(team, call, checked, why).check();
  } catch (const std::bad_alloc&) {
    why.clear();
    return {ErrorCode::no_memory, team.endpoint.rank};
  }
}

}  // namespace aqueduct::coll
