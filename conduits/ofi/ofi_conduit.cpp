#include "conduits/ofi/ofi_conduit.hpp"

#include "conduits/ofi/wire.hpp"

#include <fmt/format.h>
#include <rdma/fi_errno.h>

#include <algorithm>
#include <cstring>

namespace aqueduct::conduits::ofi {
namespace {

/// Starts an address blob; the provider's name and the endpoint's address follow.
struct AddressHead {
  std::uint32_t wire_version = 1;
  std::uint32_t name_bytes = 0;
};

// Chosen: the least number of packets that share a buffer, so that buffers are rarely posted again.
constexpr std::size_t kPacketsInBuffer = 16;
constexpr std::size_t kReceiveBuffers = 4;
// Chosen: packets to itself that a rank may have queued.
constexpr std::size_t kToSelf = 16;

/// The number and size of receive buffers.
struct Receiving {
  std::size_t count;
  std::size_t bytes;
};

Receiving receiving_of(const Provider& provider, const OfiOptions& options) {
  const std::size_t packet = padded(sizeof(PacketHead) + options.packet);
  if (provider.quirks->fills_buffers) {
    return {kReceiveBuffers, std::max(options.receive_bytes / kReceiveBuffers, kPacketsInBuffer * packet)};
  }
  const std::size_t most = provider.info->rx_attr->size;
  return {std::min(std::max(options.receive_bytes / packet, kPacketsInBuffer), most), packet};
}

std::size_t max_transfer_of(const Provider& provider) {
  return std::min<std::size_t>(provider.info->ep_attr->max_msg_size, std::size_t{1} << 30);
}

}  // namespace

OfiConduit::OfiConduit(Objects objects, const Provider& provider, const OfiOptions& options, Rank me,
                       core::Log& log, core::EndpointClock clock)
    : provider_(provider),
      log_(log),
      me_(me),
      requests_(
          static_cast<std::uint32_t>(std::min<std::size_t>(options.queue, provider.info->tx_attr->size)),
          padded(sizeof(PacketHead) + options.packet)),
      receive_(receiving_of(provider, options).count, receiving_of(provider, options).bytes,
               requests_.slot_bytes()),
      objects_(std::move(objects)),
      registrations_(*objects_.domain, *objects_.ep, provider, me, log),
      local_(registrations_, options.register_local, options.keep_registered),
      to_self_(kToSelf * requests_.slot_bytes()),
      lost_(peers_, requests_, local_, provider, me, options.give_back, log, clock),
      hints_(provider, peers_, me, clock),
      operations_(requests_, peers_, lost_, hints_, local_, provider, me, log),
      messages_(objects_, operations_, peers_, lost_, to_self_, provider, me),
      pings_(peers_, lost_, me, clock),
      completions_(objects_, requests_, receive_, peers_, operations_, messages_, lost_, hints_, provider,
                   options.packet, me, log, clock),
      rma_(objects_, operations_, messages_, peers_, registrations_, local_, to_self_, provider,
           requests_.slot_bytes(), me),
      vector_(objects_, operations_, peers_, registrations_, local_, provider, requests_.slot_bytes(),
              max_transfer_of(provider), me),
      atomics_(objects_, operations_, peers_, registrations_),
      sleeper_(objects_, to_self_, messages_, receive_, lost_) {
  properties_.name = "ofi";
  properties_.network = provider.network();
  properties_.max_packet = options.packet;
  properties_.max_transfer = max_transfer_of(provider);
  properties_.max_inject = std::min(requests_.slot_bytes(), properties_.max_transfer);
  properties_.max_signal_add = 0xffff;  // the completion data has 16 bits for it (wire.hpp)
  // Providers are not asked for an order (fi_tx_attr::msg_order): many would become slower or refuse.
  properties_.put_before_send = properties_.put_before_put = properties_.send_before_send = false;
  properties_.reports_lost_peers = true;
  properties_.through_sockets = !provider.quirks->hardware;
  // libfabric promises nothing per word, and over sockets the system copies arriving bytes into the segment: a word that
  // lies in two segments of TCP comes in two parts.
  properties_.whole_words = core::WholeWords::none;
}

OfiConduit::~OfiConduit() { completions_.drain(); }

Status OfiConduit::refused(const char* what, int error) const noexcept {
  log_.error("ofi: rank {}: provider {} on {} refuses {}: {}", me_, provider_.name(), provider_.domain(),
             what, provider_.library.text(error));
  return error == -FI_ENOMEM ? ErrorCode::no_memory : ErrorCode::network_failed;
}

Status OfiConduit::start() {
  if (const int error = ::fi_enable(objects_.ep.get()); error != 0) return refused("to begin", error);
  // Only after fi_enable: shm crashes otherwise.
  if (const int error = receive_.prepare(*objects_.ep); error != 0) {
    return refused("room for several packets in a buffer", error);
  }
  void* receive_descriptor = nullptr;
  if (local_.needed()) {
    void* descriptor = nullptr;
    int error = local_.add(requests_.slots(), descriptor);
    if (error == 0) error = local_.add(receive_.memory(), receive_descriptor);
    if (error != 0) {
      return refused("to register its buffers (`ulimit -l`, AQUEDUCT_OFI_RECEIVE_BUFFER)", error);
    }
    requests_.describe(descriptor);
  }
  if (const int error = receive_.post_all(*objects_.ep, receive_descriptor); error != 0) {
    return refused("its receive buffers", error);
  }
  if (provider_.atomics) atomics_.learn();
  return {};
}

std::vector<std::byte> OfiConduit::address() {
  const std::string provider = provider_.name();
  const AddressHead head{.name_bytes = static_cast<std::uint32_t>(provider.size())};
  std::vector<std::byte> blob(sizeof head + provider.size());
  std::memcpy(blob.data(), &head, sizeof head);
  std::memcpy(blob.data() + sizeof head, provider.data(), provider.size());
  if (const auto name = objects_.name()) blob.insert(blob.end(), name->begin(), name->end());
  return blob;
}

Status OfiConduit::connect(std::span<const std::vector<std::byte>> addresses) {
  std::vector<std::vector<std::byte>> names(addresses.size());
  const auto own = objects_.name();
  for (Rank rank = 0; rank < addresses.size(); ++rank) {
    const auto& blob = addresses[rank];
    if (blob.empty()) continue;
    AddressHead head;
    if (blob.size() <= sizeof head) return {ErrorCode::bootstrap_failed, rank};
    std::memcpy(&head, blob.data(), sizeof head);
    if (head.wire_version != AddressHead{}.wire_version) return {ErrorCode::version_mismatch, rank};
    if (head.name_bytes >= blob.size() - sizeof head) return {ErrorCode::bootstrap_failed, rank};
    const std::string provider(reinterpret_cast<const char*>(blob.data() + sizeof head), head.name_bytes);
    if (provider != provider_.name()) {
      log_.error(
          "ofi: rank {} uses provider {}, and rank {} uses {}: set AQUEDUCT_OFI_PROVIDER to one that all "
          "hosts have",
          me_, provider_.name(), rank, provider);
      return {ErrorCode::bad_setting, rank};
    }
    auto& name = names[rank];
    name.assign(blob.begin() + sizeof head + head.name_bytes, blob.end());
    // The provider reads as many bytes as its own addresses have, whatever length is given. A string address ends by itself.
    if (provider_.info->addr_format != FI_ADDR_STR && own && name.size() != own->size()) {
      log_.error(
          "ofi: the address of rank {} has {} bytes, and that of rank {} {}, so one may be of IPv4 and one "
          "of "
          "IPv6: set AQUEDUCT_OFI_DOMAIN to what is of one kind on all hosts",
          me_, own->size(), rank, name.size());
      return {ErrorCode::bad_setting, rank};
    }
  }
  peers_.learn(*objects_.av, std::move(names));
  lost_.reserve();
  hints_.reserve();
  return {};
}

int OfiConduit::poll(core::Inbox& inbox) noexcept {
  int calls = to_self_.empty() ? 0 : to_self_.deliver(me_, inbox);
  const bool is_empty = completions_.read(inbox, calls);
  if (messages_.has_unsent()) [[unlikely]]
    messages_.send_unsent();
  if (hints_.counts_poll()) [[unlikely]]
    calls += hints_.round(messages_);
  // Packets that a lost peer had sent are taken first.
  if (lost_.has_news() && (is_empty || ++busy_polls_ >= kMostBusyPolls)) [[unlikely]] {
    busy_polls_ = 0;
    calls += end_lost(inbox);
  }
  if (lost_.is_due()) [[unlikely]]
    calls += lost_.end_requests(inbox);
  return calls;
}

int OfiConduit::end_lost(core::Inbox& inbox) noexcept {
  const std::size_t suspects = lost_.mark_gone();
  const int calls = messages_.end_unsent(inbox) + lost_.end_requests(inbox);
  return calls + lost_.report(suspects, inbox);
}

// shm copies at the call, and finds a dead peer by that.
void OfiConduit::check_peers(core::Inbox&) noexcept {
  if (!provider_.quirks->completes_at_post) pings_.go_on(messages_);
}

std::string OfiConduit::state_of(Rank peer) const {
  const Peer& to = peers_[peer];
  return fmt::format("provider {}, {}, {} operations under way to it, room for {} more", provider_.name(),
                     to.gone                     ? "gone"
                     : to.at == FI_ADDR_NOTAVAIL ? "not used so far"
                                                 : "known",
                     to.in_flight, requests_.available());
}

}  // namespace aqueduct::conduits::ofi
