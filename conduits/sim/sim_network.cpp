#include "conduits/sim/sim_network.hpp"

#include <aqueduct/copy_bytes.hpp>

#include "conduits/sim/sim_conduit.hpp"
#include "core/apply_atomic.hpp"
#include "core/word_signal.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace aqueduct::conduits::sim {

SimNetwork::SimNetwork(Rank ranks, const SimOptions& options, core::Log* log, core::EndpointClock real)
    : options_(options),
      log_(log),
      ranks_(ranks),
      dice_(options.seed, 0),
      time_(ranks, options.patience, real, *this) {
  options_.latency = std::max<Picoseconds>(options_.latency, 1);
}

Result<std::unique_ptr<core::Conduit>> SimNetwork::open(Rank me) {
  if (me >= ranks()) {
    if (log_ != nullptr) log_->error("sim: open({}): a job of {} ranks has no such rank", me, ranks());
    return {ErrorCode::out_of_range, me};
  }
  const Lock lock(time_.mutex());
  if (ranks_[me].opened) {
    if (log_ != nullptr) log_->error("sim: open({}): this rank was opened before; a rank opens once", me);
    return {ErrorCode::refused, me};
  }
  ranks_[me].opened = ranks_[me].open = true;
  time_.open(me);
  return std::unique_ptr<core::Conduit>(std::make_unique<SimConduit>(*this, me));
}

void SimNetwork::close(Rank rank) noexcept {
  Lock lock(time_.mutex());
  time_.enter(lock, rank);
  ranks_[rank].open = false;
  ranks_[rank].memory.clear();
  ranks_[rank].counters = {};
  ranks_[rank].news.clear();
  if (ranks_[rank].in_flight == 0) {
    ++ranks_[rank].in_flight;
    arrived_from(rank);
  }
  time_.close(rank);
}

bool SimNetwork::is_open(Rank rank) noexcept {
  const Lock lock(time_.mutex());
  return ranks_[rank].open;
}

void SimNetwork::register_segment(Rank rank, SegmentId id, core::MutableBytes memory) {
  const Lock lock(time_.mutex());
  ranks_[rank].memory.add(id, memory);
}

void SimNetwork::unregister_segment(Rank rank, SegmentId id) noexcept {
  const Lock lock(time_.mutex());
  ranks_[rank].memory.remove(id);
}

void SimNetwork::count_in(Rank rank, core::MutableBytes counters) noexcept {
  const Lock lock(time_.mutex());
  ranks_[rank].counters = counters;
}

void SimNetwork::sleep_until(Rank rank, Picoseconds until) {
  Lock lock(time_.mutex());
  time_.enter(lock, rank);
  if (until > time_.time_of(rank)) time_.park(lock, rank, until, false);
}

std::uint64_t SimNetwork::passed_over() {
  const Lock lock(time_.mutex());
  return time_.passed_over();
}

core::Post SimNetwork::post(const Message& message, core::Bytes header, bool copies) noexcept {
  Lock lock(time_.mutex());
  time_.enter(lock, message.from);
  RankData& mine = ranks_[message.from];
  if (message.to >= ranks()) return core::Post::failed(ErrorCode::out_of_range);
  if (!ranks_[message.to].open) return core::Post::failed(ErrorCode::peer_lost);
  if (message.kind != Message::Kind::packet) {
    const RegisteredMemory& theirs = ranks_[message.to].memory;
    ErrorCode why = ErrorCode::ok;
    if (message.bytes != 0) {
      const auto place = theirs.find(message.segment, message.offset, message.bytes);
      why = place.status().code();
      if (place && message.kind == Message::Kind::atomic &&
          reinterpret_cast<std::uintptr_t>(place->data()) % message.bytes != 0)
        why = ErrorCode::misaligned;
    }
    if (why == ErrorCode::ok && message.kind == Message::Kind::put_word)
      why = theirs.find(static_cast<SegmentId>(message.word.key), message.word.offset, sizeof(std::uint64_t))
                .status()
                .code();
    if (why != ErrorCode::ok) return core::Post::failed(why);
  }
  if (mine.under_way >= options_.queue) return core::Post::retry();
  ++mine.under_way;
  ++mine.in_flight;
  const std::uint32_t number = messages_.take();
  std::vector<std::byte> payload = std::move(messages_[number].payload);
  messages_[number] = message;
  Message& posted = messages_[number];
  posted.payload = std::move(payload);
  if (copies) {
    posted.payload.resize(header.size() + message.bytes);
    std::copy(header.begin(), header.end(), posted.payload.begin());
    if (message.bytes != 0) std::memcpy(posted.payload.data() + header.size(), message.source, message.bytes);
    posted.read = true;
    posted.bytes = posted.payload.size();
  }
  // Others run meanwhile, and what arrives before the port has the message precedes it there.
  if (options_.overhead != 0)
    time_.park(lock, message.from, time_.time_of(message.from) + options_.overhead, false);
  hand_over(number, time_.time_of(message.from));
  return copies && message.kind == Message::Kind::packet ? core::Post::done() : core::Post::posted();
}

