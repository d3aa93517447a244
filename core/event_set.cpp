#include <aqueduct/endpoint.hpp>

#include "core/wait.hpp"

namespace aqueduct {

std::size_t EventSet::add(Event&& event) {
  reported_.resize(events_.size() +
                   1);  // first: if there is no memory for the event, a mark without one does no harm
  reported_.back() = false;
  events_.push_back(std::move(event));
  return events_.size() - 1;
}

// Room for what all scans find: a wait, which scans again and again, cannot end by an exception.
std::size_t EventSet::first_scan() {
  found_.reserve(events_.size());
  return scan();
}

// Puts the events that are done and not yet reported into found_. Returns the number of all events not yet reported.
std::size_t EventSet::scan() {
  std::size_t open = 0;
  found_.clear();
  for (std::size_t i = 0; i < events_.size(); ++i) {
    if (reported_[i]) continue;
    ++open;
    if (events_[i].done()) found_.push_back(i);
  }
  return open;
}

std::size_t EventSet::wait_any(Endpoint& ep) {
  if (first_scan() == 0) return events_.size();
  if (found_.empty()) {
    const auto some = [&] {
      scan();
      return !found_.empty();
    };
    const Status status =
        core::wait_until(ep.state(), some, kNoRank, [] { return std::string("any event of a set"); });
    if (!status) return events_.size();
  }
  reported_[found_.front()] = true;
  return found_.front();
}

std::span<const std::size_t> EventSet::wait_some(Endpoint& ep) {
  if (first_scan() != 0 && found_.empty()) {
    const auto some = [&] {
      scan();
      return !found_.empty();
    };
    const Status status =
        core::wait_until(ep.state(), some, kNoRank, [] { return std::string("some events of a set"); });
    if (!status) return {};
  }
  for (std::size_t i : found_) reported_[i] = true;
  return found_;
}

std::span<const std::size_t> EventSet::test_some(Endpoint& ep) {
  ep.progress();
  first_scan();
  for (std::size_t i : found_) reported_[i] = true;
  return found_;
}

bool EventSet::test_all(Endpoint& ep) {
  ep.progress();
  for (const Event& event : events_) {
    if (!event.done()) return false;
  }
  return true;
}

Status EventSet::wait_all(Endpoint& ep) {
  Status first;
  for (Event& event : events_) {
    const Status status = ep.wait(event);
    if (status.code() == ErrorCode::in_handler && !event.done()) return status;
    if (first.ok()) first = status;
  }
  events_.clear();
  reported_.clear();
  found_.clear();
  return first;
}

}  // namespace aqueduct
