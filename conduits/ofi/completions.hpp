#pragma once

#include "conduits/ofi/lost_peers.hpp"
#include "conduits/ofi/messages.hpp"
#include "conduits/ofi/objects.hpp"
#include "conduits/ofi/operations.hpp"
#include "conduits/ofi/poll_hints.hpp"
#include "conduits/ofi/receive_buffers.hpp"
#include "conduits/ofi/requests.hpp"
#include "core/clock.hpp"
#include "core/conduit.hpp"
#include "core/log.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace aqueduct::conduits::ofi {

/// Reads the completion queue: ends operations, and delivers packets and signals.
class Completions {
 public:
  Completions(const Objects& objects, Requests& requests, ReceiveBuffers& receive, Peers& peers,
              Operations& operations, Messages& messages, LostPeers& lost, PollHints& hints,
              const Provider& provider, std::size_t max_packet, Rank me, core::Log& log,
              core::EndpointClock clock)
      : cq_(objects.cq.get()),
        requests_(requests),
        receive_(receive),
        peers_(peers),
        operations_(operations),
        messages_(messages),
        lost_(lost),
        hints_(hints),
        provider_(provider),
        max_packet_(max_packet),
        me_(me),
        log_(log),
        clock_(clock),
        aligned_(max_packet) {}

  /// Takes one batch from the queue, and adds the number of calls of the inbox to `calls`. Returns whether there was nothing,
  /// or nothing comes any more. A batch that is not full says less: it may end at an error, and libfabric asks the network
  /// for more only if its queue is empty.
  bool read(core::Inbox& inbox, int& calls) noexcept;

  /// Called when the endpoint ends: waits, for a bounded time, until the outstanding operations have left.
  void drain() noexcept;

 private:
  int take(const fi_cq_data_entry& entry, core::Inbox& inbox) noexcept;
  int take_packet(const std::byte* bytes, std::size_t length, core::Inbox& inbox) noexcept;
  int take_error(std::int64_t found, core::Inbox& inbox) noexcept;
  int ended(Request& request, Status status, core::Inbox& inbox) noexcept;
  Request* oldest_copy() noexcept;
  void refill(void* context) noexcept;
  void give_up(std::string_view what, std::int64_t error) noexcept;
  bool is_awaited(const Request& request) const noexcept;
  bool drain_batch() noexcept;

  fid_cq* cq_;
  Requests& requests_;
  ReceiveBuffers& receive_;
  Peers& peers_;
  Operations& operations_;
  Messages& messages_;
  LostPeers& lost_;
  PollHints& hints_;
  const Provider& provider_;
  std::size_t max_packet_;
  Rank me_;
  core::Log& log_;
  const core::EndpointClock clock_;
  std::vector<std::byte> aligned_;  // for a packet that the provider delivers at an odd address
  bool is_broken_ = false;          // the queue has failed for good
};

}  // namespace aqueduct::conduits::ofi
