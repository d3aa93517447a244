// The memory of a simulated team: buffers, messages, and what an operation's result must be.

#include "tools/aqcheck/scratch_world.hpp"

#include <utility>

namespace aqueduct::aqcheck {

using Kind = ScratchMistake::Kind;
using coll::Operation;
using coll::Place;
using coll::Shape;
using coll::Space;
using coll::Step;

namespace {

std::uint8_t pattern(std::uint32_t operation, Rank position, std::uint64_t offset) {
  return static_cast<std::uint8_t>((operation * 131u + position * 29u + offset * 7u) >> (offset % 3));
}

std::uint8_t expected_byte(const Shape& shape, Rank position, std::uint32_t number, std::size_t i) {
  const std::size_t in_block = i % shape.bytes;
  const auto block = static_cast<Rank>(i / shape.bytes);
  const std::size_t mine = position * shape.bytes + in_block;  // in an input with a block for each member
  switch (shape.operation) {
    case Operation::broadcast: return pattern(number, shape.root, i);
    case Operation::scatter:
    case Operation::scatter_v: return pattern(number, shape.root, mine);
    case Operation::gather:
    case Operation::gather_v:
    case Operation::all_gather:
    case Operation::all_gather_v: return pattern(number, block, in_block);
    case Operation::all_to_all:
    case Operation::all_to_all_v: return pattern(number, block, mine);
    case Operation::permute: return pattern(number, (position + shape.ranks - 1) % shape.ranks, i);
    default: break;
  }
  const bool scans = shape.operation == Operation::scan || shape.operation == Operation::exscan;
  const Rank end = !scans ? shape.ranks : shape.operation == Operation::scan ? position + 1 : position;
  const std::size_t from_byte = shape.operation == Operation::reduce_scatter ? mine : i;
  std::uint8_t sum = 0;
  for (Rank from = 0; from < end; ++from)
    sum = static_cast<std::uint8_t>(sum + pattern(number, from, from_byte));
  return sum;
}

}  // namespace

ScratchWorld::Executed& ScratchWorld::operation(std::uint32_t number) {
  Executed& found = operations_[number];
  if (found.of.empty() && found.drained == 0) {
    const Shape& shape = calls_[number].shape;
    found.needs = coll::Schedule::needs(*calls_[number].algorithm, shape);
    found.of.resize(ranks_);
    for (Rank position = 0; position < ranks_; ++position) {
      Buffers& buffers = found.of[position];
      buffers.in.resize(blocks_in(shape, position) * shape.bytes);
      for (std::size_t i = 0; i < buffers.in.size(); ++i) buffers.in[i] = pattern(number, position, i);
      buffers.out.resize(blocks_out(shape, position) * shape.bytes);
      buffers.temp.resize(found.needs.temp);
    }
  }
  if (found.of.empty()) fail("something arrives for an operation that is over everywhere");
  return found;
}

std::vector<std::uint8_t>& ScratchWorld::user(Rank position, std::uint32_t number, Space space) {
  Buffers& buffers = operation(number).of[position];
  return space == Space::in ? buffers.in : space == Space::out ? buffers.out : buffers.temp;
}

std::vector<std::uint8_t> ScratchWorld::read(Rank position, std::uint32_t number, const Place& place,
                                             const Step& step) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(step.runs * step.bytes);
  for (std::uint64_t run = 0; run < step.runs; ++run) {
    for (std::uint64_t i = 0; i < step.bytes; ++i) {
      const std::uint64_t offset = place.offset + run * place.pitch + i;
      if (place.space != Space::scratch) {
        bytes.push_back(user(position, number, place.space).at(offset));
        continue;
      }
      const Cell& cell = members_[position]->scratch.at(operation(number).portion->offset + offset);
      if (cell.operation != number)
        fail("operation " + std::to_string(number) + " reads a byte of another at " + at(position));
      bytes.push_back(cell.byte);
    }
  }
  return bytes;
}

void ScratchWorld::write_byte(Rank position, std::uint32_t number, const Place& place, const Step& step,
                              std::size_t index, std::uint8_t byte) {
  const std::uint64_t offset = place.offset + index / step.bytes * place.pitch + index % step.bytes;
  if (place.space != Space::scratch) {
    user(position, number, place.space).at(offset) = byte;
    return;
  }
  Executed& known = operation(number);
  if (offset >= known.needs.scratch) fail("a step writes beyond its needs");
  Cell& cell = members_[position]->scratch.at(known.portion->offset + offset);
  if (cell.operation != number && (cell.operation != kNobody || cell.byte != kCanary)) {
    fail("operation " + std::to_string(number) + " writes to a byte of " + std::to_string(cell.operation) +
         " at " + at(position));
  }
  cell = {number, byte};
}

