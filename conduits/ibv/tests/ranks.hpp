#pragma once

#include "conduits/ibv/ibv_conduit.hpp"
#include "conduits/ibv/tests/mock_device.hpp"
#include "tests/support/heard.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace aqueduct::conduits::ibv {

/// Endpoints over a mock network, without the library above them. Rank 0 has imported the key of each one's segment 0.
class Ranks {
 public:
  static constexpr std::size_t kSegment = 1 << 20;

  /// `prepare` may change the network before anything is opened. `ports`: how many each rank uses, by rank; default 1.
  explicit Ranks(
      const IbvOptions& options = {}, Rank count = 2,
      const std::function<void(mock::Network&)>& prepare = [](mock::Network&) {},
      const std::vector<std::size_t>& ports = {});

  mock::Network& network() { return network_; }
  IbvConduit& operator[](Rank rank) { return *ends_[rank]; }
  support::Heard& heard(Rank rank) { return heard_[rank]; }
  std::vector<std::byte>& memory(Rank rank) { return memory_[rank]; }
  /// Rank 0's handle of a rank's segment.
  std::uint64_t key(Rank rank = 1) const { return keys_[rank]; }
  const std::vector<std::byte>& exported(Rank rank) const { return exported_[rank]; }
  const std::vector<std::string>& log() const { return lines_; }
  /// The whole log as one text.
  std::string said() const;
  core::Log& logger() { return log_; }

  void poll();
  /// Polls all ranks until `holds` returns true, for a bounded time.
  bool until(const std::function<bool()>& holds);
  /// Tries until the answer is not `retry`.
  core::Post insist(const std::function<core::Post()>& attempt);
  /// The same while time passes for the endpoints, 5 ms for each attempt.
  core::Post until_answered(const std::function<core::Post()>& attempt);
  /// How rank 0's operation ended; `timed_out` if it did not.
  Status end_of(core::Token token);
  /// Makes the connection by a put of 8 bytes from rank 0, and resets the counts.
  void meet(Rank with = 1);
  /// Time passes for the endpoints.
  void pass(std::chrono::nanoseconds time) { ahead_ += time; }
  void close(Rank rank) { ends_[rank].reset(); }

 private:
  static core::Clock::time_point tell(const void* self) noexcept {
    return core::Clock::now() + static_cast<const Ranks*>(self)->ahead_;
  }

  mock::Network network_;
  std::chrono::nanoseconds ahead_{0};
  Verbs verbs_;
  std::vector<std::string> lines_;
  core::Log log_;
  Port port_;
  std::vector<Port> rails_;
  std::vector<std::vector<std::byte>> memory_;
  std::vector<std::vector<std::byte>> exported_;
  std::vector<std::uint64_t> keys_;
  std::vector<support::Heard> heard_;
  std::vector<std::unique_ptr<IbvConduit>> ends_;
};

/// A pattern of bytes that differ from offset to offset.
std::vector<std::byte> bytes_of(std::size_t count, unsigned seed = 1);

}  // namespace aqueduct::conduits::ibv
