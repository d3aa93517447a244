#include "tools/aqperf/benches/coll_ground.hpp"

#include "coll/engine/collectives.hpp"
#include "coll/schedule/schedule.hpp"
#include "coll/tune/fit.hpp"
#include "coll/tune/table.hpp"

#include <algorithm>
#include <cstring>

namespace aqueduct::perf {

namespace {

/// Calls begin at cache lines of their own.
std::size_t room_for(std::size_t bytes) { return std::max<std::size_t>(64, (bytes + 63) / 64 * 64); }

coll::Shape shape_for(Collective operation, Rank ranks) {
  coll::Shape shape;
  shape.operation = operation;
  shape.ranks = ranks;
  return shape;
}

/// The blocks of the root, or of another rank if it has more.
template <class Blocks>
std::size_t most_blocks(Blocks blocks, const coll::Shape& shape) {
  return std::max<std::size_t>(blocks(shape, 0), blocks(shape, shape.ranks - 1));
}

}  // namespace

CollGround::CollGround(Session& session, Collective operation, std::size_t most_bytes, unsigned calls)
    : session_(&session),
      operation_(operation),
      blocks_in_(most_blocks(coll::blocks_in, shape_for(operation, session.ranks()))),
      blocks_out_(most_blocks(coll::blocks_out, shape_for(operation, session.ranks()))),
      in_room_(room_for(blocks_in_ * most_bytes)),
      // At least two of the larger buffer: raw_coll copies from one to the other.
      call_room_(
          std::max(in_room_ + room_for(blocks_out_ * most_bytes), 2 * room_for(buffer_bytes(most_bytes)))),
      memory_(call_room_ * calls / sizeof(Line)),
      here_(reinterpret_cast<std::byte*>(memory_.data()), memory_.size() * sizeof(Line)),
      segment_(require(Segment::create(session.ep(), here_.size()), "a segment for collective calls")) {
  // Touches every page, so that it is there before anything is measured.
  std::memset(here_.data(), 1, here_.size());
  std::memset(segment_.mine().data(), 2, here_.size());
}

std::size_t CollGround::buffer_bytes(std::size_t bytes) const noexcept {
  return std::max(blocks_in_, blocks_out_) * bytes;
}

detail::CollBuffer CollGround::buffer(std::size_t offset, std::size_t bytes) const {
  detail::CollBuffer buffer;
  buffer.bytes = bytes;
  if (session_->options().coll.single) {
    buffer.where = detail::CollBuffer::Where::common;
    buffer.segment = segment_.id();
    buffer.offset = offset;
  } else {
    buffer.where = detail::CollBuffer::Where::mine;
    buffer.memory = here_.data() + offset;
  }
  return buffer;
}

// As the functions of coll.hpp make it from typed ranges.
detail::CollCall CollGround::call(std::size_t bytes, unsigned number) const {
  detail::CollCall call;
  call.operation = operation_;
  call.options = session_->options().coll.call;
  if (operation_ == Collective::barrier) return call;
  if (bytes % sizeof(std::uint64_t) == 0) {
    call.type = ElementType::u64;
    call.element = sizeof(std::uint64_t);
  }
  const std::size_t begin = number * call_room_;
  if (operation_ != Collective::broadcast) call.in = buffer(begin, blocks_in_ * bytes);
  call.out = buffer(begin + in_room_, blocks_out_ * bytes);
  return call;
}

void CollGround::write_buffers(std::size_t bytes) {
  const std::span<std::byte> memory = session_->options().coll.single ? mine() : here_;
  const auto write = [&](std::size_t begin, std::size_t length) {
    for (std::size_t at = begin; at < begin + length; at += sizeof(Line)) {
      // What is added is never read, so it is volatile: the compiler leaves nothing out.
      volatile auto& one = reinterpret_cast<volatile unsigned char&>(memory[at]);
      one = static_cast<unsigned char>(one + 1);
    }
  };
  if (operation_ != Collective::broadcast) write(0, blocks_in_ * bytes);
  write(in_room_, blocks_out_ * bytes);
}

coll::Choice CollGround::choice(std::size_t bytes) const {
  const detail::CollCall made = call(bytes);
  coll::Shape shape = shape_for(operation_, session_->ranks());
  shape.in = made.options.in;
  shape.out = made.options.out;
  shape.order = coll::reduces(operation_) ? made.options.order : coll::Order::any;
  shape.addresses = session_->options().coll.single && operation_ != Collective::barrier
                        ? coll::Addresses::single
                        : coll::Addresses::local;
  shape.element = made.element;
  shape.bytes = shape.pitch = operation_ == Collective::barrier ? 0 : bytes;
  auto& state = session_->ep().world().state();
  return state.endpoint.layer<coll::Collectives>()->choice(state, shape);
}

void CollGround::describe_choice(Row& row, std::size_t bytes) const {
  const coll::Choice chosen = choice(bytes);
  row.algorithm = chosen.algorithm != nullptr ? coll::name_of(*chosen.algorithm, chosen.shape) : "copy";
  if (chosen.algorithm == nullptr) return;
  const bool on_board = chosen.algorithm->board != coll::BoardMethod::none;
  const bool whole = chosen.shape.bytes <= chosen.piece;
  const coll::Shape piece = whole ? chosen.shape : coll::piece_of(chosen.shape, chosen.piece);
  auto& state = session_->ep().world().state();
  const coll::Cost cost = on_board ? state.endpoint.layer<coll::Collectives>()->cost_on_board(state, chosen)
                                   : coll::Schedule::cost(*chosen.algorithm, piece);
  row.extra.emplace_back("depth", cost.depth);
  // On a board bytes are lines of 64: of all members together, those that they poll or, of long blocks, copy or combine, at most.
  // 0: messages.
  row.extra.emplace_back("lines", on_board ? static_cast<double>((cost.bytes + 63) / 64) : 0.0);
}

}  // namespace aqueduct::perf
