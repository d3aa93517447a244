#include "bootstrap/bootstrap.hpp"

#include <cstring>

namespace aqueduct::bootstrap {

Result<std::vector<std::vector<std::byte>>> Bootstrap::exchange_parts(Parts mine,
                                                                      const std::vector<bool>& is_neighbour) {
  const std::uint64_t first = mine.to_neighbours.size();
  std::vector<std::byte> both(sizeof first);
  std::memcpy(both.data(), &first, sizeof first);
  both.insert(both.end(), mine.to_neighbours.begin(), mine.to_neighbours.end());
  both.insert(both.end(), mine.to_others.begin(), mine.to_others.end());
  auto all = exchange(both);
  if (!all) return all;
  for (std::uint32_t process = 0; process < all->size(); ++process) {
    std::vector<std::byte>& blob = (*all)[process];
    std::uint64_t split = 0;
    if (blob.size() < sizeof split) return ErrorCode::bootstrap_failed;
    std::memcpy(&split, blob.data(), sizeof split);
    if (split > blob.size() - sizeof split) return ErrorCode::bootstrap_failed;
    const auto middle = blob.begin() + static_cast<std::ptrdiff_t>(sizeof split + split);
    blob = is_neighbour[process] ? std::vector<std::byte>(blob.begin() + sizeof split, middle)
                                 : std::vector<std::byte>(middle, blob.end());
  }
  return all;
}

void Bootstrap::exit(int code) noexcept { abort(code, "left the job with this status (Job::leave)"); }

}  // namespace aqueduct::bootstrap