/// Jitter, and the time that lost copies of a message cost.
Picoseconds SimNetwork::disturbance() noexcept {
  Picoseconds late = options_.jitter != 0 ? dice_.below(options_.jitter + 1) : 0;
  while (options_.losses != 0 && dice_.below(1'000'000) < options_.losses) late += options_.retransmit;
  return late;
}

void SimNetwork::plan(Picoseconds time, Phase phase, Rank first, std::uint32_t message, Rank second) {
  events_.push({time, phase, first, second, planned_++, message});
}

/// Gives a message to its sender's port.
void SimNetwork::hand_over(std::uint32_t number, Picoseconds at) {
  const Message& message = messages_[number];
  Picoseconds& free = ranks_[message.sender()].sends_from;
  const Picoseconds bytes = options_.bytes_time(message.carried());
  const Picoseconds enters = std::max(at, free);
  free = enters + options_.gap + bytes;
  plan(enters + options_.latency + disturbance(), Phase::head, message.sender(), number);
  if (!message.answers && !message.read && message.source != nullptr)
    plan(enters + bytes, Phase::source_free, message.from, number);
}

Picoseconds SimNetwork::next() const noexcept { return events_.empty() ? kNever : events_.top().time; }

void SimNetwork::happen() noexcept {
  const Event event = events_.top();
  events_.pop();
  switch (event.phase) {
    case Phase::head: return take_head(event);
    case Phase::in_place: return arrive(event);
    case Phase::source_free: return free_source(messages_[event.message]);
    case Phase::over: return complete(event.message);
  }
}

/// The head of a message reaches its receiver's port.
void SimNetwork::take_head(const Event& event) {
  const Message& message = messages_[event.message];
  Picoseconds& free = ranks_[message.receiver()].receives_from;
  const Picoseconds bytes = options_.bytes_time(message.carried());
  const Picoseconds begins = std::max(event.time, free);
  free = begins + options_.gap + bytes;
  plan(begins + bytes, Phase::in_place, message.receiver(), event.message);
}

/// All bytes of a message are at their receiver.
void SimNetwork::arrive(const Event& event) {
  const std::uint32_t number = event.message;
  Message& message = messages_[number];
  if (!message.answers) return arrive_at_owner(number, event.time);
  RankData& mine = ranks_[message.from];
  if (mine.open && message.outcome) {
    if (message.kind == Message::Kind::atomic) {
      if (message.call.result != nullptr) std::memcpy(message.call.result, &message.old_value, message.bytes);
    } else {
      detail::move_bytes(message.target, message.payload.data(), message.bytes);
    }
  }
  complete(number);
}

void SimNetwork::arrive_at_owner(std::uint32_t number, Picoseconds at) {
  Message& message = messages_[number];
  RankData& theirs = ranks_[message.to];
  if (message.kind == Message::Kind::packet) {
    if (theirs.open) {
      tell(message.to,
           {.kind = News::Kind::packet, .from = message.from, .packet = std::move(message.payload)});
    }
    arrived_from(message.from);
    return plan(at + options_.latency, Phase::over, message.from, number, message.to);
  }
  core::MutableBytes place;
  if (message.bytes != 0) {
    const auto found = theirs.memory.find(message.segment, message.offset, message.bytes);
    if (found) place = *found;
    if (!found) message.outcome = {found.status().code(), message.to};
  } else if (!theirs.open) {
    message.outcome = {ErrorCode::peer_lost, message.to};
  }
  if (message.kind == Message::Kind::get || message.kind == Message::Kind::atomic) {
    if (message.outcome && message.kind == Message::Kind::atomic) {
      message.old_value = core::apply_atomic(message.call.op, message.call.type, message.call.operand,
                                             message.call.expected, place.data());
      time_.news(message.to);
    } else if (message.outcome) {
      message.payload.resize(message.bytes);
      detail::move_bytes(message.payload.data(), place.data(), message.bytes);
    }
    arrived_from(message.from);
    message.answers = true;
    ++ranks_[message.to].in_flight;
    return hand_over(number, at);
  }
  const bool whole = message.read || message.bytes == 0;  // not if its sender has ended before it was sent
  if (message.outcome && whole) {
    if (message.bytes != 0) detail::move_bytes(place.data(), message.payload.data(), message.bytes);
    raise(message);
  }
  arrived_from(message.from);
  plan(at + options_.latency, Phase::over, message.from, number, message.to);
}

