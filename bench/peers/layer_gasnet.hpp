#pragma once

// GASNet's headers, as a user's program includes them. Macros on the command line select the conduit.
#include "bench/peers/layer.hpp"

#include <gasnet_coll.h>
#include <gasnet_ratomic.h>
#include <gasnet_vis.h>
#include <gasnetex.h>

#include <cstring>
#include <vector>

namespace peers {

/// GASNet-EX. Its waits yield without being asked to if there are more ranks than cores.
class GasnetLayer {
 public:
  GasnetLayer(int& argc, char**& argv) {
    one_ = this;
    check(gex_Client_Init(&client_, &ep_, &tm_, "peers", &argc, &argv, 0), "gex_Client_Init");
    check(gex_Segment_Attach(&segment_, tm_, kSegmentBytes), "gex_Segment_Attach");
    gex_AM_Entry_t handlers[] = {
        {kShort, reinterpret_cast<gex_AM_Fn_t>(take), GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 1, nullptr,
         "short"},
        {kMedium, reinterpret_cast<gex_AM_Fn_t>(take_payload), GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDIUM, 1,
         nullptr, "medium"},
        {kLong, reinterpret_cast<gex_AM_Fn_t>(take_payload), GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_LONG, 1,
         nullptr, "long"},
        {kAnswer, reinterpret_cast<gex_AM_Fn_t>(answered), GEX_FLAG_AM_REPLY | GEX_FLAG_AM_SHORT, 0, nullptr,
         "answer"},
        {kRelease, reinterpret_cast<gex_AM_Fn_t>(released), GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 0,
         nullptr, "release"},
    };
    check(gex_EP_RegisterHandlers(ep_, handlers, sizeof handlers / sizeof handlers[0]),
          "gex_EP_RegisterHandlers");
    gex_AD_Create(&words_, tm_, GEX_DT_U64, GEX_OP_GET | GEX_OP_ADD | GEX_OP_FADD | GEX_OP_FCAS, 0);
    bases_.resize(gex_TM_QuerySize(tm_));
    for (gex_Rank_t rank = 0; rank < bases_.size(); ++rank) {
      void* owner = nullptr;
      gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm_, rank, &owner, nullptr, nullptr, 0));
      bases_[rank] = static_cast<char*>(owner);
    }
    barrier();
  }

  std::string version() const {
    return std::to_string(GASNET_RELEASE_VERSION_MAJOR) + "." + std::to_string(GASNET_RELEASE_VERSION_MINOR) +
           "." + std::to_string(GASNET_RELEASE_VERSION_PATCH) + ": " + GASNET_CONFIG_STRING;
  }
  int rank() const { return static_cast<int>(gex_TM_QueryRank(tm_)); }
  int ranks() const { return static_cast<int>(bases_.size()); }
  std::byte* segment() { return reinterpret_cast<std::byte*>(bases_[gex_TM_QueryRank(tm_)]); }
  void finish() {
    barrier();
    gasnet_exit(0);
  }
  void barrier() { gex_Event_Wait(gex_Coll_BarrierNB(tm_, 0)); }
  void broadcast(int root, std::byte* data, std::size_t bytes) {
    gex_Event_Wait(gex_Coll_BroadcastNB(tm_, gex_Rank_t(root), data, data, bytes, 0));
  }
  void reduce(int root, const std::byte* from, std::byte* to, std::size_t bytes) {
    gex_Event_Wait(gex_Coll_ReduceToOneNB(tm_, gex_Rank_t(root), to, from, GEX_DT_U64, sizeof(std::uint64_t),
                                          bytes / sizeof(std::uint64_t), GEX_OP_ADD, nullptr, nullptr, 0));
  }
  void all_reduce(const std::byte* from, std::byte* to, std::size_t bytes) {
    gex_Event_Wait(gex_Coll_ReduceToAllNB(tm_, to, from, GEX_DT_U64, sizeof(std::uint64_t),
                                          bytes / sizeof(std::uint64_t), GEX_OP_ADD, nullptr, nullptr, 0));
  }
  /// GASNet-EX has none, so it is what a program writes: puts to all between two barriers. The first has the meaning of the
  /// other layers: nothing of a rank is written before its call. Requires: `to` is the segment.
  void all_gather(const std::byte* from, std::byte* to, std::size_t bytes) {
    barrier();
    const std::size_t offset = gex_TM_QueryRank(tm_) * bytes;
    for (std::size_t step = 0; step < bases_.size(); ++step) {
      const std::size_t peer = (gex_TM_QueryRank(tm_) + step) % bases_.size();
      if (step == 0) {
        std::memcpy(to + offset, from, bytes);
      } else {
        gex_RMA_PutNBI(tm_, gex_Rank_t(peer), bases_[peer] + offset, plain(from), bytes, GEX_EVENT_DEFER, 0);
      }
    }
    gex_NBI_Wait(GEX_EC_PUT, 0);
    barrier();
  }

  void put(int rank, const std::byte* from, std::size_t bytes) {
    gex_RMA_PutBlocking(tm_, gex_Rank_t(rank), bases_[rank], plain(from), bytes, 0);
  }
  void get(int rank, std::byte* to, std::size_t bytes) {
    gex_RMA_GetBlocking(tm_, to, gex_Rank_t(rank), bases_[rank], bytes, 0);
  }
  void put_begin(int rank, const std::byte* from, std::size_t bytes) {
    gex_RMA_PutNBI(tm_, gex_Rank_t(rank), bases_[rank], plain(from), bytes, GEX_EVENT_DEFER, 0);
  }
  void get_begin(int rank, std::byte* to, std::size_t bytes) {
    gex_RMA_GetNBI(tm_, to, gex_Rank_t(rank), bases_[rank], bytes, 0);
  }
  void transfers_end() { gex_NBI_Wait(GEX_EC_ALL, 0); }

  std::uint64_t fetch_add(int rank, std::uint64_t x) {
    std::uint64_t before = 0;
    gex_Event_Wait(gex_AD_OpNB_U64(words_, &before, gex_Rank_t(rank), word(rank), GEX_OP_FADD, x, 0, 0));
    return before;
  }
  std::uint64_t compare_swap(int rank, std::uint64_t expected, std::uint64_t desired) {
    std::uint64_t before = 0;
    gex_Event_Wait(
        gex_AD_OpNB_U64(words_, &before, gex_Rank_t(rank), word(rank), GEX_OP_FCAS, expected, desired, 0));
    return before;
  }
  void add_begin(int rank, std::uint64_t x) {
    gex_AD_OpNBI_U64(words_, nullptr, gex_Rank_t(rank), word(rank), GEX_OP_ADD, x, 0, 0);
  }
  void fetch_add_begin(int rank, std::uint64_t x, std::uint64_t* before) {
    gex_AD_OpNBI_U64(words_, before, gex_Rank_t(rank), word(rank), GEX_OP_FADD, x, 0, 0);
  }
  void atomics_end() { gex_NBI_Wait(GEX_EC_RMW, 0); }

  void put_spaced(int rank, const std::byte* from, const Spacing& spacing, bool both) {
    const Strides strides(spacing, both);
    gex_VIS_StridedPutBlocking(tm_, gex_Rank_t(rank), bases_[rank], strides.there, plain(from), strides.here,
                               spacing.piece, strides.count, 1, 0);
  }
  void get_spaced(int rank, std::byte* to, const Spacing& spacing, bool both) {
    const Strides strides(spacing, both);
    gex_VIS_StridedGetBlocking(tm_, to, strides.here, gex_Rank_t(rank), bases_[rank], strides.there,
                               spacing.piece, strides.count, 1, 0);
  }
  void release(int rank) { check(gex_AM_RequestShort0(tm_, gex_Rank_t(rank), kRelease, 0), "release"); }
  void serve_transfers(int /*rank*/) {
    ++releases_wanted_;
    GASNET_BLOCKUNTIL(releases_ >= releases_wanted_);
  }

  void round_trip(int rank, Message kind, const std::byte* from, std::size_t bytes) {
    const std::uint64_t wanted = answers_ + 1;
    send(rank, kind, 1, from, bytes);
    GASNET_BLOCKUNTIL(answers_ == wanted);
  }
  void serve_round_trips(int /*rank*/, Message, std::size_t, std::size_t count) { serve(count); }
  void flood(int rank, Message kind, const std::byte* from, std::size_t bytes) {
    const std::uint64_t wanted = answers_ + 1;
    for (std::size_t i = 0; i < kWindow; ++i) send(rank, kind, kWindow, from, bytes);
    GASNET_BLOCKUNTIL(answers_ == wanted);
  }
  void serve_floods(int /*rank*/, Message, std::size_t, std::size_t count) { serve(count * kWindow); }

 private:
  static constexpr gex_AM_Index_t kShort = 150;
  static constexpr gex_AM_Index_t kMedium = 151;
  static constexpr gex_AM_Index_t kLong = 152;
  static constexpr gex_AM_Index_t kAnswer = 153;
  static constexpr gex_AM_Index_t kRelease = 154;

  /// One-dimensional strides, in the form that both sides of a transfer take.
  struct Strides {
    Strides(const Spacing& spacing, bool both)
        : there{static_cast<std::ptrdiff_t>(spacing.stride)},
          here{static_cast<std::ptrdiff_t>(both ? spacing.stride : spacing.piece)},
          count{spacing.count} {}
    std::ptrdiff_t there[1];
    std::ptrdiff_t here[1];
    std::size_t count[1];
  };

  static void check(int answer, const char* what) {
    if (answer != GASNET_OK) fail(std::string(what) + ": " + gasnet_ErrorDesc(answer));
  }
  static void* plain(const std::byte* from) { return const_cast<std::byte*>(from); }
  void* word(int rank) { return bases_[rank] + kWordOffset; }

  static void take(gex_Token_t token, gex_AM_Arg_t messages) {
    if (++one_->received_ % static_cast<std::uint64_t>(messages) == 0) gex_AM_ReplyShort0(token, kAnswer, 0);
  }
  static void take_payload(gex_Token_t token, void* /*payload*/, std::size_t /*bytes*/,
                           gex_AM_Arg_t messages) {
    take(token, messages);
  }
  static void answered(gex_Token_t) { ++one_->answers_; }
  static void released(gex_Token_t) { ++one_->releases_; }

  void send(int rank, Message kind, gex_AM_Arg_t messages, const std::byte* from, std::size_t bytes) {
    const auto to = gex_Rank_t(rank);
    switch (kind) {
      case Message::no_payload: gex_AM_RequestShort1(tm_, to, kShort, 0, messages); return;
      case Message::buffered:
        gex_AM_RequestMedium1(tm_, to, kMedium, plain(from), bytes, GEX_EVENT_NOW, 0, messages);
        return;
      case Message::into_segment:
        gex_AM_RequestLong1(tm_, to, kLong, plain(from), bytes, bases_[rank], GEX_EVENT_NOW, 0, messages);
        return;
    }
  }
  void serve(std::uint64_t messages) {
    served_ += messages;
    GASNET_BLOCKUNTIL(received_ == served_);
  }

  // GASNet's handlers are plain functions, so they find the object here.
  static inline GasnetLayer* one_ = nullptr;

  gex_Client_t client_ = GEX_CLIENT_INVALID;
  gex_EP_t ep_ = GEX_EP_INVALID;
  gex_TM_t tm_ = GEX_TM_INVALID;
  gex_Segment_t segment_ = GEX_SEGMENT_INVALID;
  gex_AD_t words_ = GEX_AD_INVALID;
  std::vector<char*> bases_;
  std::uint64_t answers_ = 0;
  std::uint64_t received_ = 0;
  std::uint64_t releases_ = 0;
  std::uint64_t served_ = 0;
  std::uint64_t releases_wanted_ = 0;
};

using ThisLayer = GasnetLayer;

}  // namespace peers
