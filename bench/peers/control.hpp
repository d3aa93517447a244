#pragma once

#include "bench/peers/layer.hpp"

#include <cstring>
#include <string>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace peers {

/// Exchanges lines with the judge over a socket in the file system, which works across network
/// namespaces too. A rank sleeps here until its turn.
class Control {
 public:
  explicit Control(const char* path) : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    if (socket_ < 0 || ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      fail(std::string("no judge listens at ") + path);
    }
  }
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;
  ~Control() { ::close(socket_); }

  void say(std::string line) {
    line += '\n';
    for (std::size_t done = 0; done < line.size();) {
      const ssize_t sent = ::send(socket_, line.data() + done, line.size() - done, MSG_NOSIGNAL);
      if (sent <= 0) fail("the judge is gone");
      done += static_cast<std::size_t>(sent);
    }
  }
  /// Waits for a line. False when the judge has closed the connection.
  bool hear(std::string& line) {
    for (;;) {
      if (const std::size_t end = heard_.find('\n'); end != std::string::npos) {
        line = heard_.substr(0, end);
        heard_.erase(0, end + 1);
        return true;
      }
      char part[512];
      const ssize_t came = ::recv(socket_, part, sizeof part, 0);
      if (came <= 0) return false;
      heard_.append(part, static_cast<std::size_t>(came));
    }
  }

 private:
  int socket_;
  std::string heard_;
};

}  // namespace peers
