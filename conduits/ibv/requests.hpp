#pragma once

#include "conduits/ibv/burst.hpp"
#include "conduits/ibv/credit_counters.hpp"
#include "conduits/ibv/link.hpp"
#include "conduits/ibv/local_buffers.hpp"
#include "conduits/ibv/losses.hpp"
#include "conduits/ibv/work.hpp"
#include "conduits/ibv/work_id.hpp"

#include <cstring>

namespace aqueduct::conduits::ibv {

/// The work requests of one endpoint on the first port: counts them, numbers them, hands them to the device, and ends them.
///
/// A request begins with `begin`, which returns null if there is no room. Then it goes with one of the `launch` functions, or is
/// taken back by `undo`. Its completion, or a later one of the same queue pair, ends it.
class Requests {
 public:
  Requests(const Environment& env, Losses& losses, LocalBuffers& buffers, const CreditCounters& counters)
      : env_(env),
        losses_(losses),
        buffers_(buffers),
        counters_(counters),
        unused_(env.sizes().queue),
        reserved_(kReserved + (env.sizes().confirms ? 0 : 1)),  // a put takes two where a read confirms it
        inline_bytes_(env.options.inline_bytes),
        burst_bytes_(env.sizes().confirms ? env.options.inline_bytes : 0) {}

  // What a peer does not end must leave room for the others: nobody has more under way than is still free.
  OutstandingRequest* begin(Link& link, OutstandingRequest::Kind kind, core::Token token) noexcept {
    const std::uint32_t reserved = kind == OutstandingRequest::Kind::own ? 0 : reserved_;
    if (link.outstanding.room() <= reserved || unused_ <= reserved || link.outstanding.count() > unused_)
        [[unlikely]]
      return nullptr;
    --unused_;
    return &link.outstanding.begin(kind, token);
  }
  /// Whether a put and a message behind it have room, with what confirms them.
  bool has_room_for_two(const Link& link) const noexcept {
    return link.outstanding.room() >= 5 && unused_ >= 5 && link.outstanding.count() + 2 < unused_;
  }
  /// Takes back the newest of the link, which has not been handed over.
  void undo(Link& link) noexcept;

  /// Gives the newest request of the link its number; `tells`: it must have a completion of its own.
  void name(Link& link, ibv_send_wr& request, bool signaled) noexcept;
  /// Names the newest request of the link and hands it over. If it is not taken, it is taken back.
  core::Post launch(Link& link, ibv_send_wr& request, bool signaled) noexcept;
  /// Hands over a list of requests that have names, `newest` the last. All of it ends with the peer if the device does not take
  /// it.
  core::Post launch_list(Link& link, ibv_send_wr& first, ibv_send_wr& newest) noexcept;

  /// The most that the fast way of a put takes; at least this many bytes there must be less one.
  std::uint32_t most_short() const noexcept { return burst_bytes_; }
  /// A put of 1 to most_short() bytes, `key` being the handle of `remote`.
  core::Post put_short(Link& link, const Key& remote, std::uint64_t key, std::uint64_t offset,
                       core::Bytes from, bool inject, core::Token token) noexcept {
    OutstandingRequest* const entry = begin(link, OutstandingRequest::Kind::put, token);
    if (entry == nullptr) [[unlikely]]
      return core::Post::retry();
    entry->offset = offset;
    entry->key = static_cast<std::uint32_t>(key);
    entry->bytes = static_cast<std::uint32_t>(from.size());
    if (!burst_.empty() && burst_.link() != &link) ring();
    const std::uint64_t id = WorkId::request(link.peer, link.outstanding.next() - 1);
    const Burst::Put short_put{id, remote.at + offset, remote.key, from, inject};
    // The first since the last poll goes at once, so that a lone one has no delay; those that follow it go together, when
    // they are many or at the next poll.
    if (link.posted_in == round_) {
      burst_.add(link, short_put);
      if (burst_.full() || link.outstanding.room() <= 2) ring();
      return core::Post::posted();
    }
    link.posted_in = round_;
    if (!hand_over(link, burst_.alone(short_put))) [[unlikely]]
      return take_back(link);
    link.unsignaled = 0;
    return core::Post::posted();
  }
  /// Another put to the link in this round of poll is one that follows.
  void note_put(Link& link) const noexcept { link.posted_in = round_; }
  /// A poll begins: what is held goes.
  void begin_round() noexcept {
    ++round_;
    if (holds_any()) ring();
  }
  bool holds_any() const noexcept { return !burst_.empty(); }
  /// Hands over what is held, with one doorbell; the last tells the end of all.
  void ring() noexcept;
  /// The peer is lost: what is held for it does not go.
  void drop_held(const Link& link) noexcept {
    if (burst_.link() == &link) static_cast<void>(burst_.take(nullptr));
  }

