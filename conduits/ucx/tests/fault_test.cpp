// Rare answers of UCX, forced by replacing single functions.

#include "conduits/ucx/tests/ucx_party.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

namespace aqueduct::conduits::ucx {
namespace {

using core::Post;
using loop::bytes_of_value;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint64_t kFaultWord = 0x0123456789abcdef;

/// The replacements and their state, static because UCX's functions are plain functions.
struct Replaced {
  static inline Library real;

  static inline std::atomic<int> flushes_to_refuse{0};
  static ucs_status_ptr_t flush(ucp_ep_h ep, const ucp_request_param_t* param) {
    if (flushes_to_refuse > 0) {
      --flushes_to_refuse;
      return UCS_STATUS_PTR(UCS_ERR_NO_RESOURCE);
    }
    return real.ep_flush_nbx(ep, param);
  }

  static ucs_status_ptr_t flush_at_once(ucp_ep_h, const ucp_request_param_t*) { return nullptr; }

  // Sends a put by message, but completes it later as a failure, when the first worker makes progress.
  static inline ucp_worker_h first_worker = nullptr;
  static inline char request[8];
  static inline ucp_send_nbx_callback_t told = nullptr;
  static inline void* user_data = nullptr;
  static inline std::atomic<bool> is_sent{false};
  static inline std::atomic<bool> has_failed{false};
  static ucs_status_t create(ucp_context_h context, const ucp_worker_params_t* params, ucp_worker_h* worker) {
    const ucs_status_t status = real.worker_create(context, params, worker);
    if (first_worker == nullptr) first_worker = *worker;
    return status;
  }
  static ucs_status_ptr_t send(ucp_ep_h ep, unsigned id, const void* header, std::size_t header_bytes,
                               const void* data, std::size_t bytes, const ucp_request_param_t* param) {
    if (id != kShortPut) return real.am_send_nbx(ep, id, header, header_bytes, data, bytes, param);
    ucp_request_param_t quiet{};
    const ucs_status_ptr_t answer = real.am_send_nbx(ep, id, header, header_bytes, data, bytes, &quiet);
    if (UCS_PTR_IS_PTR(answer)) real.request_free(answer);
    told = param->cb.send;
    user_data = param->user_data;
    is_sent = true;
    return request;
  }
  static void free(void* one) {
    if (one != request) real.request_free(one);
  }
  static unsigned progress(ucp_worker_h worker) {
    if (worker == first_worker && is_sent.exchange(false)) {
      told(request, UCS_ERR_CANCELED, user_data);
      has_failed = true;
    }
    return real.worker_progress(worker);
  }

  static inline int workers_destroyed = 0;
  static void destroy(ucp_worker_h worker) {
    ++workers_destroyed;
    real.worker_destroy(worker);
  }
  static inline int contexts_ended = 0;
  static void end_context(ucp_context_h context) {
    ++contexts_ended;
    real.cleanup(context);
  }
};

// A put of an aligned word would be a message (docs/memory-model.md, M-1).
constexpr std::uint64_t kNoWord = 4;

TEST(UcxFault, AFlushWithoutRoomIsTriedAgain) {
  UcxParty party(2, "tcp,self", "0", "network", [](Library& ucp) {
    Replaced::real = ucp;
    ucp.ep_flush_nbx = Replaced::flush;
  });
  ASSERT_TRUE(party.complete());
  std::vector<std::byte> memory(64);
  auto key = party[1].rma()->register_segment(0, memory);
  ASSERT_TRUE(key);
  const auto handle = party[0].rma()->import_key(1, *key);
  ASSERT_TRUE(handle);
  Replaced::flushes_to_refuse = 3;
  ASSERT_EQ(party[0].rma()->put(1, *handle, kNoWord, bytes_of_value(kFaultWord), false, 1).kind,
            Post::Kind::posted);
  ASSERT_TRUE(party.poll_until([&] { return party.inbox(0).ends.size() == 1; }));
  EXPECT_TRUE(party.inbox(0).ends.front().second) << party.inbox(0).ends.front().second.text();
  EXPECT_EQ(Replaced::flushes_to_refuse, 0);
  EXPECT_EQ(party.ucx(0).counts().flushes, 1u);
  EXPECT_EQ(std::memcmp(memory.data() + kNoWord, &kFaultWord, sizeof kFaultWord), 0);
}

// Over cards UCX would abort the program. Here shared memory stands in for a card: UCX does not complete operations on a lost peer.
TEST(UcxFault, AWorkerWithSomethingLeftForALostPeerIsNotDestroyed) {
  Replaced::workers_destroyed = Replaced::contexts_ended = 0;
  std::vector<std::byte> memory(4096);
  std::vector<std::byte> mine(4096);
  for (const bool answered : {true, false}) {
    UcxParty party(2, "posix,self", "0", "auto", [](Library& ucp) {
      Replaced::real = ucp;
      ucp.worker_destroy = Replaced::destroy;
      ucp.cleanup = Replaced::end_context;
    });
    ASSERT_TRUE(party.complete());
    auto key = party[1].rma()->register_segment(0, memory);
    ASSERT_TRUE(key);
    const auto handle = party[0].rma()->import_key(1, *key);
    ASSERT_TRUE(handle);
    ASSERT_EQ(party[0].rma()->get(1, *handle, 0, mine, 1).kind, Post::Kind::posted);
    const auto is_over = [&] { return party.inbox(0).ends.size() == 1; };
    if (answered) {
      ASSERT_TRUE(party.poll_until(is_over));
    }
    party[0].forget(1);
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!is_over() && std::chrono::steady_clock::now() < until) party.poll(0);
    ASSERT_TRUE(is_over());
    party.leave(0);
    EXPECT_EQ(Replaced::workers_destroyed,
              answered ? 1 : 2);  // 2: with rank 1's of the first round
  }
  EXPECT_EQ(Replaced::workers_destroyed, 3) << "rank 1 has nothing left for anybody";
  EXPECT_EQ(Replaced::contexts_ended, 1) << "with a worker in it that remains";
}

/// Puts once more when the first put completes.
class PutsAgain final : public core::Inbox {
 public:
  PutsAgain(core::NativeRma& rma, std::uint64_t key) : rma_(rma), key_(key) {}
  void packet(Rank, core::Bytes) noexcept override {}
  void completed(core::Token token, Status) noexcept override {
    ends.push_back(token);
    if (token == 1) again = rma_.put(1, key_, 8 + kNoWord, bytes_of_value(kFaultWord), false, 2);
  }
  void signalled(Rank, Signal) noexcept override {}
  void lost(Rank) noexcept override {}

