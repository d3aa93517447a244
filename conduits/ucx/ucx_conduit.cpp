#include "conduits/ucx/ucx_conduit.hpp"

#include "conduits/ucx/printed.hpp"

#include <algorithm>
#include <cstring>

namespace aqueduct::conduits::ucx {
namespace {

/// In front of a worker's address. Raised in `version` when what the conduit itself sends changes.
struct AddressHead {
  std::uint32_t version = 2;
  std::uint16_t ucx_major = 0;
  std::uint16_t ucx_minor = 0;
};
static_assert(sizeof(AddressHead) == 8);

constexpr std::size_t kMostTransfer = std::size_t{1} << 30;

}  // namespace

UcxConduit::UcxConduit(Context& context, const core::Process& process, Rank me)
    : context_(context),
      ucp_(context.ucp()),
      process_(process),
      log_(*process.log),
      put_by_(process.config->text("ucx_put")),
      me_(me),
      peers_(process.ranks),
      most_packets_each_(static_cast<std::size_t>(process.config->number("ucx_packets")) / 4),
      packets_(*this, static_cast<std::size_t>(process.config->number("ucx_packets")),
               sizeof(PacketHead) + static_cast<std::size_t>(process.config->number("ucx_packet"))),
      pending_(*this, static_cast<std::size_t>(process.config->number("ucx_operations"))),
      maps_(process.config->flag("ucx_map") && context.maps_memory() &&
            std::ranges::count(process.host, process.host[me]) ==
                static_cast<std::ptrdiff_t>(process.host.size())),
      held_signals_(static_cast<std::size_t>(process.config->number("signals"))) {
  properties_.name = "ucx";
  properties_.max_packet = static_cast<std::size_t>(process.config->number("ucx_packet")) & ~std::size_t{7};
  properties_.max_transfer = kMostTransfer;
  properties_.max_inject = kMostInject;
  aligned_.resize(properties_.max_packet);
  dirty_.reserve(process.ranks);
  flushing_.reserve(process.ranks);
  answering_.reserve(process.ranks);
  losing_.reserve(process.ranks);
  leaving_.reserve(process.ranks);
  for (Rank rank = 0; rank < process.ranks; ++rank) {
    peers_[rank].owner = this;
    peers_[rank].rank = rank;
  }
}

UcxConduit::~UcxConduit() {
  thread_.reset();
  if (worker_ != nullptr) close();
}

Status UcxConduit::open() {
  ucp_worker_params_t params{};
  params.field_mask =
      UCP_WORKER_PARAM_FIELD_THREAD_MODE | UCP_WORKER_PARAM_FIELD_FLAGS | UCP_WORKER_PARAM_FIELD_AM_ALIGNMENT;
  params.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  params.flags = UCP_WORKER_FLAG_IGNORE_REQUEST_LEAK;  // what a lost peer never answered
  params.am_alignment = 8;
  ucs_status_t status = ucp_.worker_create(context_.handle(), &params, &worker_);
  const std::pair<MessageId, ucp_am_recv_callback_t> handlers[] = {
      {kPacket, on_packet}, {kPut, on_put}, {kPutDone, on_put_done}, {kShortPut, on_short_put}};
  for (const auto& [id, callback] : handlers) {
    if (status != UCS_OK) break;
    ucp_am_handler_param_t handler{};
    handler.field_mask =
        UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
    handler.id = id;
    handler.cb = callback;
    handler.arg = this;
    status = ucp_.worker_set_am_recv_handler(worker_, &handler);
  }
  if (status == UCS_OK) status = ucp_.worker_get_efd(worker_, &event_fd_);
  if (status == UCS_OK) return {};
  log_.error(
      "ucx: rank {}: UCX gives no worker: {}; see ucx_info -d for what this host has, and ulimit -n and -l",
      me_, ucp_.status_string(status));
  return ErrorCode::network_failed;
}

std::vector<std::byte> UcxConduit::address() {
  ucp_address_t* address = nullptr;
  std::size_t bytes = 0;
  if (const ucs_status_t status = ucp_.worker_get_address(worker_, &address, &bytes); status != UCS_OK) {
    log_.error("ucx: rank {}: UCX gives no address: {}", me_, ucp_.status_string(status));
    return {};
  }
  AddressHead head;
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  ucp_.get_version(&major, &minor, &release);
  head.ucx_major = static_cast<std::uint16_t>(major);
  head.ucx_minor = static_cast<std::uint16_t>(minor);
  std::vector<std::byte> form(sizeof head + bytes);
  std::memcpy(form.data(), &head, sizeof head);
  std::memcpy(form.data() + sizeof head, address, bytes);
  ucp_.worker_release_address(worker_, address);
  return form;
}

Status UcxConduit::connect(std::span<const std::vector<std::byte>> addresses) {
  if (addresses.size() != peers_.size()) return ErrorCode::invalid_argument;
  AddressHead mine;
  const std::vector<std::byte> own = addresses[me_].empty() ? address() : addresses[me_];
  if (own.size() <= sizeof mine) return {ErrorCode::network_failed, me_};
  std::memcpy(&mine, own.data(), sizeof mine);
  properties_.reports_lost_peers = true;
  for (Rank rank = 0; rank < addresses.size(); ++rank) {
    const auto& form = addresses[rank];
    if (form.empty()) continue;
    AddressHead head;
    if (form.size() <= sizeof head) return {ErrorCode::bootstrap_failed, rank};
    std::memcpy(&head, form.data(), sizeof head);
    if (std::memcmp(&head, &mine, sizeof head) != 0) {
      log_.error(
          "ucx: rank {} has UCX {}.{} and form {} of our packets, this rank UCX {}.{} and form {}: start one "
          "version of "
          "both libraries",
          rank, head.ucx_major, head.ucx_minor, head.version, mine.ucx_major, mine.ucx_minor, mine.version);
      return {ErrorCode::version_mismatch, rank};
    }
    Peer& peer = peers_[rank];
    peer.address.assign(form.begin() + sizeof head, form.end());
    peer.watched = context_.can_watch(process_.host[rank] == process_.host[me_]);
    if (rank != me_ && !peer.watched) properties_.reports_lost_peers = false;
  }
  return start_thread();
}

// Of strangers, or of peers that break the protocol: the first is told, as what was lost with it may be waited for.
void UcxConduit::reject(std::string_view what) noexcept {
  if (counts_.rejected++ == 0) log_.warn("ucx: rank {}: dropped {}; more are only counted", me_, what);
}

int UcxConduit::poll(core::Inbox& inbox) noexcept {
  if (thread_) thread_->owner_polls();
  const Entry entry(*this);
  inbox_ = &inbox;
  calls_ = 0;
  if (!arrivals_.empty()) calls_ += arrivals_.deliver(inbox);
  for (Pending* one = std::exchange(ended_, nullptr); one != nullptr;) {
    Pending* const next = one->next;
    end(*one, one->outcome);
    one = next;
  }
  if (!held_signals_.empty()) [[unlikely]] {
    calls_ += held_signals_.take_all([&](Rank from, Signal signal) { inbox.signalled(from, signal); });
  }
  if (!dirty_.empty()) flush_dirty();
  const unsigned events = ucp_.worker_progress(worker_);
  if (!answering_.empty()) send_answers();
  if (!aside_answers_.empty()) [[unlikely]]
    send_aside_answers();
  if (!losing_.empty()) [[unlikely]]
    settle_losses();
  if (!leaving_.empty()) [[unlikely]]
    settle_rest();
  inbox_ = nullptr;
  return calls_ != 0 ? calls_ : events != 0;
}

std::string UcxConduit::state_of(Rank rank) const {
  if (rank >= peers_.size() || peers_[rank].address.empty()) return {};
  const Entry entry(*this);
  const Peer& peer = peers_[rank];
  std::string lanes;
  if (peer.ep != nullptr) {
    for (const std::string& line : printed_lines([&](std::FILE* out) { ucp_.ep_print_info(peer.ep, out); })) {
      if (const std::string lane = after(line, "lane["); !lane.empty()) lanes += "; lane [" + lane;
    }
  }
  return fmt::format(
      "{}{}, {} packets and {} flushes on their way there; of all peers {} operations in UCX, {} packets, {} "
      "puts with {} "
      "flushes, {} puts by message, {} answers, {} gets, {} packets aligned, {} messages rejected{}",
      peer.gone            ? "gone"
      : peer.ep == nullptr ? "not connected"
                           : "connected",
      peer.watched ? "" : ", not watched", peer.packets, peer.flushes, pending_.in_use(), counts_.packets,
      counts_.puts, counts_.flushes, counts_.put_messages, counts_.answers, counts_.gets, counts_.copied,
      counts_.rejected, lanes);
}

void UcxConduit::forget(Rank rank) noexcept {
  const Entry entry(*this);
  if (rank != me_ && rank < peers_.size()) condemn(peers_[rank], UCS_OK);
}

}  // namespace aqueduct::conduits::ucx
