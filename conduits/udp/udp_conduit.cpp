#include "conduits/udp/udp_conduit.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <system_error>
#include <thread>

#include <poll.h>

namespace aqueduct::conduits::udp {
namespace {

/// Precedes an endpoint's address in what it publishes to its peers.
struct AddressHead {
  std::uint8_t wire_version = kWireVersion;
  Security security = Security::header;
  Cipher cipher = Cipher::aes256_gcm;
  std::uint8_t base =
      0;  ///< an eighth of Common::base_mtu(): no longer packets before a probe of their size has arrived
  Secret secret{};
};
static_assert(sizeof(AddressHead) == 36);
static_assert(kBaseMtu / 8 <= 255);

// After this many polls a lost peer is forgotten even if others keep the socket busy.
constexpr int kForgetAfter = 256;

// Completions that have room from the start. The room doubles when it is too small.
constexpr std::size_t kFirstRoom = 256;

// Chosen: time until answers for which a connection had no room are tried again.
constexpr Time kAnswersAgain = kMillisecond;
// Chosen: how often the thread looks for keep-alives that are due, while the owner runs a handler.
constexpr std::chrono::milliseconds kInHandler{5};

const char* name_of(Security security) noexcept {
  switch (security) {
    case Security::none: return "none";
    case Security::header: return "header";
    case Security::full: return "full";
  }
  return "?";
}

}  // namespace

UdpConduit::UdpConduit(std::unique_ptr<Carrier> carrier, const Address& local, const UdpOptions& options,
                       const core::Process& process, Rank me, ProcessConduits& process_conduits)
    : options_(options),
      local_(local),
      log_(*process.log),
      process_conduits_(process_conduits),
      me_(me),
      ranks_(process.ranks),
      transport_(std::move(carrier), *this, *this, me, process.ranks, process.job, process.clock) {
  properties_.name = "udp";
  properties_.network = options.network;
  properties_.max_packet = kMostMessage;
  properties_.max_transfer = std::size_t{1} << 30;
  properties_.max_inject = kMostCopied;
  properties_.max_inject_signal = kMostCopied;
  // Datagrams are delivered as they arrive, so no order is kept.
  properties_.put_before_send = properties_.put_before_put = properties_.send_before_send = false;
  properties_.reports_lost_peers = true;
  properties_.through_sockets = true;
  // This library stores and loads a word at its owner, by copy_bytes (protocol/connection_receive.cpp).
  properties_.whole_words = core::WholeWords::puts_and_gets;
  Common& common = transport_.common();
  common.security = options.security;
  common.secret = options.secret;
  common.timeout = options.timeout;
  common.heartbeat = options.timeout / 5;
  common.most_datagram = options.most_datagram;
  common.mtu_hint = options.mtu_hint;
  // A quarter stays free: the system charges more for a datagram than its bytes.
  transport_.set_budget(options.receive_buffer / 4 * 3);
  to_forget_.reserve(ranks_);
}

UdpConduit::~UdpConduit() {
  thread_.reset();
  process_conduits_.leave(*this);
  transport_.close(poll_others());
}

Transport::Meanwhile UdpConduit::poll_others() noexcept {
  if (!options_.shares_process) return {};
  return [this] {
    process_conduits_.for_each_but(*this, [](UdpConduit& other) {
      // If the lock is taken, its holder polls that conduit. If the owner sleeps, an arriving datagram wakes it.
      // `asleep_` is read under the lock: an owner that falls asleep later polls once more first, and finds the
      // deferred events.
      const std::unique_lock lock(other.mutex_, std::try_to_lock);
      if (lock && !other.asleep_.load(std::memory_order_relaxed) && !other.in_handler_)
        other.transport_.progress();
    });
  };
}

std::vector<std::byte> UdpConduit::address() {
  AddressHead head;
  head.security = options_.security;
  head.cipher = best_cipher();
  head.base = static_cast<std::uint8_t>(transport_.common().base_mtu() / 8);
  head.secret = options_.secret;
  std::vector<std::byte> form(sizeof head);
  std::memcpy(form.data(), &head, sizeof head);
  const std::vector<std::byte> address = local_.to_bytes();
  form.insert(form.end(), address.begin(), address.end());
  return form;
}

Status UdpConduit::connect(std::span<const std::vector<std::byte>> addresses) try {
  std::vector<PeerAddress> peers(addresses.size());
  transport_.common().cipher = best_cipher();
  for (Rank rank = 0; rank < addresses.size(); ++rank) {
    const auto& form = addresses[rank];
    if (form.empty()) continue;
    AddressHead head;
    if (form.size() <= sizeof head) return {ErrorCode::bootstrap_failed, rank};
    std::memcpy(&head, form.data(), sizeof head);
    if (head.wire_version != kWireVersion) {
      log_.error(
          "udp: rank {} speaks version {} of the wire format, and this rank {}: start one version of the "
          "library",
          rank, head.wire_version, kWireVersion);
      return {ErrorCode::version_mismatch, rank};
    }
    if (head.security != options_.security) {
      log_.error("AQUEDUCT_UDP_SECURITY is {} here and {} at rank {}: set it alike for the whole job",
                 name_of(options_.security), name_of(head.security), rank);
      return {ErrorCode::bad_setting, rank};
    }
    const auto address = Address::from_bytes(std::span(form).subspan(sizeof head));
    if (!address) return {ErrorCode::bootstrap_failed, rank};
    if (address->family() != local_.family()) {
      log_.error("udp: rank {} is at {}, which {} cannot reach: set AQUEDUCT_UDP_FAMILY to ipv4 or ipv6",
                 rank, address->text(), local_.text());
      return {ErrorCode::bad_setting, rank};
    }
    // A scope is an interface number of the peer's host. Here it must be one of this host.
    const bool local_scope = address->family() == AF_INET6 && address->link_local();
    const auto here = Address::from_host(address->host(), address->port(), local_.scope());
    peers[rank].address = local_scope && here ? *here : *address;
    peers[rank].secret = head.secret;
    if (head.base != 0) peers[rank].base = std::clamp(std::size_t{head.base} * 8, kLeastPacket, kBaseMtu);
    if (head.cipher != Cipher::aes256_gcm) transport_.common().cipher = Cipher::chacha20_poly1305;
  }
  transport_.set_peers(std::move(peers), me_);
  if (!make_room(kFirstRoom, 0, 0)) return {ErrorCode::no_memory, me_};
  if (options_.patience > 0) try {
      const std::chrono::nanoseconds patience(options_.patience);
      thread_.emplace("aqueduct-udp", patience, descriptor(), [this](const core::ProgressThread& thread) {
        std::unique_lock lock(mutex_);
        if (!thread.owner_is_awake()) return std::chrono::nanoseconds::max();
        if (in_handler_) {
          transport_.send_keep_alives();
          lock.unlock();
          std::this_thread::sleep_for(kInHandler);  // what arrives meanwhile must not end this
          return std::chrono::nanoseconds::zero();
        }
        transport_.progress();
        if (!answers_.empty()) send_answers();
        if (!answers_.empty()) return std::chrono::nanoseconds(kAnswersAgain);
        return until_deadline();
      });
    } catch (const std::system_error& problem) {
      log_.error(
          "udp: the system gives no thread for AQUEDUCT_UDP_PROGRESS ({}; see ulimit -u); 0 does without, "
          "but then a rank "
          "that computes "
          "for longer than AQUEDUCT_UDP_TIMEOUT is taken for lost",
          problem.what());
      return {ErrorCode::no_memory, me_};
    }
  process_conduits_.join(*this);
  return {};
} catch (const std::bad_alloc&) {
  log_.error("udp: the machine has no memory to connect with {} ranks: start fewer on each host",
             addresses.size());
  return {ErrorCode::no_memory, me_};
}

core::Post UdpConduit::send(Rank to, core::Bytes header, core::Bytes payload, core::Token) noexcept {
  if (to != me_) return post(to, [&](Connection& connection) { return connection.send(header, payload); });
  const Entry entry(*this);
  std::byte whole[kMostMessage];
  std::memcpy(whole, header.data(), header.size());
  if (!payload.empty()) std::memcpy(whole + header.size(), payload.data(), payload.size());
  if (!make_room(1, DeferredEvents::aligned(header.size() + payload.size()), 0)) return no_room_for_self();
  deferred_.message(me_, {whole, header.size() + payload.size()});
  return core::Post::done();
}

core::Post UdpConduit::no_room_for_self() noexcept {
  if (!deferred_.empty()) return core::Post::retry();  // the next poll makes room
  self_shortage_.note();
  return self_shortage_.lasts(transport_.read_clock(), 0, transport_.common().no_memory_limit())
             ? core::Post::failed(ErrorCode::no_memory)
             : core::Post::retry();
}

int UdpConduit::poll(core::Inbox& inbox) noexcept {
  if (thread_) thread_->owner_polls();
  const Entry entry(*this);
  inbox_ = &inbox;
  calls_ = 0;
  if (!deferred_.empty()) {
    const UnlockedForHandler unlocked(*this);
    calls_ += deferred_.deliver(inbox);
  }
  // Packets that a lost peer sent earlier are handled first.
  const int datagrams = transport_.progress();
  if (!to_forget_.empty() && (datagrams == 0 || ++forgetting_ >= kForgetAfter)) [[unlikely]] {
    forgetting_ = 0;
    for (const Rank peer : to_forget_) transport_.forget(peer);
    to_forget_.clear();
  }
  inbox_ = nullptr;
  if (!answers_.empty()) [[unlikely]]
    send_answers();
  return std::max(calls_,
                  datagrams);  // a rank whose memory others access is not idle, even without events
}

void UdpConduit::forget(Rank peer) noexcept {
  const Entry entry(*this);
  if (peer != me_ && peer < ranks_) forget_later(peer);
}

bool UdpConduit::forget_later(Rank peer) noexcept {
  if (std::ranges::find(to_forget_, peer) != to_forget_.end()) return false;
  to_forget_.push_back(peer);
  return true;
}

std::string UdpConduit::state_of(Rank peer) const {
  const Entry entry(*this);
  return transport_.text(peer);
}

// While the owner sleeps or is about to, neither the progress thread nor another conduit of the process receives for
// it: a datagram that they took out of the socket would not wake the owner. The poll after `arm` finds what they took
// before.
void UdpConduit::arm() noexcept {
  asleep_.store(true, std::memory_order_relaxed);
  if (thread_) thread_->owner_sleeps(true);
}

void UdpConduit::disarm() noexcept {
  asleep_.store(false, std::memory_order_relaxed);
  if (thread_) thread_->owner_sleeps(false);
}

std::chrono::nanoseconds UdpConduit::within() const noexcept {
  const Entry entry(*this);
  if (!deferred_.empty()) return std::chrono::nanoseconds::zero();
  if (!answers_.empty()) return std::chrono::nanoseconds(kAnswersAgain);
  return until_deadline();
}

std::chrono::nanoseconds UdpConduit::until_deadline() const noexcept {
  const Time deadline = transport_.deadline();
  return deadline == kNever ? std::chrono::nanoseconds::max()
                            : std::chrono::nanoseconds(deadline - transport_.read_clock());
}

void UdpConduit::sleep(std::chrono::nanoseconds limit) noexcept {
  const Time wait = std::min(limit, within()).count();
  if (wait <= 0) return;
  const timespec pause{wait / kSecond, wait % kSecond};
  pollfd readable{descriptor(), POLLIN, 0};
  ::ppoll(&readable, 1, &pause, nullptr);
}

// ------------------------------------------------------------------------------------- events from connections

bool UdpConduit::ready(std::size_t messages, std::size_t bytes, std::size_t signals) noexcept {
  return inbox_ != nullptr || make_room(messages, bytes, signals);
}

void UdpConduit::message(Rank from, core::Bytes bytes) noexcept {
  if (inbox_ == nullptr) {
    const auto memory = [this](SegmentId id) { return segment(id); };
    const auto send = [this](Rank to, core::Bytes answer) { return send_answer(to, answer); };
    const bool served = answers_.serve(aside_, from, bytes, memory, send);
    if (!served || !bytes.empty()) deferred_.message(from, bytes);
    return;
  }
  ++calls_;
  const UnlockedForHandler unlocked(*this);
  inbox_->packet(from, bytes);
}

core::Post::Kind UdpConduit::send_answer(Rank to, core::Bytes answer) noexcept {
  return post_inside(to,
                     [&](Connection& connection) {
                       return connection.send(core::header_of_answer(answer), core::rest_of_answer(answer));
                     })
      .kind;
}

void UdpConduit::send_answers() noexcept {
  answers_.send_again([this](Rank to, core::Bytes answer) { return send_answer(to, answer); });
}

void UdpConduit::serve_aside(core::Aside aside) noexcept {
  const Entry entry(*this);
  aside_ = aside;
}

void UdpConduit::completed(core::Token token, Status status) noexcept {
  --outstanding_;
  if (inbox_ == nullptr) return deferred_.completed(token, status);
  ++calls_;
  inbox_->completed(token, status);
}

void UdpConduit::signalled(Rank from, Signal signal) noexcept {
  if (inbox_ == nullptr) return deferred_.signalled(from, signal);
  ++calls_;
  inbox_->signalled(from, signal);
}

core::MutableBytes UdpConduit::segment(std::uint32_t id) noexcept {
  return id < segments_.size() ? segments_[id] : core::MutableBytes{};
}

void UdpConduit::refused(Rank from, const char* call, std::uint32_t id, std::uint64_t offset,
                         std::size_t bytes) noexcept {
  log_.error(
      "udp: rank {} began a {} of {} bytes at offset {} of segment {} of rank {}, which has {} bytes there "
      "now, and not all of it was done (of a put or an atomic that rank is not told): no rank may use a "
      "segment "
      "that has ended",
      from, call, bytes, offset, id, me_, segment(id).size());
}

void UdpConduit::silent(Rank peer, bool ever_heard) noexcept {
  const std::string said = troubles();
  const char* const never =
      ever_heard || !said.empty()
          ? ""
          : ". No valid packet of it has ever arrived here: a firewall or the route may "
            "drop UDP; AQUEDUCT_UDP_PORT fixes the ports to let through";
  log_.warn("rank {} at {} has not been heard for {:.1f} s (AQUEDUCT_UDP_TIMEOUT): taken for lost{}{}", peer,
            address_of(peer), static_cast<double>(options_.timeout) / 1e9, never, said);
}

void UdpConduit::black_hole(Rank peer) noexcept {
  log_.warn(
      "rank {} at {}: for {:.1f} s (AQUEDUCT_UDP_TIMEOUT) no long packet has got there, and most short ones "
      "have: taken for lost. The path carries less than it did; AQUEDUCT_UDP_PACKET=1200 fits all paths{}",
      peer, address_of(peer), static_cast<double>(options_.timeout) / 1e9, troubles());
}

void UdpConduit::attempts_exhausted(Rank peer) noexcept {
  log_.warn(
      "rank {} at {}: one packet has been sent 65536 times and has not got there: taken for lost. Packets of "
      "its length may not fit the path; AQUEDUCT_UDP_PACKET=1200 fits all paths",
      peer, address_of(peer));
}

void UdpConduit::no_memory(Rank peer) noexcept {
  log_.error(
      "udp: for {:.1f} s (half of AQUEDUCT_UDP_TIMEOUT) rank {} has had no memory for what goes to or comes "
      "from rank {}, "
      "which it takes for lost: raise the limit (ulimit -v, setrlimit, vm.overcommit_memory), or start fewer "
      "ranks on each "
      "host",
      static_cast<double>(transport_.common().no_memory_limit()) / 1e9, me_, peer);
}

void UdpConduit::drops_without_memory(Rank peer) noexcept {
  log_.error(
      "udp: rank {} drops the packets of rank {}, since it has no memory for another connection: raise the "
      "limit (ulimit -v, "
      "setrlimit, vm.overcommit_memory), or start fewer ranks on each host",
      me_, peer);
}

std::string UdpConduit::address_of(Rank peer) const noexcept try {
  return transport_.address(peer);
} catch (const std::bad_alloc&) {
  return {};
}

std::string UdpConduit::troubles() const noexcept try {
  return transport_.carrier().troubles();
} catch (const std::bad_alloc&) {
  return {};
}

void UdpConduit::lost(Rank peer) noexcept {
  if (inbox_ == nullptr) return deferred_.lost(peer);
  ++calls_;
  inbox_->lost(peer);
}

}  // namespace aqueduct::conduits::udp
