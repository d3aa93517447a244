#include "conduits/ucx/ucx_conduit.hpp"

#include "conduits/ucx/info_text.hpp"
#include "core/hidden_layout.hpp"

#include <algorithm>
#include <cstring>

namespace aqueduct::conduits::ucx {
namespace {

/// Starts an address blob; the worker's address follows. `version` rises when the conduit's own wire format changes.
struct AddressHead {
  std::uint32_t version = 3;
  std::uint16_t ucx_major = 0;
  std::uint16_t ucx_minor = 0;
};
static_assert(sizeof(AddressHead) == 8);

constexpr std::size_t kMostTransfer = std::size_t{1} << 30;

std::size_t max_packet_of(const core::Process& process) {
  return static_cast<std::size_t>(process.config->number("ucx_packet")) & ~std::size_t{7};
}

}  // namespace

UcxConduit::UcxConduit(Context& context, const core::Process& process, Rank me)
    : context_(context),
      ucp_(context.ucp()),
      process_(process),
      log_(*process.log),
      me_(me),
      filter_(me, process.ranks, process.job, counts_, *process.log),
      delivery_(max_packet_of(process), core::hidden_slots(*process.config), counts_),
      worker_(context),
      peers_(context, worker_, process.ranks, me, *process.log, process.clock),
      packets_(messages_, static_cast<std::size_t>(process.config->number("ucx_packets")),
               sizeof(PacketHead) + static_cast<std::size_t>(process.config->number("ucx_packet"))),
      operations_(ucp_, peers_, delivery_,
                  static_cast<std::size_t>(process.config->number("ucx_operations"))),
      lost_(ucp_, peers_, operations_, packets_, delivery_, *process.log, process.clock),
      segments_(context, peers_, process.config->text("ucx_put"), me, *process.log),
      maps_(process.config->flag("ucx_map") && context.maps_memory() &&
            std::ranges::count(process.host, process.host[me]) ==
                static_cast<std::ptrdiff_t>(process.host.size())),
      map_(segments_, lock_),
      messages_(ucp_, peers_, packets_, static_cast<std::size_t>(process.config->number("ucx_packets")) / 4,
                filter_, delivery_, segments_, max_packet_of(process), counts_),
      flushes_(ucp_, peers_, operations_, counts_),
      put_messages_(ucp_, worker_, peers_, operations_, messages_, filter_, delivery_, segments_, counts_),
      rma_(ucp_, peers_, operations_, segments_, flushes_, put_messages_, delivery_, lock_, counts_, me),
      vector_(ucp_, peers_, operations_, segments_, flushes_, put_messages_, lock_, counts_, kMostTransfer,
              me),
      sleeper_(worker_, lock_, delivery_, operations_, flushes_, put_messages_, messages_, peers_, lost_) {
  properties_.name = "ucx";
  properties_.network = context.network();
  properties_.max_packet = max_packet_of(process);
  properties_.max_transfer = kMostTransfer;
  properties_.max_inject = kMostInject;
  // Nobody waits for the completion of signals that collective operations send. UCX may keep one until the connection is made, and
  // then somebody must make progress: without the thread its sender, so that waits.
  if (process.config->nanoseconds("ucx_progress") != 0) properties_.max_inject_signal = kMostInject;
  properties_.through_sockets = !context.has_hardware();
  // Puts of words are messages of this conduit, which stores the word at its owner (Rma::put). UCX promises nothing for
  // its gets, which it does by its own messages over some networks.
  properties_.whole_words = core::WholeWords::puts;
  // UCX promises no order between operations of a worker; a flush or an answer tells when a put has arrived.
  properties_.put_before_send = properties_.put_before_put = properties_.send_before_send = false;
}

UcxConduit::~UcxConduit() {
  thread_.reset();
  lock_.share(false);
  if (!worker_.is_open()) return;
  put_messages_.hurry();
  put_messages_.send_answers();
  peers_.close(process_.mine);
  segments_.end();
  // UCX 1.13.1 aborts the program if a worker is destroyed with operations on a lost peer outstanding (ucp_ep.c:437, over cards).
  if (peers_.is_owed_to_lost() || !peers_.settled()) {
    // Nothing makes progress on the worker any more, so it does not call back into this endpoint.
    log_.debug("ucx: rank {}: UCX has not ended what it has for some peers: its worker stays as it is", me_);
    context_.leak();
  } else {
    worker_.destroy();
  }
}

Status UcxConduit::open() {
  const Worker::Handler handlers[] = {{kPacket, Messages::on_packet, &messages_},
                                      {kPut, PutMessages::on_put, &put_messages_},
                                      {kPutDone, PutMessages::on_put_done, &put_messages_},
                                      {kShortPut, PutMessages::on_short_put, &put_messages_},
                                      {kLatePut, PutMessages::on_late_put, &put_messages_}};
  const ucs_status_t status = worker_.open(handlers);
  if (status == UCS_OK) return {};
  log_.error(
      "ucx: rank {}: UCX gives no worker: {}; see ucx_info -d for what this host has, and ulimit -n and -l. "
      "UCX needs /proc, and room in /dev/shm unless AQUEDUCT_UCX_TRANSPORTS=^posix",
      me_, ucp_.status_string(status));
  return ErrorCode::network_failed;
}

std::vector<std::byte> UcxConduit::address() {
  ucp_address_t* address = nullptr;
  std::size_t bytes = 0;
  if (const ucs_status_t status = ucp_.worker_get_address(worker_.handle(), &address, &bytes);
      status != UCS_OK) {
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
  ucp_.worker_release_address(worker_.handle(), address);
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
    const bool watched =
        peers_.learn(rank, std::span(form).subspan(sizeof head), process_.host[rank] == process_.host[me_]);
    if (rank != me_ && !watched) properties_.reports_lost_peers = false;
  }
  return start_thread();
}

core::Post UcxConduit::send(Rank to, core::Bytes header, core::Bytes payload, core::Token) noexcept {
  const Entry entry(lock_);
  if (to == me_) {
    return delivery_.defer_packet(me_, header, payload) ? core::Post::done()
                                                        : core::Post::retry(ErrorCode::no_memory);
  }
  return messages_.send(peers_[to], kPacket, header, payload);
}

int UcxConduit::poll(core::Inbox& inbox) noexcept {
  if (thread_) thread_->owner_polls();
  const Entry entry(lock_);
  delivery_.begin_poll(inbox);
  delivery_.deliver_packets();
  operations_.report_ended();
  delivery_.deliver_signals();
  flushes_.begin();
  const unsigned events = worker_.progress();
  if (put_messages_.owes_late_answers()) put_messages_.count_poll();
  if (put_messages_.owes_answers()) put_messages_.send_answers();
  if (messages_.owes_aside_answers()) [[unlikely]]
    messages_.send_aside_answers();
  lost_.poll(events == 0);
  const int calls = delivery_.end_poll();
  return calls != 0 ? calls : events != 0;
}

void UcxConduit::serve_aside(core::Aside aside) noexcept {
  const Entry entry(lock_);
  messages_.serve_aside(aside);
}

std::string UcxConduit::state_of(Rank rank) const {
  if (rank >= peers_.size() || peers_[rank].address.empty()) return {};
  const Entry entry(lock_);
  const Peer& peer = peers_[rank];
  std::string lanes;
  if (peer.ep != nullptr) {
    for (const std::string& line : info_lines([&](std::FILE* out) { ucp_.ep_print_info(peer.ep, out); })) {
      if (const std::string lane = text_after(line, "lane["); !lane.empty()) lanes += "; lane [" + lane;
    }
  }
  return fmt::format(
      "{}{}, {} packets and {} flushes on their way there; of all peers {} operations in UCX, {} packets, {} "
      "puts with {} "
      "flushes, {} puts by message, {} answers, {} gets, {} packets aligned, {} messages rejected{}",
      peer.gone            ? "gone"
      : peer.ep == nullptr ? "not connected"
                           : "connected",
      peer.watched ? "" : ", not watched", peer.packets, peer.flushes, operations_.in_use(), counts_.packets,
      counts_.puts, counts_.flushes, counts_.put_messages, counts_.answers, counts_.gets, counts_.copied,
      counts_.rejected, lanes);
}

bool UcxConduit::settled() noexcept {
  const Entry entry(lock_);
  return peers_.settled();
}

void UcxConduit::forget(Rank rank) noexcept {
  const Entry entry(lock_);
  if (rank != me_ && rank < peers_.size()) peers_.fail(peers_[rank], UCS_OK);
}

}  // namespace aqueduct::conduits::ucx
