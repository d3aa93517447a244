#include "conduits/udp/carrier/socket_carrier.hpp"

#include <fmt/format.h>

#include <new>
#include <utility>

namespace aqueduct::conduits::udp {
namespace {

// Payload that a 16-bit length field leaves. IPv4's length includes the IP header, IPv6's does not.
constexpr std::size_t kMost4 = 65535 - 20 - 8;
constexpr std::size_t kMost6 = 65535 - 8;

}  // namespace

Result<std::unique_ptr<SocketCarrier>> SocketCarrier::open(const Options& options, core::Log& log) {
  if (options.bind_to.host().empty() || options.reads == 0) {
    log.error("a UDP socket needs an address to bind to, and at least one read at a time");
    return ErrorCode::invalid_argument;
  }
  auto socket = make_bound_socket(options.bind_to, log);
  if (!socket) return socket.status();
  try {
    return std::unique_ptr<SocketCarrier>(new SocketCarrier(std::move(*socket), options, log));
  } catch (const std::bad_alloc&) {
    log.error("no memory for the {} receive buffers of 64 KiB of a UDP socket", options.reads);
    return ErrorCode::no_memory;
  }
}

SocketCarrier::SocketCarrier(Descriptor socket, const Options& options, core::Log& log)
    : socket_(std::move(socket)),
      local_(local_address(socket_.get())),
      send_buffer_(set_buffer(socket_.get(), SocketBuffer::send, options.send_buffer, log)),
      receive_buffer_(set_buffer(socket_.get(), SocketBuffer::receive, options.receive_buffer, log)),
      gro_(options.allow_gro && set_coalescing(socket_.get())),
      mmsg_(options.allow_mmsg),
      sender_(socket_.get(), local_.family(),
              {.segmentation = options.allow_gso && can_segment(socket_.get()),
               .many_messages = options.allow_mmsg,
               .dont_fragment = options.dont_fragment},
              counters_, log),
      receiver_(socket_.get(),
                {.buffers = options.reads, .many_messages = options.allow_mmsg, .plain = options.plain_reads},
                counters_) {
  set_dont_fragment(socket_.get(), local_.family(), options.dont_fragment);
  set_overflow_report(socket_.get());
  log.debug("udp socket {}", text());
}

std::string SocketCarrier::text() const {
  return fmt::format("{}{}{}{}, buffers {} KiB to send and {} KiB to receive", local_.text(),
                     gso() ? ", GSO" : "", gro_ ? ", GRO" : "", mmsg_ ? ", mmsg" : "", send_buffer_ / 1024,
                     receive_buffer_ / 1024);
}

// Measured: a connected socket sends 0.2 us faster, because the kernel caches its route.
void SocketCarrier::only_peer(const Address& peer) noexcept {
  if (::connect(socket_.get(), peer.get(), peer.bytes) == 0) sender_.set_connected();
}

std::size_t SocketCarrier::most_bytes() const noexcept {
  return local_.family() == AF_INET6 ? kMost6 : kMost4;
}

}  // namespace aqueduct::conduits::udp
