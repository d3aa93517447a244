#include "tests/conformance/report.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>

#include <sys/socket.h>

namespace aqueduct::conformance {

namespace {
constexpr std::size_t kMostBytes = 8192;  // chosen: well below a socket's buffer
}

void send_report(int socket, const FailureReport& report) noexcept {
  std::string record = std::to_string(report.line) + '\n' + report.file + '\n' + report.text;
  if (record.size() > kMostBytes) record.resize(kMostBytes);
  while (::send(socket, record.data(), record.size(), MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

std::optional<FailureReport> receive_report(int socket) {
  std::array<char, kMostBytes> buffer;
  ssize_t bytes;
  do {
    bytes = ::recv(socket, buffer.data(), buffer.size(), 0);
  } while (bytes < 0 && errno == EINTR);
  if (bytes <= 0) return std::nullopt;
  const std::string record(buffer.data(), static_cast<std::size_t>(bytes));
  const auto first = record.find('\n');
  const auto second = record.find('\n', first + 1);
  if (first == std::string::npos || second == std::string::npos) return FailureReport{"", 0, record};
  return FailureReport{record.substr(first + 1, second - first - 1), std::atoi(record.c_str()),
                       record.substr(second + 1)};
}

void ReportingListener::OnTestPartResult(const testing::TestPartResult& result) {
  if (!result.failed()) return;
  const char* file = result.file_name();
  send_report(socket_, {file != nullptr ? file : "", result.line_number(), result.message()});
}

}  // namespace aqueduct::conformance
