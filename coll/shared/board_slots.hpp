#pragma once

#include "coll/shared/board_of.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

// How members use their slots: who has read them, when there is room, and what has come.

namespace aqueduct::coll {

template <class Access>
inline bool BoardOf<Access>::is_done(Rank member, std::uint64_t number) {
  if (known_all_ >= number || done_[member] >= number) return true;
  if (member == me_) return true;
  done_[member] = std::max(done_[member], access_.load(access_.head(member).done));
  if (done_[member] >= number) return true;
  waits_for_ = member;
  return false;
}

template <class Access>
inline bool BoardOf<Access>::all_done(std::uint64_t number) {
  if (known_all_ >= number) [[likely]]
    return true;
  for (Rank i = 0; i < ranks_; ++i) {
    if (!is_done(i, number)) return false;
  }
  known_all_ = number;
  return true;
}

template <class Access>
inline bool BoardOf<Access>::is_read(const Reading& reading) {
  if (known_all_ >= reading.number) [[likely]]
    return true;
  return reading.one != kNoRank ? is_done(reading.one, reading.number) : all_done(reading.number);
}

template <class Access>
inline bool BoardOf<Access>::may_publish(BoardOp& op, std::uint64_t number, std::uint64_t bytes) {
  return has_room(op, [&] {
    return is_read(readers_[slot_of(number)]) &&
           (bytes <= kInlinePayload || is_read(bulk_readers_[narrow_of(number)]));
  });
}

template <class Access>
inline bool BoardOf<Access>::may_push(BoardOp& op, Rank member) {
  const std::uint64_t number = op.number();
  return has_room(op, [&] {
    return (member != 0 || all_done(all_read_inbox_[narrow_of(number)])) &&
           (number <= room_.narrow || is_done(member, number - room_.narrow));
  });
}

template <class Access>
template <class Check>
inline bool BoardOf<Access>::has_room(BoardOp& op, const Check& check) {
  if (check()) [[likely]]
    return true;
  if (op.short_of_room) return false;
  is_short_of_room(op, true);
  return check();
}

template <class Access>
inline void BoardOf<Access>::is_short_of_room(BoardOp& op, bool is) {
  op.short_of_room = is;
  access_.add(access_.tiles(0).short_of_room, is ? 1 : ~std::uint64_t{0});
}

template <class Access>
inline void BoardOf<Access>::say_done(std::uint64_t number) {
  ended_ = number;
  access_.store(access_.head(me_).done, number);
  access_.wake_for_room(access_.tiles(0).short_of_room);
}

template <class Access>
inline void BoardOf<Access>::publish(const BoardOp& op, std::uint64_t number, BoardSlot& slot,
                                     std::uint64_t bytes, Rank reader) {
  // First what this member notes for itself: behind the store, its look at the others would wait for that.
  const Reading reading{number, reader, op.call};
  readers_[slot_of(number)] = reading;
  if (bytes > kInlinePayload) bulk_readers_[narrow_of(number)] = reading;
  // The line of a later movement is in the caches of those who read it last, and a store there would wait for them. Measured
  // on Zen 5, two members: an all-reduce of 8 bytes takes 320 ns in place of 370 on far cores, 83 in place of 88 on near ones. In
  // an operation of several movements the others look too early, and bring the line back: a broadcast for which all have to
  // have called would take 600 ns in place of 550.
  if (op.plan->movements == 1 && room_.slots > kFetchedAhead) {
    BoardSlot& later = own(me_, number + kFetchedAhead);
    access_.prefetch_for_write(&later);
    if (is_in_both_lines(bytes)) access_.prefetch_for_write(second_line_of(later));
  }
  access_.relaxed(slot.mark, op.mark);
  access_.store(slot.number, number);
}

template <class Access>
inline bool BoardOf<Access>::has_come(const BoardOp& op, std::uint64_t number, BoardSlot& slot, Rank whose) {
  const std::uint64_t there = access_.load(slot.number);
  if (there < number) {
    waits_for_ = whose;
    return false;
  }
  if (there != number || access_.relaxed(slot.mark) != op.mark) [[unlikely]] {
    disagrees_ = true;
    return false;
  }
  return true;
}

template <class Access>
inline bool BoardOf<Access>::look(const BoardOp& op, std::uint64_t number, BoardSlot& slot, Rank member) {
  if (!has_come(op, number, slot, member)) return false;
  done_[member] = number - 1;
  // If the member is ahead, its next line comes while this member does other things. If not, the line is still in this
  // member's cache, and the prefetch does nothing.
  BoardSlot& next = own(member, number + 1);
  access_.prefetch(&next);
  if (is_in_both_lines(op.plan->payload)) access_.prefetch(second_line_of(next));
  return true;
}

template <class Access>
inline const std::byte* BoardOf<Access>::read_payload(std::uint64_t number, BoardSlot& slot, Rank member,
                                                      std::uint64_t bytes) {
  const std::byte* const place = place_in(slot, member, number, bytes);
  access_.reads(place, bytes);
  return place;
}

template <class Access>
inline std::byte* BoardOf<Access>::my_payload(std::uint64_t number, BoardSlot& slot, std::uint64_t bytes) {
  std::byte* const place = place_in(slot, me_, number, bytes);
  access_.writes(place, bytes);
  return place;
}

template <class Access>
inline bool BoardOf<Access>::count_is(const BoardOp& op, std::atomic<std::uint64_t>* counts,
                                      const std::array<std::uint64_t, kMostNarrow>& before,
                                      std::uint32_t raises) {
  const std::uint32_t slot = narrow_of(op.number());
  const std::uint64_t now = access_.load(counts[slot]) - before[slot];
  if (now == raises * unit_of(op)) return true;
  if ((now & 0xffff) >= raises) disagrees_ = true;
  waits_for_ = kNoRank;
  return false;
}

}  // namespace aqueduct::coll
