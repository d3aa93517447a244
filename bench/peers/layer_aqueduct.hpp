#pragma once

#include <aqueduct/aqueduct.hpp>
#include <aqueduct/coll.hpp>

#include "bench/peers/layer.hpp"

#include <array>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <sched.h>

namespace peers {

/// Aqueduct through its public headers.
class AqueductLayer {
 public:
  AqueductLayer(int& /*argc*/, char**& /*argv*/)
      : job_(need(aqueduct::Job::start(), "start")),
        ep_(job_.endpoint()),
        segment_(need(aqueduct::Segment::create(ep_, kSegmentBytes), "create a segment")),
        words_(ep_, {aqueduct::AtomicOp::load, aqueduct::AtomicOp::add, aqueduct::AtomicOp::compare_swap}),
        crowded_(ep_.ranks() > std::thread::hardware_concurrency()) {
    register_handlers();
    barrier();
  }

  std::string version() const {
    return "Aqueduct " + std::to_string(aqueduct::kVersionMajor) + "." +
           std::to_string(aqueduct::kVersionMinor) +
           (ranks() > 1 ? " over " + ep_.conduit_of(static_cast<aqueduct::Rank>(rank() ^ 1)) : "");
  }
  int rank() const { return static_cast<int>(ep_.rank()); }
  int ranks() const { return static_cast<int>(ep_.ranks()); }
  std::byte* segment() { return segment_.mine().data(); }
  void finish() { need(job_.finish(), "finish"); }
  void barrier() { need(ep_.barrier(), "barrier"); }

  void broadcast(int root, std::byte* data, std::size_t bytes) {
    need(aqueduct::broadcast(ep_.world(), std::span(data, bytes), static_cast<aqueduct::Rank>(root), kAsMpi),
         "broadcast");
  }
  void scatter(int root, const std::byte* from, std::byte* to, std::size_t bytes) {
    const std::span in(from, rank() == root ? bytes * blocks() : 0);
    need(aqueduct::scatter(ep_.world(), in, std::span(to, bytes), static_cast<aqueduct::Rank>(root), kAsMpi),
         "scatter");
  }
  void gather(int root, const std::byte* from, std::byte* to, std::size_t bytes) {
    const std::span out(to, rank() == root ? bytes * blocks() : 0);
    need(
        aqueduct::gather(ep_.world(), std::span(from, bytes), out, static_cast<aqueduct::Rank>(root), kAsMpi),
        "gather");
  }
  void all_to_all(const std::byte* from, std::byte* to, std::size_t bytes) {
    const std::size_t all = bytes * blocks();
    need(aqueduct::all_to_all(ep_.world(), std::span(from, all), std::span(to, all), kAsMpi), "all_to_all");
  }
  void reduce(int root, const std::byte* from, std::byte* to, std::size_t bytes) {
    const auto out = rank() == root ? words(to, bytes) : words(to, 0);
    need(aqueduct::reduce(ep_.world(), words(from, bytes), out, aqueduct::ReduceOp::sum,
                          static_cast<aqueduct::Rank>(root), kAsMpi),
         "reduce");
  }
  void all_reduce(const std::byte* from, std::byte* to, std::size_t bytes) {
    need(aqueduct::all_reduce(ep_.world(), words(from, bytes), words(to, bytes), aqueduct::ReduceOp::sum,
                              kAsMpi),
         "all_reduce");
  }
  void reduce_scatter(const std::byte* from, std::byte* to, std::size_t bytes) {
    need(aqueduct::reduce_scatter(ep_.world(), words(from, bytes * blocks()), words(to, bytes),
                                  aqueduct::ReduceOp::sum, kAsMpi),
         "reduce_scatter");
  }
  void scan(const std::byte* from, std::byte* to, std::size_t bytes) {
    need(aqueduct::scan(ep_.world(), words(from, bytes), words(to, bytes), aqueduct::ReduceOp::sum, kAsMpi),
         "scan");
  }
  void all_gather(const std::byte* from, std::byte* to, std::size_t bytes) {
    need(aqueduct::all_gather(ep_.world(), std::span(from, bytes), std::span(to, bytes * blocks()), kAsMpi),
         "all_gather");
  }

