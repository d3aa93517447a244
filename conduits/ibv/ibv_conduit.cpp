#include "conduits/ibv/ibv_conduit.hpp"

#include "conduits/ibv/errors.hpp"
#include "conduits/ibv/work_id.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace aqueduct::conduits::ibv {
namespace {

// Chosen: packets that a rank may have on their way to itself.
constexpr std::size_t kToSelf = 16;
// Chosen: how long the destructor waits for outstanding requests.
constexpr std::chrono::milliseconds kLinger{500};

// Chosen: idle peers that one check probes.
constexpr Rank kProbes = 8;

// Chosen: checks are at least 20 ms apart. The pause doubles, so that few places in the queue are used.
constexpr std::chrono::milliseconds kProbePause{20};

constexpr std::size_t kPage = 4096;

/// Ignores what completes while the conduit is being destroyed.
struct Deaf final : core::Inbox {
  void packet(Rank, core::Bytes) noexcept override {}
  void completed(core::Token, Status) noexcept override {}
  void signalled(Rank, Signal) noexcept override {}
  void lost(Rank) noexcept override {}
};

}  // namespace

IbvConduit::IbvConduit(const Verbs& verbs, const Port& port, Objects objects, const IbvOptions& options,
                       std::uint64_t job, Rank ranks, Rank me, core::Log& log, core::EndpointClock clock)
    : env_{verbs, port, log, options, job, me, ranks, std::move(objects), clock},
      losses_(env_),
      memory_(verbs, *env_.objects.domain, job, env_.segment_access(), env_.local_access(),
              port.limits.max_mr_size, options.on_demand ? port.paging : Paging{}, options.large_pages, me,
              log),
      buffers_(env_, memory_),
      requests_(env_, losses_, buffers_, counters_),
      receive_(verbs, *env_.objects.domain, env_.objects.receives.get(), env_.sizes().receives,
               sizeof(PacketHead) + options.packet),
      credits_(requests_, counters_, receive_, ranks),
      messages_(env_, losses_, buffers_, requests_, credits_, receive_),
      access_(env_, memory_, buffers_, requests_, credits_, messages_),
      rails_(env_),
      connections_(env_, losses_, counters_, requests_, receive_, messages_, rails_),
      bounced_(env_, memory_, buffers_, requests_, access_, connections_),
      striping_(env_, losses_, memory_, requests_, access_, connections_, bounced_, rails_),
      to_self_(kToSelf * options.packet),
      vector_(env_, properties_, losses_, memory_, buffers_, requests_, access_, connections_, bounced_),
      rma_(env_, losses_, memory_, buffers_, requests_, access_, connections_, bounced_, rails_, striping_,
           vector_, to_self_),
      atomics_(env_, losses_, memory_, buffers_, requests_, access_, connections_),
      events_(env_, losses_, connections_, striping_),
      completions_(env_, losses_, memory_, requests_, messages_, connections_, bounced_, striping_, events_),
      sleeper_(env_, to_self_, requests_, credits_, losses_, connections_, rails_, striping_, completions_) {
  properties_.name = "ibv";
  properties_.network = port.kind();
  properties_.max_packet = options.packet;
  // The budget of registered local memory has room for two transfers, so that one can travel while the next begins.
  properties_.max_transfer = std::min(
      {std::size_t{port.attributes.max_msg_sz}, std::size_t{1} << 30, options.pinned / 2 / kPage * kPage});
  properties_.max_inject = std::min(options.packet, properties_.max_transfer);
  properties_.max_signal_add = (1u << 6) - 1;  // the immediate data has 6 bits for it (wire.hpp)
  properties_.put_before_send = true;
  properties_.put_before_put = false;   // a put does not wait for earlier ones that go through bounce buffers
  properties_.send_before_send = true;  // one queue pair for each peer, and one completion queue
  properties_.reports_lost_peers = true;
  // An adapter writes and reads an aligned word by one transaction of the bus. A device in software copies, with an
  // instruction that may go byte by byte.
  properties_.whole_words = port.in_software() ? core::WholeWords::none : core::WholeWords::puts_and_gets;
}

IbvConduit::~IbvConduit() {
  drain();
  // Queue pairs must be destroyed before the memory that they use.
  for (const auto& connection : connections_.all()) {
    if (connection != nullptr) Connections::close(*connection);
  }
}

// What has not been given to a device yet would be dropped with this endpoint. The job's end polls until it has been; the
// destructor cannot, since it would read memory that the program may have freed.
bool IbvConduit::settled() noexcept {
  return !bounced_.any() && !striping_.any_waits() && !requests_.holds_any();
}

