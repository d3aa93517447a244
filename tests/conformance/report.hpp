#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace aqueduct::conformance {

/// A failed assertion, sent by a child to the process that runs the suite.
struct FailureReport {
  std::string file;
  int line = 0;
  std::string text;
};

/// Writes one report to a SOCK_SEQPACKET socket; cuts a text that is too long.
void send_report(int socket, const FailureReport& report) noexcept;
/// The next report; nothing at the end of the stream.
std::optional<FailureReport> receive_report(int socket);

/// Sends every failure of this process to a socket instead of printing it.
/// Install it in a child right after the fork.
class ReportingListener : public testing::EmptyTestEventListener {
 public:
  explicit ReportingListener(int socket) : socket_(socket) {}
  void OnTestPartResult(const testing::TestPartResult& result) override;

 private:
  int socket_;
};

}  // namespace aqueduct::conformance
