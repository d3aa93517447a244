#pragma once

// The members of a board take turns in one thread, on memory of which each line is counted that moves between them.

#include "coll/algorithms/algorithms.hpp"
#include "coll/shared/board_of.hpp"
#include "topology/placement.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

namespace aqueduct::coll::counted {

/// Members 0, 1, … of a host; `scattered`: neighbours are in different domains.
struct Host {
  std::uint32_t domains;
  std::uint32_t each;
  bool scattered = false;

  Rank ranks() const { return domains * each; }
  std::uint32_t domain_of(Rank member) const { return scattered ? member % domains : member / each; }
  topology::Placement placement() const {
    std::vector<Rank> members(ranks());
    std::iota(members.begin(), members.end(), Rank{0});
    const std::vector<topology::Level> levels{{"host", 1, false}, {"numa", domains, true}};
    return topology::Placement::of(
        members, levels, [&](Rank member, std::size_t level) { return level == 0 ? 0 : domain_of(member); });
  }
};

/// What a call has moved, over all members.
struct Counts {
  std::uint64_t lines = 0;    ///< of 64 bytes, from one member's cache to another's
  std::uint64_t across = 0;   ///< of these, from one domain to another
  std::uint64_t touched = 0;  ///< bytes read and bytes written by copies and reductions

  friend bool operator==(const Counts&, const Counts&) = default;
  friend Counts operator-(const Counts& a, const Counts& b) {
    return {a.lines - b.lines, a.across - b.across, a.touched - b.touched};
  }
};

/// The parts of all members. As caches have it: a line moves when a member reads or writes it and has not seen its latest version.
class Memory {
 public:
  Memory(const Host& host, const BoardRoom& room)
      : host_(host),
        part_((room.bytes() + kBoardLine - 1) / kBoardLine),
        bytes_(part_ * host.ranks()),
        versions_(bytes_.size() * kLinesOfTwo),
        writer_(versions_.size()),
        seen_(host.ranks(), std::vector<std::uint32_t>(versions_.size())) {}

  std::byte* at(Rank member, std::uint64_t offset) {
    return reinterpret_cast<std::byte*>(bytes_.data() + part_ * member) + offset;
  }
  void look(Rank me, const void* from, std::uint64_t bytes) {
    each_line(from, bytes, [&](std::size_t line) {
      if (seen_[me][line] == versions_[line]) return;
      seen_[me][line] = versions_[line];
      ++counts_.lines;
      if (host_.domain_of(me) != host_.domain_of(writer_[line])) ++counts_.across;
    });
  }
  void write(Rank me, const void* to, std::uint64_t bytes) {
    look(me, to, bytes);
    each_line(to, bytes, [&](std::size_t line) {
      seen_[me][line] = ++versions_[line];
      writer_[line] = me;
    });
  }
  void touch(std::uint64_t bytes) { counts_.touched += bytes; }
  /// Not one of the three lines that a member says of itself.
  bool is_in_slots(const void* word) const {
    const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(word) -
                                                 reinterpret_cast<const std::byte*>(bytes_.data()));
    return offset / kBoardLine % part_ >= 3;
  }
  const Counts& counts() const { return counts_; }
  /// Counts an atomic addition or exchange. Each one moves the cache line to this member's processor.
  void count_atomic() { ++atomics_; }
  std::uint64_t atomics() const { return atomics_; }

 private:
  struct alignas(kBoardLine) Line {
    std::byte byte[kBoardLine]{};
  };
  static constexpr std::size_t kLine = 64;
  static constexpr std::size_t kLinesOfTwo = kBoardLine / kLine;

  /// Not of memory that is not on the board.
  template <class Act>
  void each_line(const void* from, std::uint64_t bytes, const Act& act) {
    const auto begin = reinterpret_cast<std::uintptr_t>(bytes_.data());
    const auto first = reinterpret_cast<std::uintptr_t>(from);
    if (first < begin || first >= begin + bytes_.size() * kBoardLine || bytes == 0) return;
    for (std::size_t line = (first - begin) / kLine; line <= (first - begin + bytes - 1) / kLine; ++line)
      act(line);
  }

  Host host_;
  std::size_t part_;
  std::vector<Line> bytes_;
  std::vector<std::uint32_t> versions_;           // [line]
  std::vector<Rank> writer_;                      // [line]
  std::vector<std::vector<std::uint32_t>> seen_;  // [member][line]
  Counts counts_;
  std::uint64_t atomics_ = 0;
};

struct Access {
  Memory* memory;
  Rank me;

