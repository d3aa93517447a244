#include "sim/trace.hpp"

#include <fmt/format.h>

#include <utility>

namespace aqueduct::sim {

namespace {

/// Microseconds, with all six digits behind the point.
std::string in_us(coll::Picoseconds time) {
  return fmt::format("{}.{:06}", time / 1'000'000, time % 1'000'000);
}

const char* word_for(coll::Watcher::What what) noexcept {
  switch (what) {
    case coll::Watcher::What::post: return "post";
    case coll::Watcher::What::copy: return "copy";
    case coll::Watcher::What::reduce: return "reduce";
    case coll::Watcher::What::compute: return "compute";
    case coll::Watcher::What::receive: return "receive";
  }
  return "?";
}

}  // namespace

void Trace::open() {
  file_.open();
  file_.write("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n");
}

void Trace::event(const std::string& text) {
  const bool first = std::exchange(first_, false);
  if (first)
    open();
  else
    file_.write(",\n");
  file_.write(text);
}

void Trace::busy(Rank rank, What what, coll::Picoseconds begin, coll::Picoseconds end, Rank peer,
                 std::uint64_t bytes) {
  const std::string to = peer == kNoRank ? "" : fmt::format(R"("peer": {}, )", peer);
  event(fmt::format(
      R"({{"name": "{}", "ph": "X", "pid": 0, "tid": {}, "ts": {}, "dur": {}, "args": {{{}"bytes": {}}}}})",
      word_for(what), rank, in_us(begin), in_us(end - begin), to, bytes));
}

void Trace::message(Rank from, Rank to, std::uint64_t bytes, coll::Picoseconds entered,
                    coll::Picoseconds in_place) {
  const std::uint64_t id = messages_++;
  event(fmt::format(
      R"({{"name": "message", "cat": "message", "ph": "s", "pid": 0, "tid": {}, "ts": {}, "id": {}, "args": {{"bytes": {}}}}})",
      from, in_us(entered), id, bytes));
  event(fmt::format(
      R"({{"name": "message", "cat": "message", "ph": "f", "bp": "e", "pid": 0, "tid": {}, "ts": {}, "id": {}}})",
      to, in_us(in_place), id));
}

std::string Trace::end(const coll::Replayed& replayed) {
  for (Rank rank = 0; rank < replayed.members.size(); ++rank) {
    const coll::ReplayedMember& member = replayed.members[rank];
    event(fmt::format(
        R"({{"name": "thread_name", "ph": "M", "pid": 0, "tid": {}, "args": {{"name": "rank {}"}}}})", rank,
        rank));
    event(fmt::format(
        R"({{"name": "call", "ph": "X", "pid": 0, "tid": {}, "ts": {}, "dur": {}, "args": {{"idle_us": {}}}}})",
        rank, in_us(member.called), in_us(member.ended - member.called), in_us(member.idle())));
  }
  if (first_) open();
  file_.write("\n]}\n");
  const std::string problem = file_.finish();
  return problem.empty() ? problem : fmt::format("the trace {} cannot be written: {}", name_, problem);
}

}  // namespace aqueduct::sim