/// The bytes of a put are in place: its signal follows.
void SimNetwork::raise(const Message& message) {
  RankData& theirs = ranks_[message.to];
  if (message.kind == Message::Kind::put_signal) {
    const std::uint64_t offset = std::uint64_t{message.signal.slot} * sizeof(std::uint64_t);
    if (theirs.counters.empty()) {
      tell(message.to, {.kind = News::Kind::signal, .from = message.from, .signal = message.signal});
    } else if (offset + sizeof(std::uint64_t) <= theirs.counters.size()) {
      core::update_word(theirs.counters.data() + offset, SignalOp::add, message.signal.add);
      tell(message.to, {.kind = News::Kind::counted});
    }
  } else if (message.kind == Message::Kind::put_word) {
    const auto word = theirs.memory.find(static_cast<SegmentId>(message.word.key), message.word.offset,
                                         sizeof(std::uint64_t));
    if (word) static_cast<void>(core::apply_signal(*word, 0, message.word.op, message.word.value));
    time_.news(message.to);
  } else {
    time_.news(message.to);  // it may wait for the bytes
  }
}

void SimNetwork::read_source(Message& message) noexcept {
  message.payload.resize(message.bytes);
  if (message.bytes != 0) detail::move_bytes(message.payload.data(), message.source, message.bytes);
  message.read = true;
}

/// A message has left.
void SimNetwork::free_source(Message& message) {
  if (!ranks_[message.from].open) return;  // its memory is gone
  read_source(message);
  if (message.kind == Message::Kind::put_signal && message.bytes != 0)
    tell(message.from, {.kind = News::Kind::source_free, .token = message.token});
}

void SimNetwork::complete(std::uint32_t number) {
  const Message& message = messages_[number];
  RankData& mine = ranks_[message.from];
  --mine.under_way;
  if (message.answers) arrived_from(message.to);
  if (mine.open) {
    if (message.kind == Message::Kind::packet) {
      time_.news(message.from);  // there is room
    } else {
      tell(message.from, {.kind = News::Kind::completed, .token = message.token, .status = message.outcome});
    }
  }
  messages_.give_back(number);
}

void SimNetwork::tell(Rank rank, News&& news) {
  if (!ranks_[rank].open) return;
  ranks_[rank].news.push_back(std::move(news));
  time_.news(rank);
}

/// A message of a rank has arrived. If it was the last one of a rank that has ended, the others hear of the end.
void SimNetwork::arrived_from(Rank rank) {
  RankData& one = ranks_[rank];
  if (--one.in_flight != 0 || one.open || one.loss_told) return;
  one.loss_told = true;
  for (Rank other = 0; other < ranks(); ++other) tell(other, {.kind = News::Kind::lost, .from = rank});
}

bool SimNetwork::next_news(Rank rank, News& news) noexcept {
  Lock lock(time_.mutex());
  time_.enter(lock, rank);
  auto& waiting = ranks_[rank].news;
  if (waiting.empty()) {
    time_.no_news(rank);
    return false;
  }
  news = std::move(waiting.front());
  waiting.pop_front();
  return true;
}

void SimNetwork::await_news(Rank rank, Picoseconds for_) noexcept {
  Lock lock(time_.mutex());
  time_.enter(lock, rank);
  const Picoseconds now = time_.time_of(rank);
  time_.park(lock, rank, kNever - now > for_ ? now + for_ : kNever - 1, true);
}

std::size_t SimNetwork::under_way(Rank rank) noexcept {
  const Lock lock(time_.mutex());
  return ranks_[rank].under_way;
}

}  // namespace aqueduct::conduits::sim