  void put(int rank, const std::byte* from, std::size_t bytes) {
    need(aqueduct::put(ep_, place(rank), std::span(from, bytes)), "put");
  }
  void get(int rank, std::byte* to, std::size_t bytes) {
    need(aqueduct::get(ep_, std::span(to, bytes), place(rank)), "get");
  }
  void put_begin(int rank, const std::byte* from, std::size_t bytes) {
    need(aqueduct::put_nbi(ep_, place(rank), std::span(from, bytes)), "put_nbi");
  }
  void get_begin(int rank, std::byte* to, std::size_t bytes) {
    need(aqueduct::get_nbi(ep_, std::span(to, bytes), place(rank)), "get_nbi");
  }
  void transfers_end() { need(ep_.wait_implicit(), "wait_implicit"); }

  std::uint64_t fetch_add(int rank, std::uint64_t x) {
    return need(words_.fetch_add(word(rank), x), "fetch_add");
  }
  std::uint64_t compare_swap(int rank, std::uint64_t expected, std::uint64_t desired) {
    return need(words_.compare_swap(word(rank), expected, desired), "compare_swap");
  }
  void add_begin(int rank, std::uint64_t x) {
    need(words_.nbi(aqueduct::AtomicOp::add, word(rank), x), "add");
  }
  void fetch_add_begin(int rank, std::uint64_t x, std::uint64_t* before) {
    need(words_.nbi(aqueduct::AtomicOp::add, word(rank), x, before), "fetch_add");
  }
  void atomics_end() { need(ep_.wait_implicit(), "wait_implicit"); }

  void put_spaced(int rank, const std::byte* from, const Spacing& spacing, bool both) {
    const auto there = aqueduct::pieces(place(rank), strided(spacing));
    need(both ? aqueduct::put(ep_, there, aqueduct::pieces(from, strided(spacing)))
              : aqueduct::put(ep_, there, aqueduct::contiguous(from, spacing.piece * spacing.count)),
         "put of pieces");
  }
  void get_spaced(int rank, std::byte* to, const Spacing& spacing, bool both) {
    const auto there = aqueduct::pieces(place(rank), strided(spacing));
    need(both ? aqueduct::get(ep_, aqueduct::pieces(to, strided(spacing)), there)
              : aqueduct::get(ep_, aqueduct::contiguous(to, spacing.piece * spacing.count), there),
         "get of pieces");
  }
  void release(int rank) { need(aqueduct::signal(ep_, static_cast<aqueduct::Rank>(rank)), "signal"); }
  void serve_transfers(int rank) {
    ++releases_;
    // As the other layers do, with the library's own wait: a loop without pauses takes a part of the core that a near peer
    // copies on. Transfers over a network need this rank awake.
    if (aqueduct::is_mapped(ep_, static_cast<aqueduct::Rank>(rank)))
      return need(aqueduct::wait_until(ep_, 0, releases_, static_cast<aqueduct::Rank>(rank)), "wait_until");
    poll_until(rank, [&] { return aqueduct::signal_value(ep_, 0) >= releases_; });
  }

  void round_trip(int rank, Message kind, const std::byte* from, std::size_t bytes) {
    const std::uint64_t wanted = answers_ + 1;
    send(rank, kind, Wants{1}, from, bytes);
    poll_until(rank, [&] { return answers_ == wanted; });
  }
  void serve_round_trips(int rank, Message, std::size_t, std::size_t count) { serve(rank, count); }
  void flood(int rank, Message kind, const std::byte* from, std::size_t bytes) {
    const std::uint64_t wanted = answers_ + 1;
    for (std::size_t i = 0; i < kWindow; ++i) send(rank, kind, Wants{kWindow}, from, bytes);
    poll_until(rank, [&] { return answers_ == wanted; });
  }
  void serve_floods(int rank, Message, std::size_t, std::size_t count) { serve(rank, count * kWindow); }

 private:
  /// MPI's meaning: nothing of a rank is touched before its call, and a call returns when its own buffers are final.
  static constexpr aqueduct::CollOptions kAsMpi{.in = aqueduct::Sync::mine, .out = aqueduct::Sync::mine};