  /// A write of the conduit's own: of one number to the peer's memory. False: no room.
  bool write_number(Link& link, std::uint64_t at, std::uint32_t key, std::uint64_t value) noexcept {
    return post_own(link, at, key, value, true);
  }
  /// A request that does nothing, whose end shows that the peer is there, and that all before it has arrived. False: no room.
  bool probe(Link& link, OutstandingRequest::Kind kind) noexcept;

  /// Ends the oldest of the link: gives its buffers back, and if `status` is good, copies what it brought. Returns what it was.
  OutstandingRequest end_front(Link& link, const Status& status) noexcept {
    const OutstandingRequest entry = link.outstanding.front();
    link.outstanding.end_front();
    ++unused_;
    if (entry.result != nullptr && status) std::memcpy(entry.result, entry.bounce_buffer, entry.bytes);
    buffers_.give_back(entry);
    return entry;
  }

  /// What a work request itself may carry.
  std::uint32_t inline_bytes() const noexcept { return inline_bytes_; }
  /// What a queue pair of the device carries so.
  void set_inline_bytes(std::uint32_t bytes) noexcept;

 private:
  // Chosen: places in each queue that only the conduit's own small writes may take, so that credits always go back.
  static constexpr std::uint32_t kReserved = 2;

  // Gives the device a list of requests, the newest last. False: the newest at least was not taken.
  bool hand_over(Link& link, ibv_send_wr* first) noexcept {
    ibv_send_wr* bad = nullptr;
    const int error = ::ibv_post_send(link.pair.get(), first, &bad);
    if (error == 0) [[likely]]
      return true;
    refused(link, error, bad);
    return false;
  }
  void refused(Link& link, int error, const ibv_send_wr* bad) noexcept;
  core::Post take_back(Link& link) noexcept;
  core::Post hand_over_promised(Link& link, ibv_send_wr& first) noexcept;
  bool post_own(Link& link, std::uint64_t at, std::uint32_t key, std::uint64_t value,
                bool has_value) noexcept;

  // Writes whose end says nothing of their arrival.
  bool must_confirm(Link& link) noexcept {
    return !env_.sizes().confirms &&
           link.outstanding[link.outstanding.next() - 1].kind == OutstandingRequest::Kind::put;
  }
  void add_confirmation(Link& link, Work& read) noexcept;
  core::Post launch_confirmed(Link& link, ibv_send_wr& request) noexcept;
  void fill_read_back(const Link& link, Work& read) const noexcept;

  const Environment& env_;
  Losses& losses_;
  LocalBuffers& buffers_;
  const CreditCounters& counters_;
  Burst burst_;
  std::uint32_t unused_;        // work requests that there is room for
  std::uint32_t reserved_;      // places in each queue that callers' requests leave
  std::uint32_t inline_bytes_;  // what a work request itself may carry
  std::uint32_t burst_bytes_;   // of these, puts that may go in a burst
  std::uint64_t round_ = 1;     // of poll
};

}  // namespace aqueduct::conduits::ibv
