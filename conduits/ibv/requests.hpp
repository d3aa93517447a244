#pragma once

#include "conduits/ibv/burst.hpp"
#include "conduits/ibv/connection.hpp"
#include "conduits/ibv/credit_counters.hpp"
#include "conduits/ibv/local_buffers.hpp"
#include "conduits/ibv/losses.hpp"
#include "conduits/ibv/work.hpp"
#include "conduits/ibv/work_id.hpp"

#include <cstring>

namespace aqueduct::conduits::ibv {

/// The work requests of one endpoint on the first port: counts, numbers and posts them, and ends them when they
/// complete.
///
/// `begin` reserves a place, or returns null if there is no room. Then one of the `launch` functions posts the request,
/// or `undo` gives the place back. Its completion ends the request, or a later completion of the same queue pair.
class Requests {
 public:
  Requests(const Environment& env, Losses& losses, LocalBuffers& buffers, const CreditCounters& counters)
      : env_(env),
        losses_(losses),
        buffers_(buffers),
        counters_(counters),
        unused_(env.sizes().queue),
        reserved_(kReserved +
                  (env.sizes().confirms ? 0 : 1)),  // a put needs two places where a read confirms it
        inline_bytes_(env.options.inline_bytes),
        burst_bytes_(env.sizes().confirms ? env.options.inline_bytes : 0) {}

  /// Reserves a place for a request. Null: no room. A peer that completes nothing must leave room for the others, so
  /// each peer may have at most as many requests as there are free places.
  OutstandingRequest* begin(Connection& connection, OutstandingRequest::Kind kind,
                            core::Token token) noexcept {
    const std::uint32_t reserved = kind == OutstandingRequest::Kind::own ? 0 : reserved_;
    const std::uint32_t count = connection.outstanding.count();
    if (count + reserved >= connection.outstanding.most() || unused_ <= reserved || count > unused_)
        [[unlikely]]
      return nullptr;
    --unused_;
    return &connection.outstanding.begin(kind, token);
  }
  /// Whether there is room for a put and a message behind it, with the read that confirms them.
  bool has_room_for_two(const Connection& connection) const noexcept {
    return connection.outstanding.room() >= 5 && unused_ >= 5 && connection.outstanding.count() + 2 < unused_;
  }
  /// Gives back the place of the connection's newest request, which was not posted.
  void undo(Connection& connection) noexcept;
  /// The same for a request that the device has refused. Returns the answer to its operation.
  core::Post take_back(Connection& connection) noexcept;

  /// Sets the id of the connection's newest request. `signaled`: it must have a completion of its own.
  void name(Connection& connection, ibv_send_wr& request, bool signaled) noexcept;

  /// Names and posts the connection's newest request. If the answer is not `posted`, the request is undone.
  core::Post launch(Connection& connection, ibv_send_wr& request, bool signaled) noexcept;
  /// Posts a list of named requests, of which `newest` is the last. If the device does not take it, the peer is lost,
  /// and all of them end with it.
  core::Post launch_list(Connection& connection, ibv_send_wr& first, ibv_send_wr& newest) noexcept;

  /// The longest put for `put_short`, in bytes; 0: none.
  std::uint32_t most_short() const noexcept { return burst_bytes_; }
  /// What became of a short put. `refused`: take_back has the answer.
  enum class ShortPut : std::uint8_t { posted, no_room, refused };
  /// A put of 1 to most_short() bytes. `key`: the handle of `remote`. Always inlined: a call with so many arguments
  /// would cost a tenth of the put's instructions.
  [[gnu::always_inline]] ShortPut put_short(Connection& connection, const Key& remote, std::uint64_t key,
                                            std::uint64_t offset, core::Bytes from, bool inject,
                                            core::Token token) noexcept {
    OutstandingRequest* const entry = begin(connection, OutstandingRequest::Kind::put, token);
    if (entry == nullptr) [[unlikely]]
      return ShortPut::no_room;
    entry->offset = offset;
    entry->key = static_cast<std::uint32_t>(key);
    entry->bytes = static_cast<std::uint32_t>(from.size());
    if (!burst_.empty() && burst_.connection() != &connection) ring();
    const std::uint64_t id = WorkId::request(connection.peer, connection.outstanding.next() - 1);
    const Burst::Put short_put{id, remote.at + offset, remote.key, from, inject};
    // The first put since the last poll is posted at once, so that a lone put has no delay. Those that follow form a
    // burst, which is posted when it is full or at the next poll.
    if (connection.posted_in == round_) {
      burst_.add(connection, short_put);
      if (burst_.full() || connection.outstanding.room() <= 2) ring();
      return ShortPut::posted;
    }
    connection.posted_in = round_;
    if (!hand_over(connection, burst_.alone(short_put))) [[unlikely]]
      return ShortPut::refused;
    connection.unsignaled = 0;
    return ShortPut::posted;
  }
  /// A put was posted: further short puts to this connection join a burst, until the next poll.
  void note_put(Connection& connection) const noexcept { connection.posted_in = round_; }
  /// A poll begins: posts the burst.
  void begin_round() noexcept {
    ++round_;
    if (holds_any()) ring();
  }
  bool holds_any() const noexcept { return !burst_.empty(); }
  /// Posts the burst with one doorbell. Its last request is signaled and ends them all.
  void ring() noexcept;
  /// The peer is lost: drops a burst to it.
  void drop_held(const Connection& connection) noexcept {
    if (burst_.connection() == &connection) static_cast<void>(burst_.take(nullptr));
  }
  /// The endpoint ends: drops the burst, and gives its places back, for which no completion will come.
  void drop_held() noexcept;

