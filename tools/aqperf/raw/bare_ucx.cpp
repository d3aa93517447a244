#include "tools/aqperf/raw/bare_ucx.hpp"

#include "conduits/ucx/ucx_network.hpp"
#include "core/endpoint_state.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>

namespace aqueduct::perf {

namespace {

constexpr unsigned kMessage = 1;
// Chosen: time for the peer to close the connection, which it does at about the same time.
constexpr std::chrono::seconds kFarewell{1};

/// What the ranks send one another before they connect.
struct UcxCard {
  std::array<std::byte, 176> address{};
  std::array<std::byte, 64> key{};
  std::uint64_t memory = 0;
};

template <std::size_t Most>
bool fill(std::array<std::byte, Most>& to, const void* from, std::size_t bytes) {
  if (bytes > Most) return false;
  std::memcpy(to.data(), from, bytes);
  return true;
}

}  // namespace

BareUcx::BareUcx(Session& session, Role role, const NetworkTurn& turn)
    : role_(role),
      turn_(turn),
      patience_(session, Patience::kRounds),
      half_(std::max<std::size_t>(64, turn.bytes)) {
  under_way_.reserve(turn.window);
  const bool takes_part = role.peer != kNoRank;
  usable_ = session.everyone(!takes_part || open(session)) && meet(session);
}

BareUcx::~BareUcx() {
  if (key_ != nullptr) ucp().rkey_destroy(key_);
  if (peer_ != nullptr) {
    // Closes gracefully: after a forced close UCX aborts if messages that set up the connection have not left.
    const ucp_request_param_t param{};
    const ucs_status_ptr_t answer = ucp().ep_close_nbx(peer_, &param);
    if (UCS_PTR_IS_PTR(answer)) {
      const auto until = std::chrono::steady_clock::now() + kFarewell;
      while (ucp().request_check_status(answer) == UCS_INPROGRESS &&
             std::chrono::steady_clock::now() < until) {
        ucp().worker_progress(worker_);
      }
      ucp().request_free(answer);
    }
  }
  if (registered_ != nullptr) ucp().mem_unmap(context_->handle(), registered_);
  if (worker_ != nullptr) ucp().worker_destroy(worker_);
}

bool BareUcx::open(Session& session) {
  constexpr std::size_t kWorkers = 1;
  std::string why;
  context_ = conduits::ucx::Context::open(
      conduits::ucx::context_options_of(Config::from_environment(), session.ep().state().host_of, kWorkers),
      why);
  if (context_ == nullptr) return false;
  ucp_worker_params_t params{};
  params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  params.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  if (ucp().worker_create(context_->handle(), &params, &worker_) != UCS_OK) return false;
  ucp_am_handler_param_t handler{};
  handler.field_mask =
      UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  handler.id = kMessage;
  handler.cb = on_message;
  handler.arg = this;
  if (ucp().worker_set_am_recv_handler(worker_, &handler) != UCS_OK) return false;
  ucp_mem_map_params_t map{};
  map.field_mask =
      UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS;
  map.length = 2 * half_;
  map.flags = UCP_MEM_MAP_ALLOCATE;
  if (ucp().mem_map(context_->handle(), &map, &registered_) != UCS_OK) return false;
  ucp_mem_attr_t found{};
  found.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS;
  if (ucp().mem_query(registered_, &found) != UCS_OK) return false;
  memory_ = static_cast<std::byte*>(found.address);
  std::memset(memory_, 0, 2 * half_);
  return true;
}

/// Exchanges addresses and keys over the job that is measured.
bool BareUcx::meet(Session& session) {
  UcxCard mine;
  bool fits = true;
  if (worker_ != nullptr) {
    ucp_address_t* address = nullptr;
    void* key = nullptr;
    std::size_t bytes = 0;
    fits =
        ucp().worker_get_address(worker_, &address, &bytes) == UCS_OK && fill(mine.address, address, bytes);
    if (address != nullptr) ucp().worker_release_address(worker_, address);
    fits = fits && ucp().rkey_pack(context_->handle(), registered_, &key, &bytes) == UCS_OK &&
           fill(mine.key, key, bytes);
    if (key != nullptr) ucp().rkey_buffer_release(key);
    mine.memory = reinterpret_cast<std::uint64_t>(memory_ + half_);
  }
  const auto cards = session.exchange(mine);
  if (!session.everyone(fits)) return false;
  if (worker_ == nullptr) return session.everyone(true);
  const UcxCard& theirs = cards[role_.peer];
  there_ = theirs.memory;
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
  params.address = reinterpret_cast<const ucp_address_t*>(theirs.address.data());
  // As the conduit does it: with detection of a lost peer where UCX has it.
  const bool one_host = session.ep().host_of(role_.peer) == session.ep().host_of(session.rank());
  params.err_mode = context_->can_watch(one_host) ? UCP_ERR_HANDLING_MODE_PEER : UCP_ERR_HANDLING_MODE_NONE;
  const bool reached = ucp().ep_create(worker_, &params, &peer_) == UCS_OK &&
                       ucp().ep_rkey_unpack(peer_, theirs.key.data(), &key_) == UCS_OK;
  return session.everyone(reached);
}

void BareUcx::run(std::uint64_t turns) {
  if (role_.peer == kNoRank) return;
  if (turn_.kind == NetworkTurn::Kind::answer) {
    for (; turns > 0; --turns) {
      if (role_.active) send(turn_.bytes);
      await_message();
      if (!role_.active) send(turn_.bytes);
    }
    return;
  }
  if (role_.active) {
    for (; turns > 0; --turns) transfers();
    send(0);
  } else {
    await_message();  // makes progress meanwhile, so that the peer's transfers proceed
  }
}

void BareUcx::transfers() {
  const ucp_request_param_t param{};
  std::byte* const here = memory_;
  for (std::size_t i = 0; i < turn_.window; ++i) {
    const ucs_status_ptr_t request = turn_.kind == NetworkTurn::Kind::put
                                         ? ucp().put_nbx(peer_, here, turn_.bytes, there_, key_, &param)
                                         : ucp().get_nbx(peer_, here, turn_.bytes, there_, key_, &param);
    if (UCS_PTR_IS_ERR(request)) throw Failure("--vs raw: a bare call of UCP failed", 1);
    if (request == nullptr) continue;
    if (turn_.kind == NetworkTurn::Kind::put) {
      ucp().request_free(request);  // UCX frees it when it completes; the flush below tells when that is
    } else {
      under_way_.push_back(request);
    }
  }
  if (turn_.kind == NetworkTurn::Kind::put) await(ucp().ep_flush_nbx(peer_, &param));
  for (const ucs_status_ptr_t request : under_way_) await(request);
  under_way_.clear();
}

void BareUcx::send(std::size_t bytes) {
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  param.flags = UCP_AM_SEND_FLAG_EAGER;
  await(ucp().am_send_nbx(peer_, kMessage, nullptr, 0, memory_, bytes, &param));
}

void BareUcx::await(ucs_status_ptr_t request) {
  if (request == nullptr) return;
  if (UCS_PTR_IS_ERR(request)) throw Failure("--vs raw: a bare call of UCP failed", 1);
  patience_.until_or_fail(
      [&] {
        if (ucp().request_check_status(request) != UCS_INPROGRESS) return true;
        ucp().worker_progress(worker_);
        return false;
      },
      "a bare operation of UCP");
  ucp().request_free(request);
}

void BareUcx::await_message() {
  ++expected_;
  patience_.until_or_fail(
      [&] {
        if (received_ >= expected_) return true;
        ucp().worker_progress(worker_);
        return received_ >= expected_;
      },
      "a bare message of UCP");
}

ucs_status_t BareUcx::on_message(void* arg, const void*, std::size_t, void*, std::size_t,
                                 const ucp_am_recv_param_t*) {
  ++static_cast<BareUcx*>(arg)->received_;
  return UCS_OK;
}

}  // namespace aqueduct::perf