void ScratchWorld::write(Rank position, std::uint32_t number, const Place& place, const Step& step,
                         const std::vector<std::uint8_t>& bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) write_byte(position, number, place, step, i, bytes[i]);
}

void ScratchWorld::deliver(std::size_t which) {
  Message& message = network_[which];
  switch (message.kind) {
    case Message::Kind::source:  // now the network reads the source; then the two ends come in any order
      message.bytes = read(message.from, message.operation, message.step.from, message.step);
      message.kind = Message::Kind::data;
      network_.push_back(
          {Message::Kind::local, message.from, message.to, message.operation, message.step, {}, 0, {}});
      return;
    case Message::Kind::local: {
      Running* const running = find(message.from, message.operation);
      if (running == nullptr) fail("an operation was drained before its puts");
      --running->transfers;
      raise_own(message.from, running->portion, message.step);
      break;
    }
    case Message::Kind::data: {
      if (operation(message.operation).of[message.to].drained)
        fail("something arrives for an operation that is over at " + at(message.to));
      const std::size_t size = message.bytes.size();
      const std::size_t upto =
          manner_.order == Manner::Order::chance && message.written == 0 && below(2) == 0 ? size / 2 : size;
      for (; message.written < upto; ++message.written) {
        write_byte(message.to, message.operation, message.step.to, message.step, message.written,
                   message.bytes[message.written]);
      }
      if (message.written < size) return;
      if (message.step.raise != coll::kNoCounter) {
        const Portion& portion = *operation(message.operation).portion;
        members_[message.to]->words[portion.first_counter + message.step.raise] += message.step.add;
      }
      break;
    }
    case Message::Kind::request:  // of a get: what the owner has now is read, and comes back later
      if (operation(message.operation).of[message.to].drained)
        fail("a member reads from an operation that is over at " + at(message.to));
      message.bytes = read(message.to, message.operation, message.step.from, message.step);
      message.kind = Message::Kind::answer;
      return;
    case Message::Kind::answer: {
      Running* const running = find(message.from, message.operation);
      if (running == nullptr) fail("an operation was drained before its gets");
      write(message.from, message.operation, message.step.to, message.step, message.bytes);
      --running->transfers;
      raise_own(message.from, running->portion, message.step);
      break;
    }
    case Message::Kind::raise:
      members_[message.to]->words.at(message.control.counter) += message.control.add;
      break;
  }
  if (manner_.order != Manner::Order::chance) {
    network_.erase(network_.begin() + static_cast<std::ptrdiff_t>(which));
    return;
  }
  if (which + 1 < network_.size()) network_[which] = std::move(network_.back());
  network_.pop_back();
}

void ScratchWorld::post_control(Rank position, const Raise& raise) {
  const coll::ScratchLayout& layout = members_[position]->layout;
  if (raise.peer == position || raise.peer >= ranks_ || raise.add == 0) fail("a control message is wrong");
  ++counted_.control;
  const bool round = raise.counter >= layout.round_counter(0);
  if (round) {
    ++counted_.barrier;
  } else if (raise.counter != layout.clear_counter(position) || !sends_[raise.peer][position]) {
    fail(at(position) + " clears a member that does not write to it");
  }
  // Each adds at least 1, and they add up to the epochs that are finished: so there is at most one for each of these.
  Raise sent = raise;
  const auto is_wrong = [&](Kind of_clear, Kind of_round) {
    return wrong(position, round ? of_round : of_clear);
  };
  if (is_wrong(Kind::credit_lost, Kind::round_lost) && raises_++ == 0) return;
  if (is_wrong(Kind::credit_to_another_peer, Kind::round_to_another_peer))
    sent.peer = (sent.peer + 1) % ranks_ != position ? (sent.peer + 1) % ranks_ : (sent.peer + 2) % ranks_;
  if (wrong(position, Kind::credit_in_another_place) && !round)
    sent.counter = layout.clear_counter((position + 1) % ranks_);
  if (wrong(position, Kind::round_in_another_place) && round)
    sent.counter = layout.round_counter((sent.counter - layout.round_counter(0) + 1) % layout.rounds());
  if (is_wrong(Kind::credit_twice, Kind::round_twice)) sent.add *= 2;
  if (wrong(position, Kind::credit_for_one_more) && !round) ++sent.add;
  network_.push_back({Message::Kind::raise, position, sent.peer, kNobody, {}, {}, 0, sent});
}

void ScratchWorld::check_result(Rank position, std::uint32_t number) {
  const Shape& shape = calls_[number].shape;
  const std::vector<std::uint8_t>& out = operation(number).of[position].out;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (shape.operation == Operation::exscan && position == 0) return;  // it has no output
    if (out[i] != expected_byte(shape, position, number, i))
      fail("operation " + std::to_string(number) + " gives a wrong byte at " + at(position));
  }
}

}  // namespace aqueduct::aqcheck
