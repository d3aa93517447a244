#include "bench/peers/mpi_vis/aqueduct_library.hpp"

#include <aqueduct/signal.hpp>
#include <aqueduct/vis.hpp>

#include "bench/peers/mpi_vis/need.hpp"

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

void AqueductLibrary::take(const Layout& layout) {
  const auto contiguous = aqueduct::contiguous(plain(), layout.bytes());
  places_.emplace(Places{layout.at(segment_.at<std::byte>(1)), layout.at(segment_.at<std::byte>(0, extent_)),
                         layout.at(pieces()), contiguous, contiguous});
}

void AqueductLibrary::once(Operation operation) {
  if (operation == Operation::exchange) return exchange();
  if (ep_.rank() != 0) return;
  need(operation == Operation::put ? put(ep_, places_->there, places_->from)
                                   : get(ep_, places_->to, places_->there),
       "transfer");
}

void AqueductLibrary::exchange() {
  ++exchanges_;
  aqueduct::Event
      sent;  // waited for, for the next exchange may write the pieces; by then the other rank has seen them
  if (ep_.rank() == 0) {
    sent = put_signal_nb(ep_, places_->there, places_->here, {.slot = kData});
    need(wait_until(ep_, kData, exchanges_, 1), "wait for the pieces");
  } else {
    need(wait_until(ep_, kData, exchanges_, 0), "wait for the pieces");
    sent = put_signal_nb(ep_, places_->answer, places_->here, {.slot = kData});
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
