#pragma once

#include "coll/schedule/schedule.hpp"
#include "coll/scratch/team_scratch.hpp"
#include "tools/aqcheck/scratch_mistake.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace aqueduct::aqcheck {

/// What a member of a simulated team calls.
struct ScratchCall {
  /// `again`: the same operation as an earlier one; each member opens it by open_again if it can, or by open.
  enum class Kind : std::uint8_t { operation, again } kind = Kind::operation;
  const coll::Algorithm* algorithm = nullptr;
  coll::Shape shape;
  std::size_t first = 0;  ///< of `again`: the index of the first such call
  /// It takes a whole bank, whatever it needs: the next call begins an epoch.
  bool whole_bank = false;
};

/// How a run goes, beside its seed.
struct Manner {
  /// Who moves next. `chance`: anybody. The others have no chance: all members but the late one go on as far as they can
  /// before it makes one step, and of the messages under way the oldest, the newest, or one to another member than the
  /// late one arrives first.
  enum class Order : std::uint8_t { chance, oldest, newest, late_last } order = Order::chance;
  coll::ScratchSizes sizes;
  std::uint32_t window = 4;      ///< operations that a member has begun and not ended; 1: all calls block
  std::uint32_t reuse = 0;       ///< of TeamScratch
  std::optional<Rank> late;      ///< a member that seldom runs
  std::uint32_t keep_going = 2;  ///< a member runs this often for each event of the network
  ScratchMistake mistake;
};

/// What a run has sent.
struct ScratchCounted {
  std::uint64_t data = 0;     ///< puts and signals of operations
  std::uint64_t control = 0;  ///< messages of the scratch
  std::uint64_t barrier = 0;  ///< of these: of barriers
  std::uint64_t epochs = 0;
  std::uint64_t again = 0;  ///< operations that were opened again, of all members
};

/// A team with real scratch, whose operations run step by step over a network that delivers in any order, a put in two
/// halves, and whose sources are read late. Every byte of scratch knows which operation it belongs to; all others hold a
/// canary. Throws std::runtime_error at the first violation.
class ScratchWorld {
 public:
  static constexpr std::uint8_t kCanary = 0xc5;

  ScratchWorld(Rank ranks, const Manner& manner, const std::vector<ScratchCall>& calls, std::uint64_t seed);

  ScratchCounted run();

 private:
  using Portion = coll::Portion;
  using Raise = coll::Raise;
  static constexpr std::uint32_t kNobody = 0xffff'ffff;
  struct Cell {
    std::uint32_t operation = kNobody;
    std::uint8_t byte = kCanary;
  };
  /// A member's buffers in one operation.
  struct Buffers {
    std::vector<std::uint8_t> in, out, temp;
    bool drained = false;
  };
  struct Executed {
    std::vector<Buffers> of;  ///< [position]; empty before the first use and after the last
    std::uint32_t drained = 0;
    std::optional<Portion> portion;
    coll::Needs needs;
  };
  struct Running {
    std::uint32_t operation = 0;
    Portion portion;
    bool started = false;
    bool drained = false;             ///< told too early, by a mistake
    std::uint32_t transfers = 0;      ///< whose source is not free yet
    std::vector<std::uint32_t> next;  ///< [lane]
  };
  struct Member {
    Member(const Manner& manner, Rank ranks, Rank position);
    coll::ScratchLayout layout;
    std::vector<std::uint64_t> words;
    std::vector<Cell> scratch;
    coll::TeamScratch team;
    std::size_t next = 0;
    std::vector<Running> running;
    std::map<std::size_t, Portion> portions;  ///< of operations that may come again, by their first call
    std::map<std::size_t, coll::Senders::Ticket> tickets;  ///< likewise
  };
  struct Message {
    enum class Kind : std::uint8_t { source, local, data, request, answer, raise } kind;
    Rank from = 0;
    Rank to = 0;
    std::uint32_t operation = kNobody;
    coll::Step step;
    std::vector<std::uint8_t> bytes;
    std::size_t written = 0;
    Raise control;
  };

  [[noreturn]] static void fail(const std::string& what) { throw std::runtime_error(what); }
  static std::string at(Rank position) { return "member " + std::to_string(position); }
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }
  /// By chance, more often than not; in a run without chance always.
  bool perhaps(std::uint32_t one_in) { return manner_.order != Manner::Order::chance || below(one_in) != 0; }
  bool wrong(Rank position, ScratchMistake::Kind kind) const noexcept {
    return manner_.mistake.kind == kind && manner_.mistake.member == position;
  }
  const coll::Schedule& schedule(Rank position, std::uint32_t number) const noexcept {
    return schedules_[first_of(number) * ranks_ + position];
  }
  std::size_t first_of(std::uint32_t number) const noexcept {
    return calls_[number].kind == ScratchCall::Kind::again ? calls_[number].first : number;
  }

  // scratch_world.cpp: who moves when
  void run_by_chance();
  void run_all_but_the_late();
  std::size_t next_message() const noexcept;
  void check_end() const;
  void find_senders();

  // scratch_member.cpp: what a member does
  bool poll(Rank position);
  void call(Rank position);
  void open(Rank position, Running& running);
  std::uint64_t count(Rank position, const Running& running, coll::Counter counter) const;
  bool advance(Rank position, std::size_t which);
  void begin(Rank position, Running& running, const coll::Step& step);
  void raise_own(Rank position, const Portion& portion, const coll::Step& step);
  void end(Rank position, std::size_t which);
  Running* find(Rank position, std::uint32_t number);

  // scratch_memory.cpp: messages, buffers and results
  Executed& operation(std::uint32_t number);
  std::vector<std::uint8_t>& user(Rank position, std::uint32_t number, coll::Space space);
  std::vector<std::uint8_t> read(Rank position, std::uint32_t number, const coll::Place& place,
                                 const coll::Step& step);
  void write_byte(Rank position, std::uint32_t number, const coll::Place& place, const coll::Step& step,
                  std::size_t index, std::uint8_t byte);
  void write(Rank position, std::uint32_t number, const coll::Place& place, const coll::Step& step,
             const std::vector<std::uint8_t>& bytes);
  void deliver(std::size_t which);
  void post_control(Rank position, const Raise& raise);
  void check_result(Rank position, std::uint32_t number);

  Rank ranks_;
  Manner manner_;
  const std::vector<ScratchCall>& calls_;
  std::mt19937_64 random_;
  std::vector<coll::Schedule> schedules_;  ///< [call][position]
  std::vector<std::unique_ptr<Member>> members_;
  std::vector<Executed> operations_;      ///< [call]
  std::vector<Message> network_;          ///< in a run without chance, the oldest first
  std::vector<std::vector<bool>> sends_;  ///< [sender][receiver], in any of the calls
  std::uint32_t raises_ = 0;              ///< control messages of the member that makes a mistake
  ScratchCounted counted_;
};

}  // namespace aqueduct::aqcheck
