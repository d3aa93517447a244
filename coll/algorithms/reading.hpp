#pragma once

#include "coll/algorithms/steps.hpp"

namespace aqueduct::coll {

// Algorithms in which the reader gets the bytes: their owner signals that they are there, the reader gets them into its own
// buffer, wherever that is, and signals that it has taken them. Up to three messages for an edge where a put with a
// signal is one; in return nobody needs to know where the reader's output is, and the reader decides when the bytes travel.
//
// Where all members know all places, bytes are read where they are. Otherwise they are first copied to scratch, since a
// reader's peers reach nothing else.

/// Whether readers reach the users' buffers of their peers.
inline bool reads_buffers(const Shape& shape) noexcept { return shape.addresses == Addresses::single; }

/// Whether readers of inputs must be told that these are there. With Sync::none inputs are there whenever anybody calls; with
/// Sync::all everybody knows it, unless the pass before goes to the root alone.
inline bool tells_of_input(const Shape& shape) noexcept {
  if (!reads_buffers(shape) || shape.in == Sync::mine) return true;
  return shape.in == Sync::all && shape.operation == Operation::scatter;
}
/// Whether the owner of bytes must be told that they have been read. With Sync::none buffers stay until all have returned,
/// but scratch is used again; with Sync::all the pass behind says it.
inline bool answers_to_owner(const Shape& shape) noexcept {
  return shape.out == Sync::mine || (shape.out == Sync::none && !reads_buffers(shape));
}

/// Gets the peer's `from` to `to`, and raises `got` here when the bytes have arrived.
inline Step get_from(Rank peer, Place from, Place to, std::uint64_t bytes, Counter got) noexcept {
  Step step;
  step.kind = Step::Kind::get;
  step.peer = peer;
  step.from = from;
  step.to = to;
  step.bytes = bytes;
  step.done = got;
  return step;
}

/// What `edges` blocks cost of which each goes over one edge, all at the same time. `signals`: those of an edge.
inline Cost cost_of_reading(const Shape& shape, std::uint64_t edges, std::uint32_t signals) noexcept {
  if (edges == 0 || shape.bytes == 0) return {};
  return {.messages = (1 + signals) * edges, .bytes = edges * shape.bytes, .depth = 1 + signals};
}

}  // namespace aqueduct::coll
