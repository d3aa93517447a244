#pragma once

#include "coll/algorithms/algorithms.hpp"
#include "coll/schedule/schedule.hpp"
#include "coll/scratch/team_scratch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace aqueduct::coll {

/// What a member of a simulated team calls.
struct Call {
  /// `again`: the same operation as an earlier one; each member opens it by open_again if it can, or by open.
  enum class Kind : std::uint8_t { operation, again } kind = Kind::operation;
  const Algorithm* algorithm = nullptr;
  Shape shape;
  std::size_t first = 0;  ///< of `again`: the index of the first such call
};

/// How a run goes, beside its seed.
struct Manner {
  ScratchSizes sizes;
  std::uint32_t window = 4;      ///< operations that a member has begun and not ended; 1: all calls block
  std::uint32_t reuse = 0;       ///< of TeamScratch
  std::optional<Rank> late;      ///< a member that seldom runs
  std::uint32_t keep_going = 2;  ///< a member runs this often for each event of the network
};

struct Counted {
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

  ScratchWorld(Rank ranks, const Manner& manner, const std::vector<Call>& calls, std::uint64_t seed)
      : ranks_(ranks), manner_(manner), calls_(calls), random_(seed), operations_(calls.size()) {
    for (Rank position = 0; position < ranks; ++position)
      members_.push_back(std::make_unique<Member>(manner, ranks, position));
    find_senders();
  }

  Counted run() {
    std::uint32_t idle = 0;
    while (idle < 3) {
      bool moved = false;
      for (std::uint32_t i = 0; i < manner_.keep_going; ++i) {
        const Rank position = below(ranks_);
        if (manner_.late == position && below(60) != 0) continue;
        moved |= poll(position);
      }
      if (!network_.empty()) {
        deliver(below(static_cast<std::uint32_t>(network_.size())));
        moved = true;
      }
      if (moved) continue;
      for (Rank position = 0; position < ranks_; ++position) {
        for (std::uint32_t i = 0; i < 8; ++i) moved |= poll(position);
      }
      idle = moved ? 0 : idle + 1;
    }
    for (Rank position = 0; position < ranks_; ++position) {
      const Member& member = *members_[position];
      if (member.next < calls_.size() || !member.running.empty())
        fail("hangs: " + at(position) + " in call " + std::to_string(member.next));
      for (const Cell& cell : member.scratch) {
        if (cell.operation != kNobody || cell.byte != kCanary) fail(at(position) + " has bytes left over");
      }
    }
    counted_.epochs = members_[0]->team.epoch();
    return counted_;
  }

