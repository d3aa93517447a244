#pragma once

#include <aqueduct/config.hpp>

namespace aqueduct::conduits::ucx {

/// The conduit's settings. Builds without UCX know them too, so that one job script serves all builds.
inline constexpr SettingInfo kSettings[] = {
    {"ucx_transports", "AQUEDUCT_UCX_TRANSPORTS", SettingType::text, "", "",
     "What UCX may use, as in UCX_TLS (tcp,self or ^sm). Empty leaves it to UCX_TLS and the conduit."},
    {"ucx_devices", "AQUEDUCT_UCX_DEVICES", SettingType::text, "", "",
     "Network devices that UCX may use, as in UCX_NET_DEVICES (eth0 or mlx5_0:1). Empty: all."},
    {"ucx_packet", "AQUEDUCT_UCX_PACKET", SettingType::bytes, "bytes", "32K",
     "The longest packet, header and payload of a message together.", 1 << 10, 1 << 20},
    {"ucx_put", "AQUEDUCT_UCX_PUT", SettingType::choice, "", "auto",
     "How puts travel: by UCX's own call (network), or by a message of the conduit (message). auto: by UCX's "
     "call where its network has puts.",
     0, 0, "auto|network|message"},
    {"ucx_map", "AQUEDUCT_UCX_MAP", SettingType::boolean, "", "on",
     "Whether ranks of a job of one host map one another's segments, where UCX has shared memory."},
    {"ucx_progress", "AQUEDUCT_UCX_PROGRESS", SettingType::duration, "ms", "10ms",
     "After this time without a call, a thread answers peers in a rank's place. 0: never.", 0,
     3'600'000'000'000},
    {"ucx_operations", "AQUEDUCT_UCX_OPERATIONS", SettingType::number, "operations", "1024",
     "Puts and gets of an endpoint that UCX holds at a time; further ones wait until these end.", 16,
     1 << 20},
    {"ucx_packets", "AQUEDUCT_UCX_PACKETS", SettingType::number, "packets", "256",
     "Packets of an endpoint that UCX may still be sending; further ones wait until these leave.", 16,
     1 << 16},
};

}  // namespace aqueduct::conduits::ucx
