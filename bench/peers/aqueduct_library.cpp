#include "bench/peers/aqueduct_library.hpp"

#include <aqueduct/signal.hpp>
#include <aqueduct/vis.hpp>

#include "bench/peers/need.hpp"

namespace peers {

namespace {

constexpr aqueduct::SignalSlot kData = 0;
constexpr aqueduct::SignalSlot kEnd = 1;

}  // namespace

AqueductLibrary::AqueductLibrary(aqueduct::Endpoint& ep, std::size_t bytes, std::size_t extent)
    : ep_(ep),
      extent_(extent),
      plain_(bytes),
      segment_(need(aqueduct::Segment::create(ep, 2 * extent), "create a segment")) {}

void AqueductLibrary::once(Operation operation, const Layout& layout) {
  if (operation == Operation::exchange) return exchange(layout);
  if (ep_.rank() != 0) return;
  const auto there = layout.at(segment_.at<std::byte>(1));
  const auto here = aqueduct::contiguous(plain(), layout.bytes());
  need(operation == Operation::put ? put(ep_, there, here) : get(ep_, here, there), "transfer");
}

void AqueductLibrary::exchange(const Layout& layout) {
  ++exchanges_;
  const auto mine = layout.at(pieces());
  aqueduct::Event sent;  // MPI_Send too returns once its buffer is free, not once the data is there
  if (ep_.rank() == 0) {
    sent = put_signal_nb(ep_, layout.at(segment_.at<std::byte>(1)), mine, {.slot = kData});
    need(wait_until(ep_, kData, exchanges_, 1), "wait for the pieces");
  } else {
    need(wait_until(ep_, kData, exchanges_, 0), "wait for the pieces");
    sent = put_signal_nb(ep_, layout.at(segment_.at<std::byte>(0, extent_)), mine, {.slot = kData});
  }
  need(ep_.wait(sent), "put_signal");
}

void AqueductLibrary::finish() {
  ++ends_;
  aqueduct::Event told;
  if (ep_.rank() == 0) {
    told = signal_nb(ep_, 1, {.slot = kEnd});
  } else {
    while (!test_until(ep_, kEnd, ends_)) {
      if (ep_.is_lost(0)) fail("rank 0 is lost");
    }
  }
  need(ep_.barrier(), "barrier");
  need(ep_.wait(told), "signal");
}

}  // namespace peers
