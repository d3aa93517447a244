#include "coll/model/ports.hpp"

#include <bit>
#include <utility>

namespace aqueduct::coll {

namespace {

unsigned window_shift(const Machine& machine) noexcept {
  Picoseconds least = ~Picoseconds{0};
  for (const Machine::Level& level : machine.levels) {
    least = std::min(least, level.link.latency);
    for (const Machine::Longer& row : level.longer) least = std::min(least, row.link.latency);
  }
  return static_cast<unsigned>(std::bit_width(least) - 1);
}

}  // namespace

Ports::Ports(const Machine& machine, const ReplayOptions& options, Rank ranks)
    : machine_(machine),
      options_(options),
      only_(machine.is_uniform() ? &machine.levels.front().link : nullptr),
      has_hosts_(machine.host > 1),
      shift_(window_shift(machine)),
      ports_(ranks),
      heads_(shift_),
      entries_(shift_) {}

void Ports::begin() {
  ports_.assign(ports_.size(), {});
  heads_ = Calendar<Event>(shift_);
  entries_ = Calendar<Event>(shift_);
  watched_.reset();
  if (options_.links != nullptr && options_.watcher != nullptr)
    watched_.emplace(static_cast<Rank>(ports_.size()));
  messages_ = bytes_ = messages_between_hosts_ = bytes_between_hosts_ = 0;
  if (options_.links != nullptr) options_.links->begin();
}

/// A message enters the links, long ones in packets.
void Ports::enter(Event head, Picoseconds entered, std::uint64_t bytes, const LogGP& link) {
  head.time = entered;
  if (options_.packet != 0 && bytes > 4 * options_.packet && head.kind != Event::Kind::request) {
    Event part = head;
    part.kind = Event::Kind::part;
    part.bytes = options_.packet;
    std::uint64_t sent = 0;
    for (; bytes - sent > options_.packet; sent += options_.packet) {
      part.time = entered + link.bytes_time(sent);
      entries_.push(part);
    }
    head.time = entered + link.bytes_time(sent);
    head.bytes = bytes - sent;
  }
  entries_.push(head);
}

void Ports::watch(const Event& head, Picoseconds in_place, const LogGP& link) {
  if (head.kind == Event::Kind::part) return;
  const WatchedMessages::Message message =
      watched_ ? watched_->take(head)
               : WatchedMessages::Message{head.time - std::min(head.time, link.latency), head.carried()};
  options_.watcher->message(head.from, head.rank, message.bytes, message.entered, in_place);
}

void Ports::route(std::uint64_t window) {
  if (entries_.first() != window) return;
  LargeVector<Event> entries = entries_.take();
  std::stable_sort(entries.begin(), entries.end(), [](const Event& a, const Event& b) {
    return a.time != b.time ? a.time < b.time : a.from < b.from;
  });
  const auto announce = [&](std::size_t i) {
    if (i >= entries.size()) return;
    options_.links->announce(entries[i].from, entries[i].rank, entries[i].kind == Event::Kind::part);
  };
  for (std::size_t i = 0; i + 1 < Links::kAnnounced; ++i) announce(i);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    announce(i + Links::kAnnounced - 1);
    Event& entry = entries[i];
    const Picoseconds entered = entry.time;
    entry.time = options_.links->arrival(entry.time, entry.from, entry.rank, entry.carried(),
                                         between(entry.from, entry.rank, entry.carried()));
    if (watched_) watched_->route(entry, entered);
    heads_.push(entry);
  }
  entries_.recycle(std::move(entries));
}

}  // namespace aqueduct::coll