  /// Writes one number to the peer's memory, for the conduit itself. False: no room.
  bool write_number(Connection& connection, std::uint64_t at, std::uint32_t key,
                    std::uint64_t value) noexcept {
    return post_own(connection, at, key, value, true);
  }
  /// Posts an empty request. Its completion shows that the peer's adapter answers, and that all earlier requests have
  /// arrived. False: no room.
  bool probe(Connection& connection, OutstandingRequest::Kind kind) noexcept;

  /// Ends the connection's oldest request: releases its buffers and, if `status` is ok, copies its result. Returns the
  /// entry.
  OutstandingRequest end_front(Connection& connection, const Status& status) noexcept {
    const OutstandingRequest entry = connection.outstanding.front();
    connection.outstanding.end_front();
    ++unused_;
    if (entry.result != nullptr && status) std::memcpy(entry.result, entry.bounce_buffer, entry.bytes);
    buffers_.give_back(entry);
    return entry;
  }

  /// How many bytes a work request carries inline.
  std::uint32_t inline_bytes() const noexcept { return inline_bytes_; }
  /// A new queue pair supports so many. The least that any of them supports counts.
  void set_inline_bytes(std::uint32_t bytes) noexcept;

 private:
  // Chosen: places in each queue that only the conduit's own writes may use, so that credits can always be returned.
  static constexpr std::uint32_t kReserved = 2;

  // Posts a list of requests, the newest last. False: the device did not take all of them.
  bool hand_over(Connection& connection, ibv_send_wr* first) noexcept {
    ibv_send_wr* bad = nullptr;
    const int error = ::ibv_post_send(connection.pair.get(), first, &bad);
    if (error == 0) [[likely]]
      return true;
    refused(connection, error, bad);
    return false;
  }
  void refused(Connection& connection, int error, const ibv_send_wr* bad) noexcept;
  core::Post hand_over_promised(Connection& connection, ibv_send_wr& first) noexcept;
  bool post_own(Connection& connection, std::uint64_t at, std::uint32_t key, std::uint64_t value,
                bool has_value) noexcept;

  // Puts whose completion does not mean arrival: see "confirmations" in requests.cpp.
  bool must_confirm(Connection& connection) noexcept {
    return !env_.sizes().confirms &&
           connection.outstanding[connection.outstanding.next() - 1].kind == OutstandingRequest::Kind::put;
  }
  void add_confirmation(Connection& connection, Work& read) noexcept;
  core::Post launch_confirmed(Connection& connection, ibv_send_wr& request) noexcept;
  void fill_read_back(const Connection& connection, Work& read) const noexcept;

  const Environment& env_;
  Losses& losses_;
  LocalBuffers& buffers_;
  const CreditCounters& counters_;
  Burst burst_;
  std::uint32_t unused_;        // free places, for requests to all peers together
  std::uint32_t reserved_;      // places in each queue that callers' requests must leave free
  std::uint32_t inline_bytes_;  // that a work request carries
  std::uint32_t burst_bytes_;   // the longest put that may join a burst
  std::uint64_t round_ = 1;     // number of the current round of poll
};

}  // namespace aqueduct::conduits::ibv