// Waits for outstanding requests before the connections close, because peers may wait for their data. Posts no transfer:
// without Job::finish the program's memory may be gone.
void IbvConduit::drain() noexcept {
  requests_.drop_held();  // the device would read the bytes now, though it is to get them inline
  const auto matters = [](Connection& connection) {
    for (std::uint32_t i = 0; i < connection.outstanding.count(); ++i) {
      if (connection.outstanding[connection.outstanding.oldest() + i].kind != OutstandingRequest::Kind::own)
        return true;
    }
    return false;
  };
  std::vector<Connection*> waiting;
  for (const auto& connection : connections_.all()) {
    if (connection == nullptr || connection->pair == nullptr) continue;
    // Where a completion does not mean arrival, the connection must stay open until a read behind the last request
    // ends.
    if (!env_.sizes().confirms && connection->ready)
      static_cast<void>(requests_.probe(*connection, OutstandingRequest::Kind::part));
    if (!matters(*connection)) continue;
    waiting.push_back(connection.get());
    // The completion of an empty request ends the unsignaled ones before it.
    if (connection->unsignaled > 0)
      static_cast<void>(requests_.probe(*connection, OutstandingRequest::Kind::own));
  }
  const auto until = env_.clock.now() + kLinger;
  Deaf nobody;
  bool more = false;
  while (!losses_.is_broken() && (!waiting.empty() || striping_.any_by_rail()) && env_.clock.now() < until) {
    if (striping_.any_by_rail()) striping_.take_completions(nobody, more);
    std::array<ibv_wc, 16> batch;
    const int found = ::ibv_poll_cq(env_.objects.queue.get(), static_cast<int>(batch.size()), batch.data());
    if (found < 0) return;
    for (int i = 0; i < found; ++i) {
      const ibv_wc& completion = batch[static_cast<std::size_t>(i)];
      if (WorkId::kind(completion.wr_id) != WorkId::Kind::request) continue;
      Connection* const connection = connections_.find_by_request(completion.wr_id);
      const std::uint32_t number = WorkId::number(completion.wr_id);
      if (env_.sizes().in_order || completion.status != IBV_WC_SUCCESS) {
        while (connection->outstanding.has(number)) connection->outstanding.end_front();
      } else if (connection->outstanding.has(number)) {
        connection->outstanding.note_end(number);
        while (connection->outstanding.front_ended()) connection->outstanding.end_front();
      }
    }
    std::erase_if(waiting, [&](Connection* connection) { return !matters(*connection); });
  }
}

Status IbvConduit::start(std::span<const Port> rails) {
  if (const int error = buffers_.open(); error != 0) return env_.refused("to register its buffers", error);
  if (const int error = counters_.open(env_); error != 0)
    return env_.refused("to register its counters", error);
  if (const Status status = connections_.open(); !status || rails.empty()) return status;
  for (const Port& rail : rails) {
    properties_.max_transfer = std::min<std::size_t>(properties_.max_transfer, rail.attributes.max_msg_sz);
  }
  properties_.network += fmt::format(", {} ports", 1 + rails.size());
  striping_.open();
  properties_.max_ordered = striping_.most_whole();
  if (properties_.max_transfer <= properties_.max_ordered) {
    env_.log.warn(
        "ibv: rank {}: transfers go in pieces of {} bytes, so that none is striped over several ports: raise "
        "AQUEDUCT_IBV_PINNED, or lower AQUEDUCT_IBV_RAIL_BYTES ({})",
        env_.me, properties_.max_transfer, env_.options.rail_bytes);
  }
  return rails_.open(rails);
}

std::vector<std::byte> IbvConduit::address() {
  std::vector<Address> mine{address_of(env_.port, env_.objects)};
  connections_.tell(mine[0]);
  for (const auto& rail : rails_) mine.push_back(rail->address());
  const auto bytes = std::as_bytes(std::span(mine));
  return {bytes.begin(), bytes.end()};
}

Status IbvConduit::connect(std::span<const std::vector<std::byte>> addresses) {
  for (Rank rank = 0; rank < addresses.size(); ++rank) {
    const auto& blob = addresses[rank];
    if (blob.empty()) continue;
    if (rank >= env_.ranks || blob.size() < sizeof Address::wire_version) {
      return {ErrorCode::bootstrap_failed, rank};
    }
    Address address;
    std::memcpy(&address.wire_version, blob.data(), sizeof address.wire_version);
    if (address.wire_version != kWireVersion) return {ErrorCode::version_mismatch, rank};
    if (blob.size() % sizeof address != 0) return {ErrorCode::bootstrap_failed, rank};
    std::memcpy(&address, blob.data(), sizeof address);
    connections_.learn_address(rank, address);
    if (address.network != env_.port.network()) {
      env_.log.error(
          "ibv: rank {} uses {} ({}), and rank {} a port of {}: set AQUEDUCT_IBV_DEVICE to ports of one "
          "network",
          env_.me, env_.port.device, name_of(env_.port.network()), rank, name_of(address.network));
      return {ErrorCode::bad_setting, rank};
    }
    if (address.mtu != static_cast<std::uint8_t>(env_.port.attributes.active_mtu)) {
      env_.log.info("ibv: rank {} and rank {} have MTUs of {} and {} bytes: the smaller one is used", env_.me,
                    rank, 128 << env_.port.attributes.active_mtu, 128 << address.mtu);
    }
    const std::size_t both = std::min(blob.size() / sizeof address - 1, rails_.size());
    for (std::size_t i = 0; i < both; ++i) {
      Address of_rail;
      std::memcpy(&of_rail, blob.data() + (i + 1) * sizeof of_rail, sizeof of_rail);
      rails_[i].learn(rank, of_rail);
    }
  }
  return {};
}