  /// How many messages share one answer.
  struct Wants {
    std::uint32_t messages;
  };

  std::size_t blocks() const { return ep_.ranks(); }
  static std::span<const std::uint64_t> words(const std::byte* from, std::size_t bytes) {
    return {reinterpret_cast<const std::uint64_t*>(from), bytes / sizeof(std::uint64_t)};
  }
  static std::span<std::uint64_t> words(std::byte* to, std::size_t bytes) {
    return {reinterpret_cast<std::uint64_t*>(to), bytes / sizeof(std::uint64_t)};
  }

  static void need(aqueduct::Status status, const char* what) {
    if (!status) [[unlikely]]
      fail(std::string(what) + ": " + status.text());
  }
  template <class T>
  static T need(aqueduct::Result<T> result, const char* what) {
    need(result.status(), what);
    return std::move(*result);
  }

  aqueduct::GlobalPtr<std::byte> place(int rank) const {
    return segment_.at<std::byte>(static_cast<aqueduct::Rank>(rank));
  }
  aqueduct::GlobalPtr<std::uint64_t> word(int rank) const {
    return segment_.at<std::uint64_t>(static_cast<aqueduct::Rank>(rank), kWordOffset / sizeof(std::uint64_t));
  }
  static aqueduct::Strided strided(const Spacing& spacing) {
    return {spacing.piece, {{spacing.count, static_cast<std::int64_t>(spacing.stride)}}};
  }

  void register_handlers() {
    answer_ =
        need(aqueduct::on_short_reply<aqueduct::NoArguments>(ep_, [this](auto&, const auto&) { ++answers_; }),
             "register");
    const auto take = [this](aqueduct::RequestContext& context, const Wants& wants) {
      if (++received_ % wants.messages == 0) need(context.reply(answer_), "reply");
    };
    short_ = need(aqueduct::on_short_request<Wants>(ep_, take), "register");
    const auto take_payload = [take](aqueduct::RequestContext& context, const Wants& wants,
                                     std::span<std::byte>) { take(context, wants); };
    medium_ = need(aqueduct::on_medium_request<Wants>(ep_, take_payload), "register");
    long_ = need(aqueduct::on_long_request<Wants>(ep_, take_payload), "register");
  }
  void send(int rank, Message kind, Wants wants, const std::byte* from, std::size_t bytes) {
    const auto to = static_cast<aqueduct::Rank>(rank);
    switch (kind) {
      case Message::no_payload: return need(aqueduct::request(ep_, to, short_, wants), "short request");
      case Message::buffered:
        return need(aqueduct::request(ep_, to, medium_, wants, std::span(from, bytes)), "medium request");
      case Message::into_segment:
        return need(aqueduct::request(ep_, long_, wants, std::span(from, bytes), place(rank)),
                    "long request");
    }
  }
  void serve(int rank, std::uint64_t messages) {
    served_ += messages;
    poll_until(rank, [&] { return received_ == served_; });
  }
  template <class Condition>
  void poll_until(int rank, Condition condition) {
    while (!condition()) {
      if (ep_.progress() == 0) {
        if (crowded_) sched_yield();
        if (ep_.is_lost(static_cast<aqueduct::Rank>(rank))) fail("the peer is lost");
      }
    }
  }

  aqueduct::Job job_;
  aqueduct::Endpoint& ep_;
  aqueduct::Segment segment_;
  aqueduct::AtomicDomain<std::uint64_t> words_;
  bool crowded_;
  aqueduct::ShortReply<aqueduct::NoArguments> answer_;
  aqueduct::ShortRequest<Wants> short_;
  aqueduct::MediumRequest<Wants> medium_;
  aqueduct::LongRequest<Wants> long_;
  std::uint64_t answers_ = 0;   ///< replies received
  std::uint64_t received_ = 0;  ///< requests whose handler ran
  std::uint64_t served_ = 0;    ///< requests that all calls of serve_… so far have waited for
  std::uint64_t releases_ = 0;
};

using ThisLayer = AqueductLayer;

}  // namespace peers
