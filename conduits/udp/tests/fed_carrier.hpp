#pragma once

#include "conduits/udp/carrier/carrier.hpp"

#include <vector>

namespace aqueduct::conduits::udp {

/// A carrier without a network: receives what a test feeds it, and sends nowhere.
class FedCarrier final : public Carrier {
 public:
  /// Datagrams of `segment` bytes each, which `receive` hands over as one read.
  void feed(std::span<const std::byte> bytes, std::size_t segment) {
    if (handed_over_) reads_.clear();
    handed_over_ = false;
    reads_.push_back({std::vector<std::byte>(bytes.begin(), bytes.end()), segment});
  }

  std::size_t most_segments() const noexcept override { return 64; }
  std::size_t most_bytes() const noexcept override { return 65507; }
  std::size_t send(std::span<const Outgoing> batch) noexcept override {
    for (const Outgoing& one : batch) counters_.sent_bytes += one.bytes;
    return batch.size();
  }
  std::span<const Incoming> receive(std::size_t) noexcept override {
    incoming_.clear();
    if (!handed_over_) {
      for (Read& read : reads_) incoming_.push_back({read.bytes, read.segment});
    }
    handed_over_ = true;
    return incoming_;
  }
  int descriptor() const noexcept override { return -1; }
  const Counters& counters() const noexcept override { return counters_; }
  int last_error() const noexcept override { return 0; }

 private:
  struct Read {
    std::vector<std::byte> bytes;
    std::size_t segment;
  };
  std::vector<Read> reads_;
  std::vector<Incoming> incoming_;
  bool handed_over_ = false;
  Counters counters_;
};

}  // namespace aqueduct::conduits::udp
