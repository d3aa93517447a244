#pragma once

#include "conduits/ibv/paging.hpp"
#include "conduits/ibv/verbs.hpp"
#include "conduits/ibv/wire.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace aqueduct::conduits::ibv {

/// What the settings ask for.
struct Wish {
  /// "mlx5_0", or with its port "mlx5_0:1"; or a list with commas, in order of preference. Empty: any.
  std::string device{};
  std::string gid{};      ///< index into the port's table of addresses; empty: the best one
  std::size_t rails = 1;  ///< how many ports to use, at most
};

/// A port of a device, and the address (GID) that is used.
struct Port {
  std::string device;
  std::uint8_t number = 1;
  ibv_device_attr limits{};
  Paging paging;
  ibv_port_attr attributes{};
  std::uint32_t gid_index = 0;
  ibv_gid gid{};
  std::string gid_text;  ///< in words: "RoCE v2, ::ffff:10.0.0.1"

  ibv_transport_type transport = IBV_TRANSPORT_IB;

  bool iwarp() const noexcept { return transport == IBV_TRANSPORT_IWARP; }
  bool ethernet() const noexcept { return attributes.link_layer == IBV_LINK_LAYER_ETHERNET; }
  NetworkKind network() const noexcept {
    return iwarp() ? NetworkKind::iwarp : ethernet() ? NetworkKind::roce : NetworkKind::infiniband;
  }
  /// Whether the system's software does what an adapter does: Soft RoCE, siw, or a device that does not say who made it.
  bool in_software() const noexcept {
    constexpr std::uint32_t kRxe = 0xffffff;  // RXE_VENDOR_ID in drivers/infiniband/sw/rxe/rxe_param.h
    constexpr std::uint32_t kSiw = 0x626d74;  // SIW_VENDOR_ID in drivers/infiniband/sw/siw/siw.h
    return limits.vendor_id == 0 || limits.vendor_id == kRxe || limits.vendor_id == kSiw;
  }
  /// In Gb/s.
  double speed() const noexcept;
  /// What it is, whatever its name and address: "RoCE of 100 Gb/s, device 15b3:1017" (core::Properties::network).
  std::string kind() const;
  /// "mlx5_0:1, RoCE v2, …, 100 Gb/s, MTU 4096": in words.
  std::string text() const;
};

/// The ports that can be used, and why the others cannot.
struct UsablePorts {
  std::vector<Port> ports;  ///< in the order of the setting, else of the device list
  std::string names;        ///< of all devices, in words
  std::string passed_over;  ///< in words: each with the reason; may be empty
};

/// Examines every port of every device that the settings allow.
UsablePorts usable_ports(const Verbs& verbs, const Wish& wish);

struct Found {
  Port port;                ///< the default one
  std::vector<Port> rails;  ///< beside it, for large transfers
  std::string problem;      ///< why no port can be used, and what to do; empty if one can
  std::string passed_over;  ///< in words: the other ports, each with the reason; may be empty
};

/// Chooses the fastest usable port, of equals the first; and as rails as many more as are wanted, of the same kind and
/// speed.
Found find_port(const Verbs& verbs, const Wish& wish);

/// Adds to a list that a message shows.
inline void note(std::string& list, const std::string& what) { list += (list.empty() ? "" : "; ") + what; }

/// Opens a device by its name; null, and errno, if that fails.
Owned<ibv_context> open_by_name(const Verbs& verbs, const std::string& name);

}  // namespace aqueduct::conduits::ibv