 private:
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
    Needs needs;
  };
  struct Running {
    std::uint32_t operation = 0;
    Portion portion;
    bool started = false;
    std::uint32_t transfers = 0;      ///< whose source is not free yet
    std::vector<std::uint32_t> next;  ///< [lane]
  };
  struct Member {
    Member(const Manner& manner, Rank ranks, Rank position)
        : layout(manner.sizes, ranks),
          words(layout.counters(), 1000 + position),  // left by somebody
          scratch(layout.bytes()),
          team(manner.sizes, ranks, position, CounterWords(words), manner.reuse) {}
    ScratchLayout layout;
    std::vector<std::uint64_t> words;
    std::vector<Cell> scratch;
    TeamScratch team;
    std::size_t next = 0;
    std::vector<Running> running;
    std::map<std::size_t, Portion> portions;  ///< of operations that may come again, by their first call
    std::map<std::size_t, Senders::Ticket> tickets;  ///< likewise
  };
  struct Message {
    enum class Kind : std::uint8_t { source, local, data, raise } kind;
    Rank from = 0;
    Rank to = 0;
    std::uint32_t operation = kNobody;
    Step step;
    std::vector<std::uint8_t> bytes;
    std::size_t written = 0;
    Raise control;
  };

  void find_senders() {
    sends_.assign(ranks_, std::vector<bool>(ranks_));
    for (const Call& call : calls_) {
      if (call.algorithm == nullptr) continue;
      for (Rank sender = 0; sender < ranks_; ++sender) {
        const Schedule schedule(*call.algorithm, call.shape, sender);
        for (std::uint32_t lane = 0; lane < schedule.lanes(); ++lane) {
          for (std::uint32_t i = 0; i < schedule.length(lane); ++i) {
            const Rank receiver = schedule.step(lane, i).peer;
            if (receiver != kNoRank) sends_[sender][receiver] = true;
          }
        }
      }
    }
  }

  [[noreturn]] static void fail(const std::string& what) { throw std::runtime_error(what); }
  static std::string at(Rank position) { return "member " + std::to_string(position); }
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }

  static std::uint8_t pattern(std::uint32_t operation, Rank position, std::uint64_t offset) {
    return static_cast<std::uint8_t>((operation * 131u + position * 29u + offset * 7u) >> (offset % 3));
  }

  Executed& operation(std::uint32_t number) {
    Executed& found = operations_[number];
    if (found.of.empty() && found.drained == 0) {
      const Shape& shape = calls_[number].shape;
      found.needs = Schedule::needs(*calls_[number].algorithm, shape);
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

  std::size_t first_of(std::uint32_t number) const {
    return calls_[number].kind == Call::Kind::again ? calls_[number].first : number;
  }

  bool poll(Rank position) {
    Member& member = *members_[position];
    if (member.team.busy() && below(4) != 0) {
      if (const auto raise = member.team.due();
          raise && below(8) != 0) {  // otherwise: no room, asked again later
        post_control(position, *raise);
        member.team.sent(*raise);
        return true;
      }
    }
    if (!member.running.empty() && !member.running.back().started) {
      Running& held = member.running.back();
      if (member.team.may_start(held.portion)) {
        member.team.start(held.portion);
        held.started = true;
        // Only what has started may be opened again: so the engine has a run that is over.
        member.portions[first_of(held.operation)] = held.portion;
        return true;
      }
    } else if (member.next < calls_.size() && member.running.size() < manner_.window && below(3) != 0) {
      call(position);
      return true;
    }
    if (member.running.empty()) return false;
    const std::size_t chosen = below(static_cast<std::uint32_t>(member.running.size()));
    for (std::size_t i = 0; i < member.running.size(); ++i) {
      const std::size_t which = (chosen + i) % member.running.size();
      if (member.running[which].started && advance(position, which)) return true;
    }
    return false;
  }

  void call(Rank position) {
    Member& member = *members_[position];
    const auto number = static_cast<std::uint32_t>(member.next++);
    const Call& made = calls_[number];
    const Needs needs = Schedule::needs(*made.algorithm, made.shape);
    Running running;
    running.operation = number;
    const std::size_t first = first_of(number);
    Senders::Ticket fresh;
    Senders::Ticket& ticket = below(2) == 0 ? member.tickets[first] : fresh;
    const auto before = member.portions.find(first);
    if (before != member.portions.end() && below(4) != 0 && member.team.open_again(before->second)) {
      running.portion = before->second;
      running.started = true;
      ++counted_.again;
    } else {
      running.portion = member.team.open(*made.algorithm, made.shape, needs, ticket);
    }
    running.next.resize(Schedule(*made.algorithm, made.shape, position).lanes());
    Executed& known = operation(number);
    if (!known.portion) known.portion = running.portion;
    if (known.portion->epoch != running.portion.epoch || known.portion->offset != running.portion.offset ||
        known.portion->first_counter != running.portion.first_counter)
      fail("operation " + std::to_string(number) + " has different portions");
    member.running.push_back(std::move(running));
  }

  /// Goes on with one lane by one step, or ends the operation. False if it cannot.
  bool advance(Rank position, std::size_t which) {
    Member& member = *members_[position];
    Running& running = member.running[which];
    const Call& made = calls_[running.operation];
    const Schedule schedule(*made.algorithm, made.shape, position);
    bool ended = true;
    for (std::uint32_t lane = 0; lane < schedule.lanes(); ++lane) {
      if (running.next[lane] == schedule.length(lane)) continue;
      ended = false;
      const Step step = schedule.step(lane, running.next[lane]);
      if (step.wait_for != kNoCounter) {
        const std::uint64_t count = member.team.count(running.portion, step.wait_for);
        if (count > step.wait_until) fail("a counter of " + at(position) + " is beyond what is added to it");
        if (count < step.wait_until) continue;
      }
      if (step.peer != kNoRank && !member.team.may_write(running.portion, step.peer)) continue;
      begin(position, running, step);
      ++running.next[lane];
      return true;
    }
    if (!ended || running.transfers > 0) return false;
    end(position, which);
    return true;
  }

  void begin(Rank position, Running& running, const Step& step) {
    const std::uint32_t number = running.operation;
    switch (step.kind) {
      case Step::Kind::put:
        ++running.transfers;
        network_.push_back({Message::Kind::source, position, step.peer, number, step, {}, 0, {}});
        ++counted_.data;
        return;
      case Step::Kind::signal:
        network_.push_back({Message::Kind::data, position, step.peer, number, step, {}, 0, {}});
        ++counted_.data;
        break;
      case Step::Kind::get: fail("no algorithm has gets"); break;
      case Step::Kind::copy:
        write(position, number, step.to, step, read(position, number, step.from, step));
        break;
      case Step::Kind::reduce: {
        std::vector<std::uint8_t> sum = read(position, number, step.from, step);
        const std::vector<std::uint8_t> right = read(position, number, step.with, step);
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = static_cast<std::uint8_t>(sum[i] + right[i]);
        write(position, number, step.to, step, sum);
        break;
      }
      case Step::Kind::native: fail("no algorithm of the library is native"); break;
      case Step::Kind::nothing:
      case Step::Kind::tell: break;
    }
    raise_own(position, running.portion, step);
  }

  void raise_own(Rank position, const Portion& portion, const Step& step) {
    if (step.done != kNoCounter) ++members_[position]->words[portion.first_counter + step.done];
  }

  std::vector<std::uint8_t>& user(Rank position, std::uint32_t number, Space space) {
    Buffers& buffers = operation(number).of[position];
    return space == Space::in ? buffers.in : space == Space::out ? buffers.out : buffers.temp;
  }

  std::vector<std::uint8_t> read(Rank position, std::uint32_t number, const Place& place, const Step& step) {
    std::vector<std::uint8_t> bytes;
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

  void write_byte(Rank position, std::uint32_t number, const Place& place, const Step& step,
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

  void write(Rank position, std::uint32_t number, const Place& place, const Step& step,
             const std::vector<std::uint8_t>& bytes) {
    for (std::size_t i = 0; i < bytes.size(); ++i) write_byte(position, number, place, step, i, bytes[i]);
  }

  Running* find(Rank position, std::uint32_t number) {
    for (Running& running : members_[position]->running) {
      if (running.operation == number) return &running;
    }
    return nullptr;
  }

  void deliver(std::size_t which) {
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
        const std::size_t upto = message.written == 0 && below(2) == 0 ? size / 2 : size;
        for (; message.written < upto; ++message.written) {
          write_byte(message.to, message.operation, message.step.to, message.step, message.written,
                     message.bytes[message.written]);
        }
        if (message.written < size) return;
        if (message.step.raise != kNoCounter) {
          const Portion& portion = *operation(message.operation).portion;
          members_[message.to]->words[portion.first_counter + message.step.raise] += message.step.add;
        }
        break;
      }
      case Message::Kind::raise:
        members_[message.to]->words.at(message.control.counter) += message.control.add;
        break;
    }
    if (which + 1 < network_.size()) network_[which] = std::move(network_.back());
    network_.pop_back();
  }

  void post_control(Rank position, const Raise& raise) {
    const Member& member = *members_[position];
    if (raise.peer == position || raise.peer >= ranks_ || raise.add == 0) fail("a control message is wrong");
    ++counted_.control;
    if (raise.counter >= member.layout.round_counter(0)) {
      ++counted_.barrier;
    } else if (raise.counter != member.layout.clear_counter(position) || !sends_[raise.peer][position]) {
      fail(at(position) + " clears a member that does not write to it");
    }
    // Each adds at least 1, and they add up to the epochs that are finished: so there is at most one for each of these.
    network_.push_back({Message::Kind::raise, position, raise.peer, kNobody, {}, {}, 0, raise});
  }

  void end(Rank position, std::size_t which) {
    Member& member = *members_[position];
    const Running running = member.running[which];
    Executed& known = operation(running.operation);
    check_result(position, running.operation);
    for (std::uint64_t i = 0; i < running.portion.bytes; ++i) {
      Cell& cell = member.scratch[running.portion.offset + i];
      if (cell.operation != running.operation && cell.operation != kNobody)
        fail("an operation ends, and another has bytes of it at " + at(position));
      if (cell.operation == kNobody && cell.byte != kCanary) fail("a canary has changed");
      cell = {};
    }
    member.team.drained(running.portion);
    member.running.erase(member.running.begin() + static_cast<std::ptrdiff_t>(which));
    known.of[position].drained = true;
    if (++known.drained == ranks_) known.of.clear();
  }

  static std::uint8_t expected_byte(const Shape& shape, Rank position, std::uint32_t number, std::size_t i) {
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
    const std::size_t at = shape.operation == Operation::reduce_scatter ? mine : i;
    std::uint8_t sum = 0;
    for (Rank from = 0; from < end; ++from) sum = static_cast<std::uint8_t>(sum + pattern(number, from, at));
    return sum;
  }

  void check_result(Rank position, std::uint32_t number) {
    const Shape& shape = calls_[number].shape;
    const std::vector<std::uint8_t>& out = operation(number).of[position].out;
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (shape.operation == Operation::exscan && position == 0) return;  // it has no output
      if (out[i] != expected_byte(shape, position, number, i))
        fail("operation " + std::to_string(number) + " gives a wrong byte at " + at(position));
    }
  }

  Rank ranks_;
  Manner manner_;
  const std::vector<Call>& calls_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<Member>> members_;
  std::vector<Executed> operations_;  ///< [call]
  std::vector<Message> network_;
  std::vector<std::vector<bool>> sends_;  ///< [sender][receiver], in any of the calls
  Counted counted_;
};

}  // namespace aqueduct::coll
