#include "conduits/ibv/gid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include <arpa/inet.h>

namespace aqueduct::conduits::ibv {
namespace {

bool is_ipv4(const ibv_gid& gid) {
  return std::all_of(gid.raw, gid.raw + 10, [](auto byte) { return byte == 0; }) && gid.raw[10] == 0xff &&
         gid.raw[11] == 0xff;
}

bool is_link_local(const ibv_gid& gid) { return gid.raw[0] == 0xfe && (gid.raw[1] & 0xc0) == 0x80; }

std::string text_of(const ibv_gid_entry& entry) {
  char address[INET6_ADDRSTRLEN] = "?";
  ::inet_ntop(AF_INET6, entry.gid.raw, address, sizeof address);
  const char* const kind = entry.gid_type == IBV_GID_TYPE_ROCE_V2   ? "RoCE v2"
                           : entry.gid_type == IBV_GID_TYPE_ROCE_V1 ? "RoCE v1"
                                                                    : "InfiniBand";
  return fmt::format("{}, {}", kind, address);
}

/// A higher rank is better.
int rating_of(const ibv_gid_entry& entry) {
  if (entry.gid_type != IBV_GID_TYPE_ROCE_V2) return 0;
  if (is_ipv4(entry.gid)) return 3;
  return is_link_local(entry.gid) ? 1 : 2;
}

}  // namespace

std::string choose_gid(const Verbs& verbs, ibv_context& context, const std::string& wanted, Port& port) {
  std::uint32_t index = 0;
  if (!wanted.empty()) {
    const char* const end = wanted.data() + wanted.size();
    const auto [stop, error] = std::from_chars(wanted.data(), end, index);
    if (error != std::errc{} || stop != end) {
      return fmt::format("AQUEDUCT_IBV_GID={} is not a number: give an index of the port's table", wanted);
    }
  }
  std::string all;
  int best = -1;
  for (int i = 0; i < port.attributes.gid_tbl_len; ++i) {
    ibv_gid_entry entry{};
    const auto at = static_cast<std::uint32_t>(i);
    if (verbs.query_gid(&context, port.number, at, &entry, 0, sizeof entry) != 0) continue;  // an empty entry
    all += fmt::format("{}{} ({})", all.empty() ? "" : ", ", i, text_of(entry));
    const int rating = wanted.empty() ? rating_of(entry) : at == index ? 0 : -1;
    if (rating <= best) continue;
    best = rating;
    port.gid_index = at;
    port.gid = entry.gid;
    port.gid_text = text_of(entry);
  }
  if (best >= 0) return {};
  if (!wanted.empty()) {
    return fmt::format("AQUEDUCT_IBV_GID={}, but port {} of {} has {}", wanted, port.number, port.device,
                       all.empty() ? "no addresses at all" : all);
  }
  return fmt::format("port {} of {} has no address: give its network interface one", port.number,
                     port.device);
}

}  // namespace aqueduct::conduits::ibv
