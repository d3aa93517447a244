#pragma once

#include <cstddef>
#include <span>

#include <sys/types.h>

namespace aqueduct::launch {

/// From now on the system says who has sent what arrives on this end of a Unix socket. Requires: nothing has been sent yet.
void tell_senders(int socket) noexcept;

/// As recv, without waiting. `sender` becomes the process that has sent these bytes, if the system says; 0 stands for one that is
/// not in sight, as from inside another container.
ssize_t receive(int socket, std::span<std::byte> into, pid_t& sender) noexcept;

}  // namespace aqueduct::launch