core::Post IbvConduit::send(Rank to, core::Bytes header, core::Bytes payload, core::Token) noexcept {
  if (to == env_.me) return to_self_.packet(header, payload) ? core::Post::done() : core::Post::retry();
  Connection* const connection = connections_.reach(to);
  if (connection == nullptr) [[unlikely]]
    return losses_.no_connection(to);
  if (bounced_.has(to)) [[unlikely]]
    return core::Post::retry();  // it would overtake the bounced bytes
  const core::Post post = messages_.send(*connection, PacketHead::Kind::packet, header, payload,
                                         OutstandingRequest::Kind::packet, 0);
  return post.kind == core::Post::Kind::posted ? core::Post::done() : post;
}

int IbvConduit::poll(core::Inbox& inbox) noexcept {
  requests_.begin_round();
  credits_.begin_round();
  int calls = to_self_.empty() ? 0 : to_self_.deliver(env_.me, inbox);
  connections_.poll_cm_events(sleeper_.looks());
  sleeper_.look();
  calls += completions_.poll(inbox);
  credits_.return_taken();
  bounced_.go_on();
  connections_.go_on(completions_.any_left());
  // Messages that a lost peer sent earlier are delivered first.
  if (!completions_.any_left() && losses_.any()) [[unlikely]]
    calls += losses_.take(inbox, [&](Rank peer) noexcept { return end_peer(peer, inbox); });
  return calls;
}

// The queue pair is destroyed first. Then the device uses none of the callers' memory, and the operations can be ended.
int IbvConduit::end_peer(Rank peer, core::Inbox& inbox) noexcept {
  if (!losses_.mark_gone(peer)) return 0;
  Connection* const connection = connections_.find(peer);
  if (connection == nullptr) return 0;
  requests_.drop_held(*connection);
  Connections::close(*connection);
  return completions_.end_all_with(*connection, inbox);
}

// A wait for a peer that died silently would never end, so an empty write tests whether its adapter answers. No test is
// needed if the newest request is signaled, because its completion shows the same; unsignaled ones never report how
// they ended.
void IbvConduit::check_peers(core::Inbox&) noexcept {
  events_.take();
  const auto ranks = env_.ranks;
  Rank asked = 0;
  for (Rank looked = 0; looked < ranks && asked < kProbes; ++looked, probed_ = (probed_ + 1) % ranks) {
    Connection* const connection = connections_.find(probed_);
    if (connection == nullptr || !connection->ready || probed_ == env_.me) continue;
    const bool waits = connection->outstanding.count() != 0 && connection->unsignaled == 0;
    if (waits && !may_be_overlooked(*connection)) continue;
    if (requests_.probe(*connection, OutstandingRequest::Kind::own) && waits) note_probe(*connection);
    ++asked;
  }
}

// siw ignores what arrives between its answer to a request for a connection and the moment when it listens to the new
// connection's socket (siw_accept sends the answer first). It takes these bytes when others arrive behind them. If
// nothing follows, because the requests that it ignored must end first, nothing ever ends. So probes go, ever more
// rarely, until the peer's device has answered one, or the peer has sent a message.
bool IbvConduit::may_be_overlooked(const Connection& connection) const noexcept {
  return !env_.sizes().confirms && !connection.answered && !connection.heard &&
         connection.next_probe <= env_.clock.now();
}
void IbvConduit::note_probe(Connection& connection) noexcept {
  connection.probe_pause = std::max<std::chrono::nanoseconds>(2 * connection.probe_pause, kProbePause);
  connection.next_probe = env_.clock.now() + connection.probe_pause;
}

void IbvConduit::memory_ends(core::Bytes memory) noexcept {
  buffers_.invalidate(memory);
  rails_.invalidate(memory);
}

std::string IbvConduit::state_of(Rank peer) const {
  const Connection* const connection = connections_.find(peer);
  if (losses_.is_gone(peer)) return fmt::format("{}, gone", env_.port.device);
  if (connection == nullptr) return fmt::format("{}, no connection so far", env_.port.device);
  if (!connection->ready)
    return fmt::format("{}, has not answered the request for a connection yet", env_.port.device);
  std::string ports = env_.port.device;
  for (const auto& rail : rails_) {
    if (rail->reaches(peer)) ports += " and " + rail->port().device;
  }
  return fmt::format("{}, {} work requests under way to it, {} of {} credits left", ports,
                     connection->outstanding.count(),
                     connection->granted - (connection->sent - connection->returned), connection->granted);
}

}  // namespace aqueduct::conduits::ibv