  std::vector<core::Token> ends;
  Post again = Post::retry();

 private:
  core::NativeRma& rma_;
  std::uint64_t key_;
};

TEST(UcxFault, APutThatBeginsWhileOthersEndIsFlushedToo) {
  UcxParty party(2, "tcp,self", "0", "network",
                 [](Library& ucp) { ucp.ep_flush_nbx = Replaced::flush_at_once; });
  ASSERT_TRUE(party.complete());
  std::vector<std::byte> memory(64);
  auto key = party[1].rma()->register_segment(0, memory);
  ASSERT_TRUE(key);
  const auto handle = party[0].rma()->import_key(1, *key);
  ASSERT_TRUE(handle);
  PutsAgain inbox(*party[0].rma(), *handle);
  ASSERT_EQ(party[0].rma()->put(1, *handle, kNoWord, bytes_of_value(kFaultWord), false, 1).kind,
            Post::Kind::posted);
  party[0].poll(inbox);
  EXPECT_THAT(inbox.ends, ElementsAre(1));
  EXPECT_EQ(inbox.again.kind, Post::Kind::posted);
  party[0].poll(inbox);
  EXPECT_THAT(inbox.ends, ElementsAre(1, 2));
}

// The progress thread sees both, the failure and the answer, before the owner polls.
TEST(UcxFault, APutThatHasFailedIsNotEndedAgainByItsAnswer) {
  UcxParty party(2, "tcp,self", "2ms", "message", [](Library& ucp) {
    Replaced::real = ucp;
    Replaced::first_worker = nullptr;
    ucp.worker_create = Replaced::create;
    ucp.am_send_nbx = Replaced::send;
    ucp.request_free = Replaced::free;
    ucp.worker_progress = Replaced::progress;
  });
  ASSERT_TRUE(party.complete());
  std::vector<std::byte> memory(64);
  auto key = party[1].rma()->register_segment(0, memory);
  ASSERT_TRUE(key);
  const auto handle = party[0].rma()->import_key(1, *key);
  ASSERT_TRUE(handle);
  ASSERT_EQ(party[0].rma()->put(1, *handle, 0, bytes_of_value(kFaultWord), false, 1).kind,
            Post::Kind::posted);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  const auto answer_is_rejected = [&] {
    return party[0].state_of(1).find(" 1 messages rejected") != std::string::npos;
  };
  while (!(Replaced::has_failed && answer_is_rejected()) && std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();  // nobody polls: the progress threads work
  }
  EXPECT_TRUE(Replaced::has_failed);
  EXPECT_THAT(party[0].state_of(1), HasSubstr(" 1 messages rejected"));
  for (int i = 0; i < 100; ++i) party.poll(0);
  ASSERT_EQ(party.inbox(0).ends.size(), 1u);
  EXPECT_EQ(party.inbox(0).ends.front().second.code(), ErrorCode::peer_lost);
}

}  // namespace
}  // namespace aqueduct::conduits::ucx
