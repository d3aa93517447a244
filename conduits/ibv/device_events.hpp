#pragma once

#include "conduits/ibv/connections.hpp"
#include "conduits/ibv/striping.hpp"

namespace aqueduct::conduits::ibv {

/// Asynchronous events of the devices: failures of a device or of a queue pair, and changes of ports.
class DeviceEvents {
 public:
  DeviceEvents(const Environment& env, Losses& losses, const Connections& connections, Striping& striping)
      : env_(env), losses_(losses), connections_(connections), striping_(striping) {}

  /// Takes all pending events. They may make peers suspected, and take rails out of use.
  void take() noexcept;

 private:
  const Environment& env_;
  Losses& losses_;
  const Connections& connections_;
  Striping& striping_;
};

}  // namespace aqueduct::conduits::ibv
