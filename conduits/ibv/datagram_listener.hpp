#pragma once

#include "conduits/ibv/bounce_buffers.hpp"
#include "conduits/ibv/environment.hpp"
#include "conduits/ibv/wire.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace aqueduct::conduits::ibv {

/// The unreliable-datagram (UD) queue pair on which peers request connections. Datagrams may be lost; the waiting side
/// retransmits.
///
/// An error makes the device stop the queue pair for good: soft RoCE does so if its interface is down when a datagram leaves. So it is
/// started again, with the same number, once the device has given back what was posted.
class DatagramListener {
 public:
  explicit DatagramListener(const Environment& env) : env_(env) {}

  /// Returns 0, or an errno.
  int open();

  std::uint32_t number() const noexcept { return pair_->qp_num; }
  /// Sends to a peer's listener, `listener` being the number of its queue pair. False: no room now.
  bool send(const Hello& hello, ibv_ah& way, std::uint32_t listener) noexcept;
  /// Returns the Hello that a completed receive brought, or nothing if it is not of this job. Posts the buffer again.
  std::optional<Hello> receive(std::uint64_t index, const ibv_wc& completion) noexcept;
  /// When to call `go_on`, if the device has refused to start the queue pair again.
  std::optional<core::Clock::time_point> next_start() const noexcept {
    return stopped_ && refused_ ? std::optional(next_start_) : std::nullopt;
  }
  void go_on() noexcept;
  /// A `send` has completed.
  void sent(std::uint64_t index, const ibv_wc& completion) noexcept;

 private:
  std::byte* receive_buffer(std::uint64_t index) const noexcept;
  std::byte* send_buffer(std::uint64_t index) const noexcept;
  int start() noexcept;
  int change(ibv_qp_state to, int mask) noexcept;
  int post(std::uint64_t index) noexcept;
  void note_end(const ibv_wc& completion) noexcept;
  void forget_posted() noexcept;
  bool start_again() noexcept;

  const Environment& env_;
  std::uint32_t key_ = 0;
  RegisteredPages pages_;
  std::uint32_t receives_ = 0;  // posted
  bool stopped_ = false;        // by an error; what was posted comes back
  bool refused_ = false;        // to start again: said once
  core::Clock::time_point next_start_{};
  std::vector<std::uint32_t> free_;
  Owned<ibv_qp> pair_;
};

}  // namespace aqueduct::conduits::ibv
