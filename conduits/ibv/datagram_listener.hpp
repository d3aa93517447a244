#pragma once

#include "conduits/ibv/bounce_buffers.hpp"
#include "conduits/ibv/device.hpp"
#include "conduits/ibv/wire.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace aqueduct::conduits::ibv {

/// The unreliable-datagram (UD) queue pair on which peers request connections. Datagrams may be lost; the waiting side
/// retransmits.
class DatagramListener {
 public:
  /// Returns 0, or an errno.
  int open(const Verbs& verbs, ibv_pd& domain, ibv_cq& queue, const Port& port, std::uint64_t job);

  std::uint32_t number() const noexcept { return pair_->qp_num; }
  /// Sends to a peer's listener, `listener` being the number of its queue pair. False: no room now.
  bool send(const Hello& hello, ibv_ah& way, std::uint32_t listener) noexcept;
  /// Returns the Hello that a completed receive brought, or nothing if it is not of this job. Posts the buffer again.
  std::optional<Hello> receive(std::uint64_t index, const ibv_wc& completion) noexcept;
  /// A `send` has completed.
  void sent(std::uint64_t index) noexcept { free_.push_back(static_cast<std::uint32_t>(index)); }

 private:
  std::byte* receive_buffer(std::uint64_t index) const noexcept;
  std::byte* send_buffer(std::uint64_t index) const noexcept;
  int post(std::uint64_t index) noexcept;

  std::uint64_t job_ = 0;
  std::uint32_t key_ = 0;
  RegisteredPages pages_;
  std::vector<std::uint32_t> free_;
  Owned<ibv_qp> pair_;
};

}  // namespace aqueduct::conduits::ibv
