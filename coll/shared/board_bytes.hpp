#pragma once

#include <aqueduct/copy_bytes.hpp>

#include "coll/shared/board_of.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

// What an operation does with bytes: copies, and combinations of contributions.

namespace aqueduct::coll {

template <class Access>
inline void BoardOf<Access>::copy(std::byte* to, const std::byte* from, std::uint64_t bytes) noexcept {
  if (to == from) return;
  aqueduct::detail::copy_bytes(to, from, bytes);
  access_.moves(2 * bytes);
}

template <class Access>
inline void BoardOf<Access>::give(std::byte* to, const std::byte* from, std::uint64_t bytes) noexcept {
  if (to == from) return;
  aqueduct::detail::write_bytes(to, from, bytes);
  access_.moves(2 * bytes);
}

template <class Access>
inline void BoardOf<Access>::copy_long(std::byte* to, const std::byte* from, std::uint64_t bytes) noexcept {
  if (to == from) return;
  aqueduct::detail::copy_bytes(to, from, bytes);
  access_.have_copied(bytes);
}

template <class Access>
inline void BoardOf<Access>::give_long(std::byte* to, const std::byte* from, std::uint64_t bytes) noexcept {
  if (to == from) return;
  aqueduct::detail::write_bytes(to, from, bytes);
  access_.have_copied(bytes);
}

template <class Access>
inline void BoardOf<Access>::fold_sources(const BoardOp& op, std::byte* to, std::size_t sources,
                                          std::uint64_t bytes) noexcept {
  op.combiner->fold(to, std::span(sources_).first(sources), bytes / op.plan->element);
  access_.have_touched((sources + 1) * bytes);
}

template <class Access>
inline bool BoardOf<Access>::fetch(Rank member, std::byte* to, const std::byte* from,
                                   std::uint64_t bytes) noexcept {
  if (!access_.fetch(member, to, from, bytes)) return false;
  access_.have_copied(bytes);
  return true;
}

template <class Access>
inline bool BoardOf<Access>::read(Rank member, std::byte* to, Place from, std::uint64_t bytes) noexcept {
  if (!from.far) {
    copy_from(member, to, from.at, bytes);
    return true;
  }
  if (!fetch(member, to, from.at, bytes)) return false;
  access_.have_read(member, bytes);
  return true;
}

template <class Access>
inline void BoardOf<Access>::copy_from(Rank member, std::byte* to, const std::byte* from,
                                       std::uint64_t bytes) noexcept {
  copy_long(to, from, bytes);
  access_.have_read(member, bytes);
}

template <class Access>
inline void BoardOf<Access>::write(Rank member, std::byte* to, const std::byte* from,
                                   std::uint64_t bytes) noexcept {
  give_long(to, from, bytes);
  access_.have_written(member, bytes);
}

template <class Access>
inline void BoardOf<Access>::contribute(const BoardOp& op, std::byte* to) noexcept {
  if (op.combiner->widen != nullptr)
    return op.combiner->widen(to, op.in, op.plan->payload / op.plan->bytes * op.plan->count);
  give(to, op.in, op.plan->payload);
}

template <class Access>
inline const std::byte* BoardOf<Access>::contribution(const BoardOp& op) noexcept {
  if (op.combiner->widen == nullptr) return op.in;
  contribute(op, here_.data());
  return here_.data();
}

template <class Access>
inline void BoardOf<Access>::deliver(const BoardOp& op, const std::byte* from) noexcept {
  if (op.combiner->narrow != nullptr) return op.combiner->narrow(op.out, from, op.plan->count);
  copy(op.out, from, op.plan->bytes);
}

template <class Access>
inline void BoardOf<Access>::combine(const BoardOp& op, std::byte* to, const std::byte* left,
                                     const std::byte* right) noexcept {
  op.combiner->combine(to, left, right, op.plan->count, op.combiner->context);
  access_.moves(3 * op.plan->bytes);
}

template <class Access>
inline void BoardOf<Access>::accumulate(const BoardOp& op, Rank at, const std::byte* zero,
                                        const std::byte* its) noexcept {
  std::byte* const to = partial(op);
  if (at == 0) return;
  combine(op, to, at == 1 ? zero : to, its);
}

}  // namespace aqueduct::coll
