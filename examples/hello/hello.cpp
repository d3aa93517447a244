// Each rank prints who it is and who shares its host, and writes a greeting into the memory of the next rank.

#include <aqueduct/aqueduct.hpp>

#include "common/check.hpp"
#include "common/command_line.hpp"

#include <array>
#include <cstdio>
#include <span>
#include <string>

using example::need;
using Text = std::array<char, 128>;

static std::string greeting(const std::string& word, aqueduct::Rank from, aqueduct::Rank to) {
  return word + " from rank " + std::to_string(from) + " to rank " + std::to_string(to);
}

static void greet(aqueduct::Endpoint& me, const std::string& word) {
  const aqueduct::Rank next = (me.rank() + 1) % me.ranks();
  const aqueduct::Rank previous = (me.rank() + me.ranks() - 1) % me.ranks();

  // Memory that other ranks may write: one text on each rank. `inbox.at(r)` is rank r's.
  const auto inbox = need(aqueduct::Segment::create<Text>(me.world(), 1), "allocate the inbox");

  // One call writes the text and then raises the next rank's counter 0: a rank that sees 1 there also sees the text.
  Text text{};
  greeting(word, me.rank(), next).copy(text.data(), text.size() - 1);
  need(aqueduct::put_signal(me, inbox.at(next), std::span(&text, 1), {.slot = 0, .add = 1}),
       "greet the next rank");

  need(aqueduct::wait_until(me, 0, 1, previous), "wait for the greeting");
  const Text& received = inbox.mine().front();

  std::printf("rank %u of %u (%zu on this host): \"%s\"\n", me.rank(), me.ranks(), me.neighbours().size(),
              received.data());
  if (greeting(word, previous, me.rank()) != received.data())
    example::fail("that is not the greeting expected");
}

int main(int argc, char** argv) {
  example::CommandLine line("Each rank greets the next one.");
  std::string word = "hello";
  line.text("--word", word, "How to greet", [](const std::string& value) {
    return value.size() <= 64 ? std::string() : std::string("at most 64 characters");
  });
  line.parse(argc, argv);

  auto job = need(aqueduct::Job::start(), "start the job");
  job.run_each([&](aqueduct::Endpoint& me) { greet(me, word); });
  need(job.finish(), "finish the job");
  return 0;
}
