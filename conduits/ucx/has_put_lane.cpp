#include "conduits/ucx/has_put_lane.hpp"

#include "conduits/ucx/info_text.hpp"

#include <charconv>
#include <cstring>
#include <optional>

namespace aqueduct::conduits::ucx {
namespace {

/// The number that follows `mark` in a line; nothing if there is none.
std::optional<unsigned> number_after(const std::string& line, std::string_view mark) {
  const std::string rest = text_after(line, mark);
  unsigned number = 0;
  const auto found = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (found.ec != std::errc()) return std::nullopt;
  return number;
}

}  // namespace

bool has_put_lane(const std::vector<std::string>& endpoint, core::Bytes packed_key) {
  std::uint64_t domains = 0;
  if (packed_key.size() < sizeof domains) return false;
  std::memcpy(&domains, packed_key.data(), sizeof domains);
  std::uint64_t lanes_that_reach = 0;
  for (const std::string& line : endpoint) {
    const auto lane = number_after(line, "lane[");
    const auto domain = number_after(line, "-> md[");
    if (lane && domain && *lane < 64 && *domain < 64 && (domains >> *domain & 1) != 0) {
      lanes_that_reach |= std::uint64_t{1} << *lane;
    }
    const auto put = number_after(line, "put[");  // these come after the lanes
    if (put && *put < 64 && (lanes_that_reach >> *put & 1) != 0) return true;
  }
  return false;
}

}  // namespace aqueduct::conduits::ucx
