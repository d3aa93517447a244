#include "heat2d/halo.hpp"

#include "common/check.hpp"

namespace heat2d {

using example::need;

Halo::Halo(aqueduct::Endpoint& ep, std::size_t columns)
    : ep_(ep),
      columns_(columns),
      segment_(need(aqueduct::Segment::create<float>(ep.world(), 4 * columns), "allocate the halo rows")) {
  if (ep.rank() > 0) neighbour_[kAbove] = ep.rank() - 1;
  if (ep.rank() + 1 < ep.ranks()) neighbour_[kBelow] = ep.rank() + 1;
}

void Halo::send(std::uint64_t step, std::span<const float> first_row, std::span<const float> last_row) {
  // My first row is the lower halo row of the rank above; my last row is the upper halo row of the rank below.
  if (const auto above = neighbour_[kAbove]) {
    const auto place = segment_.at(*above, offset(kBelow, step));
    sent_[kAbove] = aqueduct::put_signal_nb(ep_, place, first_row, {.slot = kBelow, .add = 1});
  }
  if (const auto below = neighbour_[kBelow]) {
    const auto place = segment_.at(*below, offset(kAbove, step));
    sent_[kBelow] = aqueduct::put_signal_nb(ep_, place, last_row, {.slot = kAbove, .add = 1});
  }
}

void Halo::wait(std::uint64_t step) {
  for (const Side side : {kAbove, kBelow}) {
    if (!neighbour_[side]) continue;
    need(aqueduct::wait_until(ep_, side, step + 1, *neighbour_[side]), "wait for a halo row");
    need(ep_.wait(sent_[side]), "send a halo row");
  }
}

std::optional<std::span<const float>> Halo::row(Side side, std::uint64_t step) const {
  if (!neighbour_[side]) return std::nullopt;
  return segment_.mine().subspan(offset(side, step), columns_);
}

}  // namespace heat2d
