#pragma once

#include "conduits/ofi/lost_peers.hpp"
#include "conduits/ofi/messages.hpp"
#include "conduits/ofi/objects.hpp"
#include "conduits/ofi/receive_buffers.hpp"
#include "core/conduit.hpp"
#include "core/to_self.hpp"

#include <chrono>

namespace aqueduct::conduits::ofi {

/// Sleeps on the completion queue's descriptor, where there is one.
class Sleeper final : public core::Waitable {
 public:
  Sleeper(const Objects& objects, const core::ToSelf& to_self, const Messages& messages,
          const ReceiveBuffers& receive, const LostPeers& lost)
      : objects_(objects), to_self_(to_self), messages_(messages), receive_(receive), lost_(lost) {}

  void arm() noexcept override {}
  void disarm() noexcept override {}
  void sleep(std::chrono::nanoseconds limit) noexcept override;
  std::chrono::nanoseconds within() const noexcept override;
  int descriptor() const noexcept override { return objects_.descriptor; }

 private:
  const Objects& objects_;
  const core::ToSelf& to_self_;
  const Messages& messages_;
  const ReceiveBuffers& receive_;
  const LostPeers& lost_;
};

}  // namespace aqueduct::conduits::ofi