  BoardHead& head(Rank r) const { return *reinterpret_cast<BoardHead*>(memory->at(r, 0)); }
  BoardCounts& counts(Rank r) const { return *reinterpret_cast<BoardCounts*>(memory->at(r, kBoardLine)); }
  BoardTiles& tiles(Rank r) const { return *reinterpret_cast<BoardTiles*>(memory->at(r, 2 * kBoardLine)); }
  BoardSlot& own(Rank r, const BoardRoom& room, std::uint32_t slot) const {
    return *reinterpret_cast<BoardSlot*>(memory->at(r, room.own_at(slot)));
  }
  BoardSlot& inbox(Rank r, const BoardRoom& room, std::uint32_t slot) const {
    return *reinterpret_cast<BoardSlot*>(memory->at(r, room.inbox_at(slot)));
  }
  std::byte* bulk(Rank r, const BoardRoom& room, std::uint32_t slot) const {
    return memory->at(r, room.bulk_at(slot));
  }
  template <class T>
  T look(const std::atomic<T>& word) const {
    memory->look(me, &word, sizeof word);
    return word.load();
  }
  template <class T>
  void write(std::atomic<T>& word, T value) const {
    memory->write(me, &word, sizeof word);
    word.store(value);
  }
  /// Of a slot's number, a look in vain does not count: who looks once more has the line in its cache. A look that is not is
  /// followed by one at the mark, in the same line.
  std::uint64_t load(const std::atomic<std::uint64_t>& word) const {
    return memory->is_in_slots(&word) ? word.load() : look(word);
  }
  std::uint64_t load_behind(const std::atomic<std::uint64_t>& word) const { return look(word); }
  void store(std::atomic<std::uint64_t>& word, std::uint64_t value) const { write(word, value); }
  std::uint64_t add(std::atomic<std::uint64_t>& word, std::uint64_t value) const {
    memory->count_atomic();
    write(word, word.load() + value);
    return word.load();
  }
  bool swap(std::atomic<std::uint64_t>& word, std::uint64_t before, std::uint64_t value) const {
    memory->count_atomic();
    if (look(word) != before) return false;
    write(word, value);
    return true;
  }
  std::uint32_t relaxed(const std::atomic<std::uint32_t>& word) const { return look(word); }
  void relaxed(std::atomic<std::uint32_t>& word, std::uint32_t value) const { write(word, value); }
  void reads(const std::byte* from, std::uint64_t bytes) const { memory->look(me, from, bytes); }
  void writes(const std::byte* to, std::uint64_t bytes) const { memory->write(me, to, bytes); }
  void moves(std::uint64_t bytes) const { memory->touch(bytes); }
  void have_touched(std::uint64_t bytes) const { memory->touch(bytes); }
  void have_copied(std::uint64_t bytes) const { memory->touch(2 * bytes); }
  static void has_waited() {}
  static std::byte* reach(Rank, const BufferNote& note, std::uint64_t) {
    return reinterpret_cast<std::byte*>(note.at);
  }
  static bool fetch(Rank, std::byte*, const std::byte*, std::uint64_t) { return false; }
  static void have_read(Rank, std::uint64_t) {}
  static void have_written(Rank, std::uint64_t) {}
  static void have_staged(std::uint64_t) {}
  static void prefetch(const void*) {}
  static void prefetch_for_write(const void*) {}
  static void wake(Rank) {}
  static void wake_all() {}
  void wake_for_room(const std::atomic<std::uint64_t>& waiting) const { look(waiting); }
};

/// Calls of one shape among all members of a host.
class Calls {
 public:
  Calls(const Host& host, const BoardRoom& room, const Algorithm& algorithm, const Shape& shape)
      : host_(host), memory_(host, room), placement_(host.placement()) {
    const std::size_t words = host.ranks() * shape.bytes / sizeof(std::uint32_t);
    for (Rank me = 0; me < host.ranks(); ++me) {
      in_.emplace_back(words);
      out_.emplace_back(words);
      make_plan(plans_.emplace_back(), algorithm, shape, me, room, &placement_);
      boards_.push_back(std::make_unique<BoardOf<Access>>(Access{&memory_, me}, room, host.ranks(), me));
    }
  }
  /// One call. `values`: of element i of a member's input.
  template <class Values>
  Counts call(const BoardCombiner& combiner, const Values& values) {
    const Counts before = memory_.counts();
    std::vector<BoardOp> ops(host_.ranks());
    for (Rank me = 0; me < host_.ranks(); ++me) {
      for (std::size_t i = 0; i < in_[me].size(); ++i) in_[me][i] = values(me, i);
      BoardOp& op = ops[me];
      op.plan = &plans_[me];
      op.combiner = &combiner;
      op.in = reinterpret_cast<const std::byte*>(in_[me].data());
      op.out = reinterpret_cast<std::byte*>(out_[me].data());
      op.notes = {note(in_[me].data()), note(out_[me].data())};
      op.mark = 1;
      boards_[me]->begin(op);
    }
    std::vector<bool> ended(host_.ranks());
    Rank left = host_.ranks();
    for (int turns = 0; left != 0; ++turns) {
      if (turns == kMostTurns) {
        ADD_FAILURE() << "members wait for ever";
        return {};
      }
      for (Rank me = 0; me < host_.ranks(); ++me) {
        if (ended[me] || !boards_[me]->step(ops[me])) continue;
        ended[me] = true;
        --left;
      }
    }
    return memory_.counts() - before;
  }
  const std::vector<std::uint32_t>& out(Rank me) const { return out_[me]; }
  std::uint64_t atomics() const { return memory_.atomics(); }
  const BoardPlan& plan(Rank me) const { return plans_[me]; }

 private:
  static constexpr int kMostTurns = 10'000;
  static BufferNote note(const void* memory) {
    return {.at = reinterpret_cast<std::uintptr_t>(memory), .segment = 0, .kind = BufferNote::address};
  }

  Host host_;
  Memory memory_;
  topology::Placement placement_;
  std::vector<std::vector<std::uint32_t>> in_;
  std::vector<std::vector<std::uint32_t>> out_;
  std::vector<BoardPlan> plans_;
  std::vector<std::unique_ptr<BoardOf<Access>>> boards_;
};

}  // namespace aqueduct::coll::counted
