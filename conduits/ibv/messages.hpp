#pragma once

#include "conduits/ibv/credits.hpp"

namespace aqueduct::conduits::ibv {

/// Messages: packets of the layers above, and the conduit's own. Each consumes a credit of the peer, and returns
/// credits to it.
class Messages {
 public:
  Messages(const Environment& env, Losses& losses, LocalBuffers& buffers, Requests& requests,
           Credits& credits, ReceiveBuffers& receive)
      : env_(env),
        losses_(losses),
        buffers_(buffers),
        requests_(requests),
        credits_(credits),
        receive_(receive) {}

  /// Sends header and payload, which are copied. `kind` and `token` are those of the request. Answers posted, retry or
  /// failed.
  core::Post send(Connection& connection, PacketHead::Kind what, core::Bytes header, core::Bytes payload,
                  OutstandingRequest::Kind kind, core::Token token) noexcept;

  /// Delivers the message of a completed receive. `connection` is that of the completion's queue pair; null if the pair
  /// belongs to no connection. Returns how many calls it made to the inbox.
  int take(Connection* connection, const ibv_wc& completion, core::Inbox& inbox) noexcept;

 private:
  const Environment& env_;
  Losses& losses_;
  LocalBuffers& buffers_;
  Requests& requests_;
  Credits& credits_;
  ReceiveBuffers& receive_;
};

}  // namespace aqueduct::conduits::ibv
